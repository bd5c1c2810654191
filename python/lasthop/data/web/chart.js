// Charts: uPlot gives scales, axes, pointer and zoom; what a form draws and reads is in plots.js.

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/** Ticks of a logarithmic axis: 1, 2, 5 over a few decades, powers of ten over many. */
function logTicks(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const steps = last - first > 4 ? [1] : last - first > 2 ? [1, 3] : [1, 2, 5];
  const found = [];
  for (let power = first; power <= last; power++) {
    for (const step of steps) {
      const at = step * 10 ** power;
      if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
    }
  }
  if (found.length > 1) return found;
  // Less than a decade: equal distances.
  const step = 10 ** Math.floor(Math.log10(high - low));
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(Number(at.toPrecision(10)));
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Labels of a logarithmic axis: powers of ten where the numbers would be long. */
function logLabels(splits) {
  const isLong = splits.some((v) => v < 1e-3 || v >= 1e6);
  const raised = (power) => "10" + [...String(power)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
  return splits.map((v) => {
    const power = Math.log10(v);
    return isLong && Math.abs(power - Math.round(power)) < 1e-9 ? raised(Math.round(power)) : tick(v);
  });
}

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 1000000];

/** What a form draws with: the canvas, places of values on it, and the theme. */
function pen(u, state, view, model) {
  return {
    u, ctx: u.ctx, on: view.theme, k: devicePixelRatio * view.k,
    x: (value) => u.valToPos(value, "x", true),
    y: (value) => u.valToPos(value, "y", true),
    base: u.scales.y.min,
    shown: (name) => !state.hidden.has(name),
    alpha: (name) => (state.focus !== null && state.focus !== name ? 0.18 : 1),
    box: u.bbox,
  };
}

function clipped(p, draw) {
  const { ctx, box, k } = p;
  ctx.save();
  ctx.beginPath();
  // Markers at the edges are drawn whole.
  const edge = 7 * k;
  ctx.rect(box.left - edge, box.top - edge, box.width + 2 * edge, box.height + 2 * edge);
  ctx.clip();
  ctx.lineJoin = "round";
  draw(p);
  ctx.restore();
}

/** Names below an axis: aslant where they have no room side by side, and the height that they take. */
function wordAxis(model, view) {
  const { k } = view;
  const ctx = el("canvas").getContext("2d");
  ctx.font = `12px ${FONT}`;
  const wide = (texts) => Math.max(...texts.map((text) => ctx.measureText(text).width));
  const names = model.words.map((word) => word.name);
  const room = (view.width / k - 70) / (model.xRange[1] - model.xRange[0]);
  const lines = Math.max(...names.map((name) => name.split("\n").length));
  if (names.length < 2 || wide(names.flatMap((name) => name.split("\n"))) + 8 <= room) {
    return { names, rotate: 0, size: (12 + 15 * lines) * k };
  }
  const flat = names.map((name) => name.replace("\n", ", "));
  return { names: flat, rotate: 50, size: Math.min(wide(flat) * 0.8 + 20, 140) * k };
}

function axes(fig, model, view) {
  const { theme: on, k, isLast } = view;
  const font = (size, weight = "") => `${weight} ${Math.round(size * k)}px ${FONT}`.trim();
  const common = {
    stroke: on.muted, font: font(12), labelFont: font(12), gap: 4 * k,
    grid: { stroke: on.grid, width: k }, ticks: { stroke: on.axis, width: k, size: 4 * k },
    border: { show: true, stroke: on.axis, width: k },
  };
  const wide = (u, values) => {
    u.ctx.save();
    u.ctx.font = `${Math.round(12 * k * devicePixelRatio)}px ${FONT}`;
    const most = Math.max(0, ...(values ?? []).flatMap((v) => String(v ?? "").split("\n")).map((v) => u.ctx.measureText(v).width));
    u.ctx.restore();
    return most / devicePixelRatio;
  };
  const x = { ...common, scale: "x", space: 56 * k, label: isLast && !fig.crowded ? fig.x.label : null, labelSize: 20 * k, labelGap: 2 * k };
  if (model.words) {
    const { names, rotate, size } = wordAxis(model, view);
    Object.assign(x, {
      splits: () => model.words.map((word) => word.at),
      filter: (u, splits) => splits,
      values: () => (isLast ? names : names.map(() => "")),
      grid: { show: false },
      ticks: { show: false },
      rotate: isLast ? rotate : 0,
      size: isLast ? size : 8 * k,
    });
  } else {
    Object.assign(x, {
      values: (u, splits) => (!isLast ? splits.map(() => "") : model.xLog ? logLabels(splits) : splits.map(tick)),
      size: isLast ? 26 * k : 8 * k,
      ...(model.xLog ? { splits: (u, i, low, high) => logTicks(low, high), filter: (u, splits) => splits } : {}),
      ...(model.isWhole && !model.xLog ? { incrs: WHOLE } : {}),
    });
  }
  const y = {
    ...common, scale: "y", space: 32 * k,
    values: (u, splits) => (!view.isFirst ? splits.map(() => "") : model.yLog ? logLabels(splits) : splits.map(tick)),
    size: (u, values) => view.margin ?? Math.max(30 * k, wide(u, values) + 14 * k),
    ...(model.yLog ? { splits: (u, i, low, high) => logTicks(low, high), filter: (u, splits) => splits } : {}),
  };
  return [x, y];
}

/** One panel of a figure as a chart of uPlot; `front` is the line of a panel of a crowded figure. */
function panelChart(host, fig, panel, state, view, front = null) {
  const model = MODELS[fig.form](fig, panel, state, front);
  const live = view.live;
  const below = !view.isLast ? 0 : (fig.crowded ? 0 : 20 * view.k) + (model.words ? wordAxis(model, view).size : 26 * view.k);
  const options = {
    width: view.width, height: view.height + below,
    padding: [8 * view.k, 14 * view.k, 0, 0],
    legend: { show: false },
    series: [{}, ...model.names.map((name) => ({ label: name, show: true, paths: () => null, points: { show: false } }))],
    scales: {
      x: { time: false, distr: model.xLog ? 3 : 1, range: () => state.zoom ?? model.xRange },
      y: { distr: model.yLog ? 3 : 1, range: () => model.yRange((name) => !state.hidden.has(name)) },
    },
    axes: axes(fig, model, view),
    cursor: {
      show: live, x: !model.words, y: false, points: { show: false },
      drag: { x: live && model.zooms, y: false, setScale: false },
      ...((fig.panels.length > 1 || fig.crowded) && live ? { sync: { key: view.key, setSeries: false } } : {}),
      bind: { dblclick: () => () => { view.zoom?.(null); } },
    },
    select: { show: live && model.zooms, left: 0, top: 0, width: 0, height: 0 },
    hooks: {
      drawAxes: [(u) => clipped(pen(u, state, view, model), model.below)],
      draw: [(u) => clipped(pen(u, state, view, model), model.above)],
      setCursor: live ? [(u) => view.moved(u, model)] : [],
      setSelect: live ? [(u) => {
        if (u.select.width > 6) {
          const ends = [u.select.left, u.select.left + u.select.width].map((at) => u.posToVal(at, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          view.zoom(ends);
        }
      }] : [],
    },
  };
  const columns = [model.stops, ...model.names.map(() => model.stops.map(() => null))];
  const made = new uPlot(options, columns, host);
  // Draw now: a page that is about to be printed does not wait.
  made.batch(() => {});
  made.model = model;
  return made;
}

/** Heights of the panels of a figure on a width. */
function panelHeight(fig, width, k) {
  const css = width / k;
  return (fig.panels.length > 1 ? clamp(css * 0.24, 130, 190) : clamp(css * 0.44, 220, 360)) * k;
}

/** The number of panels side by side of a crowded figure on a width. */
function columnsOf(fig, width, k) {
  const lines = fig.panels[0].series.length;
  return Math.ceil(lines / Math.ceil(lines / clamp(Math.floor(width / k / 250), width / k < 300 ? 1 : 2, 4)));
}

/** A crowded figure: each line in a panel of its own, under its name, with common axes and the others in grey. */
function smallCharts(host, fig, state, view) {
  const { width, k } = view, [panel] = fig.panels;
  const columns = columnsOf(fig, width, k), inner = 6 * k;
  const places = panel.series.map((s) => el("div", {}, el("div", { class: "line-name" }, swatch(s.look), el("span", {}, s.name))));
  host.append(
    el("div", { class: "axis-name" }, panel.label),
    el("div", { class: "small-panels", style: `grid-template-columns:repeat(${columns},auto)` }, places),
    el("div", { class: "axis-name below" }, fig.x.label));
  const draw = (margin) => places.map((place, i) => {
    const isFirst = i % columns === 0, isLast = i + columns >= places.length;
    const each = Math.floor((width - margin + inner) / columns), height = clamp((each / k) * 0.7, 110, 180) * k + (isLast ? 0 : 8 * k);
    return panelChart(place, fig, panel, state, { ...view, width: isFirst ? each + margin - inner : each, height, margin: isFirst ? margin : inner, isFirst, isLast }, i);
  });
  // The first panel says how much room the numbers of the vertical axis take.
  const first = panelChart(places[0], fig, panel, state, { ...view, width: width / columns, height: 110 * k, isFirst: true, isLast: false }, 0);
  const margin = first.axes[1]._size;
  first.destroy();
  return draw(margin);
}

/** All panels of a figure, each under what its vertical axis shows. */
function charts(host, fig, state, view) {
  if (fig.crowded) return smallCharts(host, fig, state, view);
  const width = view.width, height = panelHeight(fig, width, view.k);
  const places = fig.panels.map((panel) => el("div", { class: "panel" }, el("div", { class: "axis-name" }, panel.label)));
  host.append(...places);
  const draw = (margin) => places.map((place, i) => panelChart(place, fig, fig.panels[i], state, { ...view, width, height, margin, isFirst: true, isLast: i === places.length - 1 }));
  const made = draw();
  const margins = made.map((u) => u.axes[1]._size);
  if (Math.max(...margins) === Math.min(...margins)) return made;
  // The vertical axes of all panels stand one above the other.
  for (const u of made) u.destroy();
  return draw(Math.max(...margins));
}
