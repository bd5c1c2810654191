// Figures of a scenario from the runs in the page, in the form that figure.js draws; what the command line names and
// colours comes with the page.

/** Runs in the page: the metrics of each point by replication. */
class Results {
  constructor(scenario, about) {
    Object.assign(this, { scenario, about });
    this.metrics = new Map(about.metrics.map((metric) => [metric.name, metric]));
    this.rows = about.points.map(() => new Map());
    this.series = about.points.map(() => new Map());
  }

  /** The values of a metric at a point, by replication. */
  of(point, metric) {
    return new Map([...this.rows[point]].map(([replication, metrics]) => [replication, metrics[metric] ?? null]));
  }

  mean(point, metric) {
    return interval([...this.of(point, metric).values()]);
  }

  /** The metrics that the runs have, in their order. */
  names() {
    const seen = new Set(this.rows.flatMap((row) => [...row.values()].flatMap(Object.keys)));
    return [...this.metrics.keys()].filter((name) => seen.has(name));
  }

  /** A metric in words, with its subject where several have the same. */
  words(name) {
    return metricWords(this.metrics.get(name) ?? { name });
  }
}

const listed = (value) => (Array.isArray(value) ? value : [value]);
const lookAt = (place) => SETUP.looks[place % SETUP.looks.length];
const lookOf = (value, place) => SETUP.styles[value] ?? lookAt(place);

/** The values of a key of a sweep along an axis: numbers in one unit, or words. */
function axisOf(results, key, label) {
  const axis = results.about.axes.find((one) => one.keys.includes(key)), place = axis.keys.indexOf(key);
  const texts = [...new Set(axis.rows.map((row) => row[place]))];
  const read = texts.map((text) => /^(-?[\d.]+)\s*(\D*)$/.exec(text));
  const name = label ?? key.split(".").slice(-2).join(" ");
  if (read.every((one) => one && one[2] === read[0][2])) {
    const unit = read[0][2].trim();
    return { at: new Map(texts.map((text, i) => [text, Number(read[i][1])])), label: unit && !label ? `${name} (${unit})` : name, unit, words: [] };
  }
  const numbers = texts.map((text) => axis.numbers[axis.rows.findIndex((row) => row[place] === text)][place]);
  if (numbers.every((number) => number !== null)) return { at: new Map(texts.map((text, i) => [text, numbers[i]])), label: name, unit: "", words: [] };
  return { at: new Map(texts.map((text, i) => [text, i])), label: name, unit: "", words: texts };
}

/** The points of a figure, each with the label of its line. */
function chosen(results, figure) {
  const swept = results.about.axes.flatMap((axis) => axis.keys), names = figure.names ?? {};
  const own = new Set([figure.x, figure.lines, ...Object.keys(figure.where ?? {})]);
  const matching = results.about.points.map((values, point) => ({ values, point }))
    .filter(({ values }) => Object.entries(figure.where ?? {}).every(([key, value]) => listed(value).includes(values[key]) || !(key in values)));
  const others = swept.filter((key) => !own.has(key) && new Set(matching.map(({ values }) => values[key])).size > 1);
  return matching.map(({ values, point }) => {
    const line = values[figure.lines];
    return { values, point, line, label: [names[line] ?? line, ...others.map((key) => names[values[key]] ?? values[key])].filter((text) => text !== undefined).join(", ") };
  });
}

const common = (figure, results, caption) => ({
  id: figure.id, title: figure.title ?? results.about.title ?? figure.id, caption, legend: "", notes: [], tables: [],
});

function counted(results, points) {
  const n = [...new Set(points.map(({ point }) => results.rows[point].size))].sort((a, b) => a - b);
  return n.length > 1 ? `n = ${n[0]} to ${n.at(-1)}` : `n = ${n[0]}`;
}

/** A metric over a swept key. */
function overKey(results, figure) {
  const points = chosen(results, figure), x = axisOf(results, figure.x, figure["x-label"]), names = figure.names ?? {};
  const labels = [...new Set(points.map((it) => it.label))];
  // A list within y is drawn on one axis.
  const panels = listed(figure.y).map(listed).map((metrics) => {
    const lines = metrics.flatMap((metric) => labels.map((label) => {
      const found = points.filter((it) => it.label === label).map((it) => ({ ...it, mean: results.mean(it.point, metric) }));
      const own = metrics.length > 1 ? names[metric] ?? results.words(metric) : "";
      return { name: [own, label].filter(Boolean).join(", "), found: found.filter((it) => it.mean.n) };
    })).filter(({ found }) => found.length);
    const largest = Math.max(0, ...lines.flatMap(({ found }) => found.map((it) => Math.abs(it.mean.mean))));
    const { unit: plain, label: words } = results.metrics.get(metrics[0]) ?? {}, [factor, unit] = prefix(largest, plain);
    const scaled = (found, part) => found.map((it) => (it.mean[part] === null ? null : it.mean[part] / factor));
    const series = lines.map(({ name, found }, i) => ({
      name, look: lookOf(found[0].line, i), points: found.map((it) => it.point), x: found.map((it) => x.at.get(it.values[figure.x])),
      y: scaled(found, "mean"), low: scaled(found, "low"), high: scaled(found, "high"), n: found.map((it) => it.mean.n),
    }));
    const label = figure["y-label"] ?? (metrics.length > 1 ? words : results.words(metrics[0]));
    return { label: unit ? `${label} (${unit})` : label, unit: unit ?? "", log: figure["y-scale"] === "log", series };
  });
  const style = figure.kind === "bar" ? "bar" : x.words.length || figure.kind === "dots" ? "dots" : "lines";
  return {
    ...common(figure, results, `mean${points.some(({ point }) => results.rows[point].size > 1) ? " and 95 % interval" : ""}, ${counted(results, points)}`), form: "xy", style, panels,
    x: { label: x.label, unit: x.unit, words: x.words.map((word) => names[word] ?? word), log: figure["x-scale"] === "log" },
  };
}

/** The 802.11 links that report their airtime. */
const airtimeLinks = (results) => results.names().flatMap((name) => /^links\.(.+)\.airtime_idle_s$/.exec(name)?.[1] ?? []);

/** The use of the time of an 802.11 link. */
function airtime(results, figure) {
  const link = figure.link ?? airtimeLinks(results)[0], names = figure.names ?? {};
  const metric = (name) => `links.${link}.airtime_${name}_s`;
  const points = chosen(results, figure).filter(({ point }) => results.rows[point].size);
  const share = (point, name) => {
    const whole = results.rows[point];
    const shares = [...whole.values()].map((metrics) => (100 * (metrics[metric(name)] ?? 0)) / SETUP.classes.reduce((sum, one) => sum + (metrics[metric(one.id)] ?? 0), 0));
    const { mean, low, high } = interval(shares);
    return [mean, low, high];
  };
  const classes = SETUP.classes.filter(({ id }) => points.some(({ point }) => results.mean(point, metric(id)).mean));
  const bars = points.map(({ values, point, label }) => ({
    x: figure.x ? names[values[figure.x]] ?? values[figure.x] : "", label, point, n: results.rows[point].size,
    shares: classes.map(({ id }) => share(point, id)), concurrent: share(point, "concurrent"),
  }));
  const order = [...new Set(bars.map((bar) => bar.x))];
  bars.sort((a, b) => order.indexOf(a.x) - order.indexOf(b.x));
  return {
    ...common(figure, results, `airtime of ${link}, mean, ${counted(results, points)}`), form: "stack", classes, bars,
    x: { label: figure["x-label"] ?? figure.x ?? "", words: [] }, panels: [{ label: "share of the time (%)", unit: "%", log: false, series: [] }],
  };
}

/** The figures of the scenario that a page can draw, or one made of what is swept. */
function figuresOf(results) {
  const { axes, figures } = results.about, known = new Set(results.names());
  const ready = figures.flatMap((figure) => {
    const kind = figure.kind ?? "lines";
    if (kind === "airtime") return airtimeLinks(results).length ? [airtime(results, figure)] : [];
    const isOver = ["lines", "bar", "box", "dots"].includes(kind) && figure.x && axes.some((axis) => axis.keys.includes(figure.x));
    return isOver && listed(figure.y).flat().every((metric) => known.has(metric)) ? [overKey(results, figure)] : [];
  });
  if (ready.length || !axes.length || figures.some(isTimed)) return ready;
  const numeric = axes.findLast((axis) => axis.numbers.every((row) => row[0] !== null)) ?? axes.at(-1);
  const lines = axes.find((axis) => axis !== numeric);
  const y = [...known].find((name) => /^(flows|groups)\..*goodput_bps$/.test(name)) ?? [...known][0];
  return y ? [overKey(results, { id: "swept", title: results.words(y), x: numeric.keys[0], y, lines: lines?.keys[0] })] : [];
}

/** What a trace shows over time: a column by flow or link, in panels. */
const CURVES = [
  ["cwnd", "cwnd", "congestion window (segments)", "", ["flow"], true],
  ["rtt", "rtt_s", "round-trip time (s)", "s", ["flow"], false],
  ["queue", "packets", "queue (packets)", "packets", ["link", "direction", "node"], true],
];
const MOST = 1500;

/** At most `MOST` places of a line: the least and the most of each stretch. */
function thin(values) {
  if (values.length <= MOST) return values.map((_, i) => i);
  const kept = new Set([0, values.length - 1]), stretches = MOST / 2 - 1;
  for (let k = 0; k < stretches; k++) {
    const begin = Math.floor((k * values.length) / stretches), end = Math.floor(((k + 1) * values.length) / stretches);
    let low = begin, high = begin;
    for (let i = begin; i < end; i++) {
      if (values[i] < values[low]) low = i;
      if (values[i] > values[high]) high = i;
    }
    kept.add(low).add(high);
  }
  return [...kept].sort((a, b) => a - b);
}

/** The lines of a table of a trace, one for each combination of names in its columns, after a label. */
function linesBy(table, value, by, label) {
  const columns = by.filter((name) => table[name]), found = new Map();
  table.time_s.forEach((time, i) => {
    const words = [label, ...columns.map((column) => table[column][i])].filter((word) => word && word !== "-");
    const name = words.join(", ");
    if (!found.has(name)) found.set(name, { x: [], y: [] });
    found.get(name).x.push(time);
    found.get(name).y.push(table[value][i]);
  });
  return found;
}

/** Quantities of runs over simulated time; each run has a label if there are several. */
function overTime(runs, title) {
  const end = Math.max(...runs.map(({ run }) => run.simulated_s)), places = new Map();
  const placeOf = (name) => places.get(name) ?? places.set(name, places.size).get(name);
  const line = (name, { x, y }, step) => {
    if (step) { x.push(end); y.push(y.at(-1)); }
    const kept = thin(y);
    return { name, look: lookAt(placeOf(name)), x: kept.map((at) => x[at]), y: kept.map((at) => y[at]), step };
  };
  const panels = CURVES.map(([channel, column, label, unit, by, step]) => ({
    label, unit, log: false, floats: false,
    series: runs.flatMap(({ run, label: of }) => {
      const table = run.traces[channel];
      return table?.[column] ? [...linesBy(table, column, by, of)].filter(([, { x }]) => x.length > 1).map(([name, found]) => line(name, found, step)) : [];
    }),
  })).filter((panel) => panel.series.length);
  return {
    id: "time", form: "curve", title, caption: "replication 0", legend: "", notes: [], tables: [], panels,
    x: { label: "simulated time (s)", unit: "s", from: 0, to: end, words: [], log: false },
  };
}
