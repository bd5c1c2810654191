// The texts of a page that have too little contrast with what is behind them: class or tag, text, ratio.
(() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const linear = (byte) => (byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parsed(getComputedStyle(e).backgroundColor);
      if (colour[3] > 230) return colour;
    }
    return [255, 255, 255];
  };
  const silent = "script, style, svg, noscript, .unseen, .skip, [hidden], option";
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!text || element.closest(silent) || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [low, high] = [luminance(parsed(style.color)), luminance(behind(element))].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) {
      found.push([element.className || element.tagName, text.slice(0, 30), ratio]);
    }
  }
  return found;
})()
