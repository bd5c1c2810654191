// Colours, dashes and markers of schemes, on canvas and in legends.

const THEMES = {
  light: { name: "light", ink: "#1c2128", muted: "#57606a", grid: "#e4e7eb", faint: "#c3cad2", axis: "#8c959f", surface: "#ffffff" },
  dark: { name: "dark", ink: "#e6edf3", muted: "#a3adb8", grid: "#2b323b", faint: "#4a545f", axis: "#6b7681", surface: "#161b22" },
};
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif';

/** The theme of the page now. */
function theme() {
  return THEMES[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
}

const colour = (look, on) => look[on.name];

/** A regular polygon or star as the path of an SVG; `inner` is the radius of every other corner. */
function polygon(corners, radius, turn = 0, inner = null) {
  const count = inner === null ? corners : 2 * corners;
  const points = Array.from({ length: count }, (_, i) => {
    const angle = -Math.PI / 2 + turn + (2 * Math.PI * i) / count;
    const r = inner !== null && i % 2 ? inner : radius;
    return `${(r * Math.cos(angle)).toFixed(2)},${(r * Math.sin(angle)).toFixed(2)}`;
  });
  return `M${points.join("L")}Z`;
}

/** The outline of a marker, named as matplotlib does, around the origin. */
function outline(marker, r) {
  const b = r * 0.36;
  const cross = `M${-b},${-r}H${b}V${-b}H${r}V${b}H${b}V${r}H${-b}V${b}H${-r}V${-b}H${-b}Z`;
  switch (marker) {
    case "s": return `M${-r * 0.88},${-r * 0.88}h${r * 1.76}v${r * 1.76}h${-r * 1.76}Z`;
    case "^": return polygon(3, r * 1.2);
    case "v": return polygon(3, r * 1.2, Math.PI);
    case "<": return polygon(3, r * 1.2, -Math.PI / 2);
    case ">": return polygon(3, r * 1.2, Math.PI / 2);
    case "D": return polygon(4, r * 1.15);
    case "d": return `M0,${-r * 1.2}L${r * 0.72},0L0,${r * 1.2}L${-r * 0.72},0Z`;
    case "P": return cross;
    case "X": {
      const turned = (x, y) => `${((x - y) * 0.7071).toFixed(2)},${((x + y) * 0.7071).toFixed(2)}`;
      const corners = [[-b, -r], [b, -r], [b, -b], [r, -b], [r, b], [b, b], [b, r], [-b, r], [-b, b], [-r, b], [-r, -b], [-b, -b]];
      return `M${corners.map(([x, y]) => turned(x, y)).join("L")}Z`;
    }
    case "*": return polygon(5, r * 1.3, 0, r * 0.55);
    case "h": return polygon(6, r * 1.08);
    case "p": return polygon(5, r * 1.1);
    default: return `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
  }
}

/** Draw a marker; a hollow one shows what lies below it. */
function mark(ctx, look, x, y, r, on, hollow = false) {
  ctx.save();
  ctx.translate(x, y);
  const path = new Path2D(outline(look.marker, r));
  if (hollow) {
    ctx.lineWidth = r * 0.36;
    ctx.strokeStyle = colour(look, on);
    ctx.stroke(path);
  } else {
    ctx.fillStyle = colour(look, on);
    ctx.fill(path);
  }
  ctx.restore();
}

const SVG = "http://www.w3.org/2000/svg";

/** The sample of a line in a legend: its dashes and marker, in both themes by its style. */
function swatch(look, style = "lines") {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("class", "swatch");
  made.setAttribute("viewBox", "0 0 34 14");
  made.setAttribute("aria-hidden", "true");
  made.style.setProperty("--light", look.light);
  made.style.setProperty("--dark", look.dark);
  const add = (tag, attributes) => {
    const part = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
    made.append(part);
  };
  if (style === "fill") {
    add("rect", { x: 10, y: 1, width: 14, height: 12, rx: 2, class: "fill" });
    return made;
  }
  if (["line", "lines", "scatter"].includes(style)) {
    add("path", { d: "M1,7H33", class: "line", "stroke-dasharray": (look.dash ?? []).map((v) => v * 1.8).join(" ") });
  }
  if (style !== "line") add("path", { d: outline(look.marker, 4), transform: "translate(17 7)", class: style === "hollow" ? "hollow" : "mark" });
  return made;
}

/** A pattern that distinguishes the bars of a line in grey too. */
function hatch(ctx, look, number, on, k) {
  const fill = colour(look, on);
  if (number % 5 === 0) return fill;
  const size = 8 * k;
  const tile = el("canvas", { width: size, height: size });
  const draw = tile.getContext("2d");
  draw.fillStyle = fill;
  draw.fillRect(0, 0, size, size);
  draw.strokeStyle = draw.fillStyle = on.surface;
  draw.globalAlpha = 0.6;
  draw.lineWidth = k;
  draw.beginPath();
  const up = () => { for (const at of [-size, 0, size]) { draw.moveTo(at, size); draw.lineTo(at + size, 0); } };
  const down = () => { for (const at of [-size, 0, size]) { draw.moveTo(at, 0); draw.lineTo(at + size, size); } };
  if (number % 5 === 1) up();
  if (number % 5 === 2) draw.arc(size / 2, size / 2, 1.3 * k, 0, 7);
  if (number % 5 === 3) down();
  if (number % 5 === 4) { up(); down(); }
  if (number % 5 === 2) draw.fill(); else draw.stroke();
  return ctx.createPattern(tile, "repeat");
}
