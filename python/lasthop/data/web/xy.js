// A metric over a swept key.

/**
 * A metric over a swept key: lines with bands, dots with bars, bars, or boxes.
 * With `front`, the number of a line, only this line has its look, and the others are grey behind it.
 */
function xyModel(fig, panel, state, front = null) {
  const series = panel.series, style = fig.style;
  const own = front === null ? series : [series[front]], others = series.filter((s) => !own.includes(s));
  const words = fig.x.words.length ? fig.x.words.map((name, at) => ({ name, at })) : null;
  const xLog = !words && state.log.x, yLog = state.log.y;
  const stops = [...new Set(series.flatMap((s) => s.x))].filter((x) => known(x, xLog)).sort((a, b) => a - b);
  const room = 0.8 / series.length;
  const place = (i, x) => (words ? x + (i - (series.length - 1) / 2) * room : x);
  const values = (s) => [
    ...s.y, ...(s.low ?? []), ...(s.high ?? []), ...(s.each ?? []).flat(),
    ...(s.marks ?? []).flatMap(([, value, slack]) => [value - slack, value + slack]),
    ...(s.boxes ?? []).flatMap((b) => [...b.slice(0, 5), ...(b[5] ?? [])]),
  ];
  const first = stops[0] ?? 0, last = stops.at(-1) ?? 1;
  const side = (last - first) * 0.025 || 0.5;
  const xRange = words ? [-0.6, words.length - 0.4] : xLog ? [first / 1.12, last * 1.12] : [first - side, last + side];
  const floor = (p, y) => p.y(Math.max(y, p.u.scales.y.min));
  const points = (p, s, i, column) => s.x.flatMap((x, j) => (known(x, xLog) && known(column[j], yLog) ? [[p.x(place(i, x)), p.y(column[j])]] : []));
  const intervals = (p, s, i) => s.x.flatMap((x, j) =>
    known(x, xLog) && known(s.low[j], false) && known(s.high[j], yLog)
      ? [[p.x(place(i, x)), floor(p, yLog && s.low[j] <= 0 ? p.u.scales.y.min : s.low[j]), p.y(s.high[j])]] : []);

  function runs(p, s, i, paint) {
    (s.each ?? []).forEach((column, j) => column.forEach((value) => {
      if (!known(value, yLog) || !known(s.x[j], xLog)) return;
      p.ctx.fillStyle = paint;
      p.ctx.beginPath();
      p.ctx.arc(p.x(place(i, s.x[j])), p.y(value), 1.8 * p.k, 0, 7);
      p.ctx.fill();
    }));
  }

  function published(p, s, i) {
    for (const [j, value, slack] of s.marks ?? []) {
      if (!known(value, yLog) || !known(s.x[j], xLog)) continue;
      const x = p.x(place(i, s.x[j]));
      const paint = style === "bar" ? p.on.ink : colour(s.look, p.on);
      errorBar(p, x, floor(p, value - slack), p.y(value + slack), paint, { cap: 4, width: 1 });
      mark(p.ctx, style === "bar" ? { ...s.look, light: p.on.ink, dark: p.on.ink } : s.look, x, p.y(value), 5 * p.k, p.on, true);
    }
  }

  function bars(p, s, i) {
    const half = 0.47 * room;
    s.x.forEach((x, j) => {
      if (!known(s.y[j], yLog)) return;
      const [a, b] = [place(i, x) - half, place(i, x) + half].map(p.x);
      const [top, base] = [p.y(s.y[j]), p.y(yLog ? p.u.scales.y.min : Math.max(0, p.u.scales.y.min))];
      p.ctx.fillStyle = hatch(p.ctx, s.look, i, p.on, p.k);
      p.ctx.fillRect(a, Math.min(top, base), b - a, Math.abs(base - top));
      p.ctx.strokeStyle = colour(s.look, p.on);
      p.ctx.lineWidth = p.k;
      p.ctx.strokeRect(a, Math.min(top, base), b - a, Math.abs(base - top));
    });
    for (const [x, low, high] of intervals(p, s, i)) errorBar(p, x, low, high, p.on.ink);
    runs(p, s, i, p.on.ink);
  }

  function boxes(p, s, i) {
    const half = 0.43 * room;
    s.boxes.forEach((box, j) => {
      if (!box.length) return;
      const [least, first_, half_, third, most, beyond] = box;
      const at = place(i, s.x[j]);
      const [a, m, b] = [at - half, at, at + half].map(p.x);
      const y = (v) => floor(p, v);
      errorBar(p, m, y(least), y(first_), colour(s.look, p.on));
      errorBar(p, m, y(third), y(most), colour(s.look, p.on));
      p.ctx.save();
      p.ctx.globalAlpha *= 0.35;
      p.ctx.fillStyle = colour(s.look, p.on);
      p.ctx.fillRect(a, y(third), b - a, y(first_) - y(third));
      p.ctx.restore();
      p.ctx.strokeStyle = colour(s.look, p.on);
      p.ctx.lineWidth = 1.3 * p.k;
      p.ctx.strokeRect(a, y(third), b - a, y(first_) - y(third));
      p.ctx.strokeStyle = p.on.ink;
      p.ctx.lineWidth = 2 * p.k;
      p.ctx.beginPath();
      p.ctx.moveTo(a, y(half_));
      p.ctx.lineTo(b, y(half_));
      p.ctx.stroke();
      for (const value of beyond) if (known(value, yLog)) mark(p.ctx, s.look, m, p.y(value), 2.6 * p.k, p.on, true);
    });
  }

  const rowOf = (s, j) => {
    const box = s.boxes?.[j];
    if (box?.length) {
      return { look: s.look, name: s.name, value: withUnit(box[2], panel.unit), spread: `quartiles ${digits(box[1])} to ${digits(box[3])}`, n: s.n[j], y: box[2] };
    }
    const paper = (s.marks ?? []).find(([at]) => at === j);
    return {
      look: s.look, name: s.name, value: withUnit(s.y[j], panel.unit), spread: spread(s.low[j], s.high[j]), n: s.n[j], y: s.y[j],
      more: paper ? `published ${digits(paper[1])} ± ${digits(paper[2], 2)}` : "",
    };
  };

  return {
    names: series.map((s) => s.name), front: series[front], stops, words, xLog, yLog, xRange, zooms: !words,
    isWhole: stops.every(Number.isInteger),
    yRange: (shown) => range(series.filter((s) => shown(s.name)).flatMap(values), yLog, style !== "box"),
    below: (p) => {
      if (style !== "lines") return;
      each(p, own, (s, i) => {
        const found = intervals(p, s, i);
        band(p, found.map(([x, low]) => [x, low]), found.map(([x, , high]) => [x, high]), s.look);
      });
    },
    above: (p) => {
      for (const s of others) stroke(p, points(p, s, 0, s.y), { [p.on.name]: p.on.faint }, 0.9, { dash: false });
      each(p, own, (s, i) => {
        if (style === "bar") bars(p, s, i);
        else if (style === "box") boxes(p, s, i);
        else {
          const found = points(p, s, i, s.y);
          if (style === "lines") stroke(p, found, s.look, 1.8);
          else for (const [x, low, high] of intervals(p, s, i)) errorBar(p, x, low, high, colour(s.look, p.on));
          runs(p, s, i, colour(s.look, p.on));
          const every = Math.max(1, Math.ceil((found.length * 9 * p.k) / p.box.width));
          found.forEach(([x, y], j) => { if (j % every === 0) mark(p.ctx, s.look, x, y, 3.8 * p.k, p.on); });
        }
        published(p, s, i);
      });
    },
    read: (u, left, top) => {
      if (!stops.length) return null;
      const stop = stops[nearest(stops, u.posToVal(left, "x"), xLog)];
      const rows = series.flatMap((s, i) => {
        const j = s.x.indexOf(stop);
        if (state.hidden.has(s.name) || j < 0 || !known(s.y[j], false)) return [];
        const row = rowOf(s, j);
        return [{ ...row, left: u.valToPos(place(i, stop), "x"), top: known(row.y, yLog) ? u.valToPos(row.y, "y") : null, point: s.points[j] }];
      });
      const title = words ? words[stop].name : `${fig.x.label}: ${tick(stop)}`;
      return rows.length ? { title, rows, left: u.valToPos(stop, "x"), closest: closest(rows.filter((row) => front === null || row.name === series[front].name), left, top), rings: style === "lines" || style === "dots" } : null;
    },
    table: () => series.flatMap((s) => s.x.map((x, j) => [panel.label, s.name, words ? words[x].name : x, s.y[j], s.low[j], s.high[j], s.n[j]])),
    columns: ["figure of", "line", fig.x.label, "mean", "ci_low", "ci_high", "n"],
  };
}
