// What each form of a chart draws, and what it says of a place under the pointer; xy.js has the first form.
//
// A model has the names of its series, the places on the x axis where the keyboard stops, the ranges of its
// axes, `below` and `above` that draw, and `read` that describes a place: a title, and rows with a look.

const known = (value, log) => value !== null && value !== undefined && (!log || value > 0);

/** The range of an axis that holds these values: from zero on unless they are less, or with room on both sides. */
function range(values, log, fromZero = true) {
  const finite = values.filter((v) => known(v, log));
  if (!finite.length) return log ? [1, 10] : [0, 1];
  const low = Math.min(...finite), high = Math.max(...finite);
  if (log) return [low / 1.25, high * 1.25];
  if (fromZero) {
    const top = high > 0 ? high * 1.06 : high < 0 ? 0 : 1;
    return [low < 0 ? low - 0.06 * (top - low) : 0, top];
  }
  const room = 0.06 * (high - low) || Math.abs(high) * 0.06 || 1;
  return [low - room, high + room];
}

function stroke(p, points, look, width, { dash = true, step = false } = {}) {
  const { ctx, k, on } = p;
  ctx.strokeStyle = colour(look, on);
  ctx.lineWidth = width * k;
  ctx.setLineDash(dash ? look.dash.map((v) => v * width * k) : []);
  ctx.beginPath();
  let before = null;
  for (const point of points) {
    if (point === null) { before = null; continue; }
    const [x, y] = point;
    if (before === null) ctx.moveTo(x, y);
    else {
      if (step) ctx.lineTo(x, before[1]);
      ctx.lineTo(x, y);
    }
    before = point;
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

function band(p, low, high, look, step = false) {
  if (!low.length) return;
  const corners = (points) => (step ? points.flatMap(([x, y], i) => (i ? [[x, points[i - 1][1]], [x, y]] : [[x, y]])) : points);
  const { ctx, on } = p;
  const path = [...corners(high), ...corners(low).reverse()];
  ctx.save();
  ctx.globalAlpha *= 0.2;
  ctx.fillStyle = colour(look, on);
  ctx.beginPath();
  path.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.fill();
  ctx.restore();
}

function errorBar(p, x, low, high, paint, { cap = 3, width = 1.3 } = {}) {
  const { ctx, k } = p;
  ctx.strokeStyle = paint;
  ctx.lineWidth = width * k;
  ctx.beginPath();
  ctx.moveTo(x, low);
  ctx.lineTo(x, high);
  for (const y of [low, high]) {
    ctx.moveTo(x - cap * k, y);
    ctx.lineTo(x + cap * k, y);
  }
  ctx.stroke();
}

/** Each series that is shown, in the order of drawing: the one in focus last. */
function each(p, series, draw) {
  const order = series.map((s, i) => [s, i]).filter(([s]) => p.shown(s.name));
  order.sort(([a], [b]) => p.alpha(a.name) - p.alpha(b.name));
  for (const [s, i] of order) {
    p.ctx.save();
    p.ctx.globalAlpha = p.alpha(s.name);
    draw(s, i);
    p.ctx.restore();
  }
}

const spread = (low, high) => (low === null || low === undefined || high === null ? "" : `${digits(low)} to ${digits(high)}`);
const withUnit = (value, unit) => `${digits(value)} ${unit}`.trim();

function nearest(stops, value, log = false) {
  const far = (stop) => (log ? Math.abs(Math.log(stop / value)) : Math.abs(stop - value));
  let best = 0;
  stops.forEach((stop, i) => { if (far(stop) < far(stops[best])) best = i; });
  return best;
}

/** The row that the pointer is nearest to, if it is near. */
function closest(rows, left, top) {
  let best = null, least = 26;
  for (const row of rows) {
    if (row.top === null) continue;
    const far = Math.hypot((row.left - left) * 0.7, row.top - top);
    if (far < least) [best, least] = [row, far];
  }
  return best;
}

/** Lines over time, and the share of transfers that is done. */
function curveModel(fig, panel, state) {
  const series = panel.series;
  const xLog = state.log.x, yLog = state.log.y;
  const positive = series.flatMap((s) => s.x).filter((x) => x > 0);
  const xRange = xLog ? [Math.min(...positive) / 1.1, fig.x.to] : [fig.x.from, fig.x.to];
  const trace = (p, xs, ys) => {
    const found = [];
    xs.forEach((x, i) => {
      if (!known(ys[i], yLog)) found.push(null);
      else found.push([p.x(xLog ? Math.max(x, p.u.scales.x.min) : x), p.y(ys[i])]);
    });
    return found;
  };
  const inSight = (s) => s.y.filter((_, i) => s.x[i] >= xRange[0] && s.x[i] <= xRange[1]);
  return {
    names: series.map((s) => s.name), stops: xRange, words: null, xLog, yLog, xRange, zooms: true, isWhole: false, isTimed: true,
    yRange: (shown) => {
      if (panel.to && !yLog) return [0, panel.to];
      const drawn = series.filter((s) => shown(s.name));
      return range(drawn.flatMap((s) => [...inSight(s), ...(s.high ?? []), ...(s.each ?? []).flat()]), yLog, !panel.floats);
    },
    below: (p) => each(p, series, (s) => {
      if (!s.low?.length) return;
      const sides = [s.low, s.high].map((side) => trace(p, s.x, side).filter(Boolean));
      if (sides[0].length === sides[1].length) band(p, ...sides, s.look, s.step);
    }),
    above: (p) => {
      // Nothing of a line is drawn outside of the axes.
      p.ctx.beginPath();
      p.ctx.rect(p.box.left, p.box.top - 6 * p.k, p.box.width, p.box.height + 12 * p.k);
      p.ctx.clip();
      each(p, series, (s) => {
        for (const run of s.each ?? []) {
          p.ctx.save();
          p.ctx.globalAlpha *= 0.4;
          stroke(p, trace(p, s.x, run), s.look, 0.8, { dash: false, step: s.step });
          p.ctx.restore();
        }
        if (s.dots) for (const at of trace(p, s.x, s.y)) { if (at) mark(p.ctx, s.look, at[0], at[1], 2.2 * p.k, p.on); }
        else stroke(p, trace(p, s.x, s.y), s.look, 1.5, { step: s.step });
      });
    },
    read: (u, left) => {
      const at = u.posToVal(left, "x");
      const rows = series.flatMap((s) => {
        if (state.hidden.has(s.name) || !s.x.length) return [];
        let i = s.x.findLastIndex((x) => x <= at);
        if (i < 0 || (i === s.x.length - 1 && at > s.x[i] && !(s.step && at < s.x[i] + 1e-9))) return [];
        if (!s.step && i + 1 < s.x.length && s.x[i + 1] - at < at - s.x[i]) i += 1;
        if (s.dots && Math.abs(u.valToPos(s.x[i], "x") - left) > 6) return [];
        if (!known(s.y[i], false)) return [];
        return [{
          look: s.look, name: s.name, value: withUnit(s.y[i], panel.unit), spread: s.low ? spread(s.low[i], s.high[i]) : "",
          left: s.step ? left : u.valToPos(s.x[i], "x"), top: known(s.y[i], yLog) ? u.valToPos(s.y[i], "y") : null,
        }];
      });
      return rows.length ? { title: `${digits(at)} ${fig.x.unit}`, rows, left, closest: null, rings: true } : null;
    },
    table: () => series.flatMap((s) => s.x.map((x, i) => [panel.label, s.name, x, s.y[i], s.low?.[i], s.high?.[i]])),
    columns: ["figure of", "line", fig.x.label, "value", "ci_low", "ci_high"],
  };
}

/** A metric against another: means, and ellipses of one standard deviation. */
function scatterModel(fig, panel, state) {
  const series = panel.series;
  const xLog = state.log.x, yLog = state.log.y;
  const ends = (s) => s.x.flatMap((x, i) => {
    const [a, b, c] = s.spread[i].length ? s.spread[i] : [0, 0, 0];
    const tall = Math.hypot(b, c);
    return [[x - a, s.y[i] - tall], [x + a, s.y[i] + tall], ...(s.each[i] ?? [])];
  });
  const xs = series.flatMap(ends).map(([x]) => x);
  const stops = [...new Set(series.flatMap((s) => s.x))].filter((x) => known(x, xLog)).sort((a, b) => a - b);
  const ellipse = (p, x, y, [a, b, c]) => {
    const path = [];
    for (let i = 0; i <= 72; i++) {
      const turn = (2 * Math.PI * i) / 72;
      const px = x + a * Math.cos(turn), py = y + b * Math.cos(turn) + c * Math.sin(turn);
      if (known(px, xLog) && known(py, yLog)) path.push([p.x(px), p.y(py)]);
    }
    return path;
  };
  return {
    names: series.map((s) => s.name), stops: stops.length ? stops : [0, 1], words: null, xLog, yLog, zooms: true, isWhole: false,
    xRange: range(xs, xLog, false),
    yRange: (shown) => range(series.filter((s) => shown(s.name)).flatMap(ends).map(([, y]) => y), yLog, false),
    below: (p) => each(p, series, (s) => {
      s.x.forEach((x, i) => {
        if (!s.spread[i].length) return;
        const path = ellipse(p, x, s.y[i], s.spread[i]);
        p.ctx.save();
        p.ctx.globalAlpha *= 0.2;
        p.ctx.fillStyle = colour(s.look, p.on);
        p.ctx.beginPath();
        path.forEach(([px, py], j) => (j ? p.ctx.lineTo(px, py) : p.ctx.moveTo(px, py)));
        p.ctx.fill();
        p.ctx.restore();
        stroke(p, path, s.look, 0.9, { dash: false });
      });
    }),
    above: (p) => each(p, series, (s) => {
      const found = s.x.flatMap((x, i) => (known(x, xLog) && known(s.y[i], yLog) ? [[p.x(x), p.y(s.y[i])]] : []));
      stroke(p, found, s.look, 1.1);
      s.each.forEach((runs) => runs.forEach(([x, y]) => {
        if (!known(x, xLog) || !known(y, yLog)) return;
        p.ctx.fillStyle = colour(s.look, p.on);
        p.ctx.beginPath();
        p.ctx.arc(p.x(x), p.y(y), 1.8 * p.k, 0, 7);
        p.ctx.fill();
      }));
      for (const [x, y] of found) mark(p.ctx, s.look, x, y, 4.2 * p.k, p.on);
    }),
    read: (u, left, top) => {
      const rows = series.flatMap((s) => (state.hidden.has(s.name) ? [] : s.x.flatMap((x, i) =>
        known(x, xLog) && known(s.y[i], yLog)
          ? [{ look: s.look, name: s.name, value: withUnit(s.y[i], panel.unit), spread: `at ${withUnit(x, fig.x.unit)}`, n: s.n[i], left: u.valToPos(x, "x"), top: u.valToPos(s.y[i], "y"), point: s.points[i] }]
          : [])));
      const far = (row) => Math.hypot(row.left - left, row.top - top);
      const near = rows.sort((a, b) => far(a) - far(b)).filter((row) => far(row) < 40).slice(0, 3);
      return near.length ? { title: panel.label, rows: near, left: near[0].left, closest: near[0], rings: true } : null;
    },
    table: () => series.flatMap((s) => s.x.map((x, i) => [s.name, x, s.y[i], s.n[i]])),
    columns: ["line", fig.x.label, panel.label, "n"],
  };
}

/** Airtime as stacked bars, those of one x together. */
function stackModel(fig, panel, state) {
  const bars = fig.bars, classes = fig.classes;
  const grouped = bars.some((bar, i) => i && bar.x === bars[i - 1].x);
  let at = 0;
  const places = bars.map((bar, i) => (i ? (at += grouped && bar.x !== bars[i - 1].x ? 1.6 : 1) : 0));
  const both = bars.some((bar) => bar.label && bar.x);
  const whole = (bar) => (both ? `${bar.label}\n${bar.x}` : bar.label || bar.x);
  // A bar with a longer name is called by the number of its point.
  const name = (bar) => (whole(bar) && whole(bar).length <= 40 ? whole(bar) : `point ${bar.point}`);
  const shown = () => classes.map((c, i) => [c, i]).filter(([c]) => !state.hidden.has(c.name));
  const edge = bars.length > 1 ? 0.6 : 1.4;
  return {
    names: classes.map((c) => c.name), stops: places, xLog: false, yLog: false, zooms: false, isWhole: false,
    words: bars.map((bar, i) => ({ name: name(bar), at: places[i] })),
    xRange: [-edge, places.at(-1) + edge],
    yRange: () => [0, Math.max(1, ...bars.map((bar) => shown().reduce((sum, [, i]) => sum + (bar.shares[i][0] ?? 0), 0)))],
    below: () => {},
    above: (p) => {
      const { ctx, k, on } = p;
      bars.forEach((bar, b) => {
        let sum = 0;
        const [left, right] = [places[b] - 0.42, places[b] + 0.42].map(p.x);
        const bottom = p.y(0);
        for (const [c, i] of shown()) {
          const share = bar.shares[i][0] ?? 0;
          const [low, high] = [p.y(sum), p.y(sum + share)];
          ctx.save();
          ctx.globalAlpha = p.alpha(c.name);
          ctx.fillStyle = c[on.name];
          ctx.fillRect(left, high, right - left, low - high);
          ctx.restore();
          ctx.strokeStyle = on.surface;
          ctx.lineWidth = 0.8 * k;
          ctx.beginPath();
          ctx.moveTo(left, high);
          ctx.lineTo(right, high);
          ctx.stroke();
          if (right - left > 34 * k && low - high > 13 * k) {
            ctx.fillStyle = readable(c[on.name]);
            ctx.font = `${Math.round(11 * k)}px ${FONT}`;
            ctx.textAlign = "center";
            ctx.textBaseline = "middle";
            ctx.fillText(share.toFixed(1), (left + right) / 2, (low + high) / 2);
          }
          sum += share;
        }
        // The outline keeps light classes apart from the page.
        ctx.strokeStyle = on.axis;
        ctx.lineWidth = k;
        ctx.strokeRect(left, p.y(sum), right - left, bottom - p.y(sum));
      });
    },
    read: (u, left, top) => {
      const b = nearest(places, u.posToVal(left, "x"));
      const bar = bars[b], value = u.posToVal(top, "y");
      let sum = 0, under = null;
      const rows = shown().map(([c, i]) => {
        const [mean, low, high] = bar.shares[i];
        const row = { look: { light: c.light, dark: c.dark }, fill: true, name: c.name, value: `${(mean ?? 0).toFixed(2)} %`, spread: low === null ? "" : `${low.toFixed(2)} to ${high.toFixed(2)}`, point: bar.point, left, top };
        if (value >= sum && value < sum + (mean ?? 0)) under = row;
        sum += mean ?? 0;
        return row;
      }).reverse();
      if (bar.concurrent[0]) rows.push({ name: "concurrent, not in the sum", value: `${bar.concurrent[0].toFixed(2)} %`, spread: "" });
      return { title: `${[bar.label, bar.x].filter(Boolean).join(", ") || "the only point"}, n = ${bar.n}`, rows, left: u.valToPos(places[b], "x"), closest: under, rings: false, point: bar.point };
    },
    table: () => bars.flatMap((bar) => classes.map((c, i) => [bar.x, bar.label, c.name, ...bar.shares[i], bar.n])),
    columns: [fig.x.label || "point", "line", "class", "share (%)", "ci_low", "ci_high", "n"],
  };
}

/** Black or white, whichever can be read on a colour. */
function readable(hex) {
  const channel = (i) => {
    const v = parseInt(hex.slice(i, i + 2), 16) / 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return light > 0.18 ? "#000000" : "#ffffff";
}

const MODELS = { xy: xyModel, curve: curveModel, scatter: scatterModel, stack: stackModel };
