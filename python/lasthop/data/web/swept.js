// Figures of a scenario over what it sweeps, from the runs in the page, in the form that figure.js draws: the rules of report/charts.py,
// held equal by a test; what the command line names and colours comes with the page.

const listed = (value) => (Array.isArray(value) ? value : [value]);
const lookOf = (value, place) => SETUP.styles[value] ?? lookAt(place);

/** The titles that the registry has for the values of a key. */
function titlesOf(key) {
  const part = key.startsWith("agents.") && key.endsWith(".kind") ? "agents" : SETUP.parts[key.split(".").slice(-2).join(".")];
  return SETUP.titles[part] ?? {};
}

/** Names of swept values in a figure: its own, or those of the registry where all keys with a value agree on its name. */
function namesOf(results, figure) {
  const keys = new Map(), found = {};
  for (const axis of results.about.axes) for (const row of axis.rows) row.forEach((text, i) => keys.set(text, (keys.get(text) ?? new Set()).add(axis.keys[i])));
  for (const [text, of] of keys) {
    const titles = new Set([...of].map((key) => titlesOf(key)[text]));
    if (titles.size === 1 && !titles.has(undefined)) [found[text]] = titles;
  }
  return { ...found, ...figure.names };
}

/** The values of a key along an axis of bars or boxes: at even distances. */
function evenAxisOf(results, key, label, scale) {
  const axis = axisOf(results, key, label, scale), texts = [...axis.at.keys()], order = axis.words.length ? texts : texts.sort((a, b) => axis.at.get(a) - axis.at.get(b));
  return { ...axis, log: false, at: new Map(order.map((text, i) => [text, i])), words: axis.words.length ? axis.words : order.map((text) => general(axis.at.get(text), 6)) };
}

/** The values of a key of a sweep along an axis: numbers in the unit of the largest, or words. */
function axisOf(results, key, label, scale) {
  const axis = results.about.axes.find((one) => one.keys.includes(key)), place = axis.keys.indexOf(key), name = label ?? key.split(".").slice(-2).join(" ");
  const numbers = new Map(axis.rows.map((row, i) => [row[place], axis.numbers[i][place]])), texts = [...numbers.keys()], values = [...numbers.values()];
  if (values.includes(null)) return { at: new Map(texts.map((text, i) => [text, i])), label: name, unit: "", words: texts, log: false };
  const high = Math.max(...values), low = Math.min(...values), [, number, unit] = /^(-?[\d.]*)\s*(.*)$/.exec(texts.find((text) => numbers.get(text) === high));
  const factor = high && Number(number) ? high / Number(number) : 1;
  const isLog = low > 0 && (scale ? scale === "log" : high / low >= 1000);
  return { at: new Map(texts.map((text) => [text, numbers.get(text) / factor])), label: united(name, unit), unit, words: [], log: isLog };
}

const matches = (values, where) => Object.entries(where ?? {}).every(([key, value]) => !(key in values) || listed(value).includes(values[key]));

/** The points of a figure, each with the label of its line; without those with which it compares. */
function chosen(results, figure) {
  const swept = results.about.axes.flatMap((axis) => axis.keys), names = namesOf(results, figure), over = figure["gain-over"];
  const own = new Set([figure.x, figure.lines, ...Object.keys(figure.where ?? {})]);
  const matching = results.about.points.map((values, point) => ({ values, point }))
    .filter(({ values }) => matches(values, figure.where) && !(over && matches(values, over)));
  const others = swept.filter((key) => !own.has(key) && new Set(matching.map(({ values }) => values[key])).size > 1);
  return matching.map(({ values, point }) => {
    const line = values[figure.lines];
    return { values, point, line, label: [names[line] ?? line, ...others.map((key) => names[values[key]] ?? values[key])].filter((text) => text !== undefined).join(", ") };
  });
}

/** A key with those that advance together with it. */
const boundTo = (results, key) => new Set(results.about.axes.find((axis) => axis.keys.includes(key))?.keys ?? [key]);

/** The point with which one is compared: where the keys of `over` have those values. */
function rivalOf(results, point, over) {
  const exact = { ...results.about.points[point], ...over };
  // What advances together with a key of `over` may differ at the point of comparison.
  const bound = new Set(Object.keys(over).flatMap((key) => [...boundTo(results, key)]));
  const loose = Object.fromEntries(Object.entries(exact).filter(([key]) => key in over || !bound.has(key)));
  for (const wanted of [exact, loose]) {
    const found = results.about.points.flatMap((values, i) => (matches(values, wanted) ? [i] : []));
    if (found.length === 1) return found[0];
  }
  return null;
}

/** A metric at a point as a figure shows it: its mean, its share in the sum with another, or its gain over another point. */
function shownAt(results, figure, point, metric) {
  const { "gain-over": over, among } = figure, own = results.of(point, metric);
  if (over) {
    const rival = rivalOf(results, point, over);
    return rival === null ? interval([]) : gain(own, results.of(rival, metric));
  }
  if (!among) return interval([...own.values()]);
  const other = results.of(point, among);
  return interval([...own].map(([k, v]) => {
    const whole = (v ?? 0) + (other.get(k) ?? 0);
    return v === null || other.get(k) === null || !whole ? null : v / whole;
  }));
}

/** What the runs of a point have of a metric, or of its gain. */
function runsAt(results, { "gain-over": over }, point, metric) {
  const own = results.of(point, metric), rival = over ? rivalOf(results, point, over) : null, below = rival === null ? null : results.of(rival, metric);
  if (!over) return [...own.values()].filter((v) => v !== null);
  return [...own].flatMap(([k, v]) => (v !== null && below?.get(k) ? [v / below.get(k) - 1] : []));
}

const common = (figure, results, caption) => ({
  id: figure.id, title: figure.title ?? results.about.title ?? figure.id, caption, legend: "", notes: [], tables: [],
});

function countsOf(numbers) {
  const n = [...new Set(numbers)].sort((a, b) => a - b);
  return n.length > 1 ? `n = ${n[0]} to ${n.at(-1)}` : `n = ${n[0]}`;
}

const counted = (results, points) => countsOf(points.map(({ point }) => results.rows[point].size));
const united = (label, unit) => (unit && !label.includes("(") && !label.split(" ").includes(unit) ? `${label} (${unit})` : label);

/** The elements of a box plot: lower whisker, quartiles, upper whisker, and the outliers. */
function boxOfRuns(values) {
  const sorted = [...values].sort((a, b) => a - b);
  if (!sorted.length) return [];
  const quantile = (share) => {
    const place = share * (sorted.length - 1), below = Math.min(Math.floor(place), Math.max(sorted.length - 2, 0)), above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  };
  const [first, half, third] = [0.25, 0.5, 0.75].map(quantile), reach = 1.5 * (third - first), isWithin = (v) => first - reach <= v && v <= third + reach;
  const inside = sorted.filter(isWithin);
  return [Math.min(inside[0], first), first, half, third, Math.max(inside.at(-1), third), sorted.filter((v) => !isWithin(v))];
}

/** A metric over a swept key. */
function overKey(results, figure) {
  const x = (figure.kind === "bar" || figure.kind === "box" ? evenAxisOf : axisOf)(results, figure.x, figure["x-label"], figure["x-scale"]), points = chosen(results, figure), names = namesOf(results, figure), over = figure["gain-over"];
  const labels = [...new Set(points.map((it) => it.label))], intervals = [];
  // A list within y is drawn on one axis.
  const panels = listed(figure.y).map(listed).map((metrics) => {
    const lines = metrics.flatMap((metric) => labels.map((label) => {
      const found = points.filter((it) => it.label === label).map((it) => ({ ...it, mean: shownAt(results, figure, it.point, metric) }));
      const own = metrics.length > 1 ? names[metric] ?? results.words(metric) : "";
      return { name: [own, label].filter(Boolean).join(", "), metric, found: found.filter((it) => it.mean.n) };
    })).filter(({ found }) => found.length);
    intervals.push(...lines.flatMap(({ found }) => found.map((it) => it.mean)));
    const largest = Math.max(0, ...lines.flatMap(({ found }) => found.map((it) => Math.abs(it.mean.mean))));
    const { unit: plain, label: told } = results.metrics.get(metrics[0]) ?? {}, [factor, unit] = over ? [0.01, "%"] : prefix(largest, plain);
    const scaled = (found, part) => found.map((it) => (it.mean[part] === null ? null : it.mean[part] / factor));
    // Of a few runs each is drawn instead.
    const side = (found, part) => scaled(found, part).map((v, i) => (found[i].mean.n < FEWEST ? null : v));
    const series = lines.map(({ name, metric, found }, i) => {
      const runs = found.map((it) => runsAt(results, figure, it.point, metric).map((v) => v / factor));
      const more = figure.kind === "box" ? { boxes: runs.map(boxOfRuns) } : found.some((it) => it.mean.n < FEWEST) ? { each: runs.map((values, j) => (found[j].mean.n < FEWEST ? values : [])) } : {};
      return {
        name, look: lookOf(found[0].line, i), points: found.map((it) => it.point), x: found.map((it) => x.at.get(it.values[figure.x])),
        y: scaled(found, "mean"), low: side(found, "low"), high: side(found, "high"), n: found.map((it) => it.mean.n), ...more,
      };
    });
    const label = figure["y-label"] ?? `${over ? "gain in " : ""}${metrics.length > 1 ? told : results.words(metrics[0])}`;
    return { label: united(label, unit ?? ""), unit: unit ?? "", log: figure["y-scale"] === "log", series };
  });
  const style = { bar: "bar", box: "box" }[figure.kind] ?? (x.words.length || figure.kind === "dots" ? "dots" : "lines");
  const spread = style === "box" ? "median, quartiles, and the runs within 1.5 quartile distances" : intervals.every((it) => it.n < FEWEST) ? "mean and each run" : "mean and 95 % confidence interval (Student t)";
  return {
    ...common(figure, results, `${spread}, ${countsOf(intervals.map((it) => it.n))}`), form: "xy", style, panels,
    x: { label: x.label, unit: x.unit, words: x.words.map((word) => names[word] ?? word), log: x.log },
  };
}

/** A metric against another: each point as its mean, with an ellipse of one standard deviation or its runs. */
function scatter(results, figure) {
  const { against: across, y: up } = figure, names = namesOf(results, figure), lines = new Map();
  for (const { values, point } of chosen(results, figure)) {
    const label = names[values[figure.lines]] ?? values[figure.lines] ?? "", [xs, ys] = [results.of(point, across), results.of(point, up)];
    const pairs = [...xs].flatMap(([k, x]) => (x !== null && (ys.get(k) ?? null) !== null ? [[x, ys.get(k)]] : []));
    lines.set(label, [...(lines.get(label) ?? []), ...(pairs.length ? [{ point, pairs }] : [])]);
  }
  const every = [...lines.values()].flat(), unit = (name) => results.metrics.get(name)?.unit ?? "";
  const [xScale, yScale] = [across, up].map((metric, i) => prefix(Math.max(...every.flatMap(({ pairs }) => pairs.map((pair) => Math.abs(pair[i])))), unit(metric)));
  const series = [...lines].map(([name, found], i) => {
    const scaled = found.map(({ pairs }) => pairs.map(([x, y]) => [x / xScale[0], y / yScale[0]])), middles = scaled.map(middleOf);
    return {
      name, look: lookOf(Object.keys(names).find((text) => names[text] === name) ?? name, i), points: found.map(({ point }) => point),
      x: middles.map(([x]) => x), y: middles.map(([, y]) => y), n: scaled.map((pairs) => pairs.length),
      spread: scaled.map((pairs) => (pairs.length >= FEWEST ? spreadOf(pairs) : [])), each: scaled.map((pairs) => (pairs.length < FEWEST ? pairs : [])),
    };
  });
  const n = every.map(({ pairs }) => pairs.length), words = (metric) => results.metrics.get(metric)?.label ?? metric;
  return {
    ...common(figure, results, `${Math.max(...n) < FEWEST ? "mean and each run" : "mean and ellipse of one standard deviation"}, ${countsOf(n)}`), form: "scatter",
    x: { label: united(figure["x-label"] ?? words(across), xScale[1]), unit: xScale[1], words: [], log: figure["x-scale"] === "log" },
    panels: [{ label: united(figure["y-label"] ?? words(up), yScale[1]), unit: yScale[1], log: figure["y-scale"] === "log", series }],
  };
}

const middleOf = (pairs) => [0, 1].map((i) => pairs.reduce((sum, pair) => sum + pair[i], 0) / pairs.length);

/** The ellipse of one standard deviation: x varies by a cos t, and y by b cos t + c sin t. */
function spreadOf(pairs) {
  const [mx, my] = middleOf(pairs), away = pairs.map(([x, y]) => [x - mx, y - my]), n = pairs.length - 1;
  const of = (i, j) => away.reduce((sum, pair) => sum + pair[i] * pair[j], 0) / n;
  // The Cholesky factor of the covariance takes the unit circle to the ellipse.
  const a = Math.sqrt(of(0, 0)), b = a ? of(0, 1) / a : 0;
  return [a, b, Math.sqrt(Math.max(of(1, 1) - b * b, 0))];
}

/** A metric for each value of one swept key and each of another. */
function matrix(results, figure) {
  const { rows, columns, y: metric, "gain-over": over, among } = figure, names = namesOf(results, figure), cells = new Map();
  const [down, across] = [rows, columns].map((key) => results.about.axes.find((axis) => axis.keys.includes(key)).keys);
  const placeOf = (values, keys) => JSON.stringify(keys.map((key) => values[key])), points = chosen(results, figure);
  for (const { values, point } of points) {
    const row = placeOf(values, down), column = placeOf(values, across);
    if (!cells.has(row)) cells.set(row, new Map());
    if (cells.get(row).has(column)) throw new Error(`figure ${figure.id}: several points in one cell; expected where to select one`);
    cells.get(row).set(column, shownAt(results, figure, point, metric));
  }
  const places = [...new Set(points.map(({ values }) => placeOf(values, across)))];
  const found = [...cells.values()].map((row) => places.map((place) => row.get(place) ?? null)), known = found.flat().filter((it) => it?.mean !== null && it);
  if (!known.length) throw new Error(`figure ${figure.id}: no finished run`);
  const { unit: plain, label: told } = results.metrics.get(metric), [factor, unit] = over || among ? [0.01, "%"] : prefix(Math.max(...known.map((it) => Math.abs(it.mean))), plain);
  const largest = Math.max(...known.map((it) => Math.abs(it.mean / factor))), decimals = largest ? Math.max(1, 2 - Math.floor(Math.log10(largest))) : 1;
  const text = (it) => {
    const half = it.low === null ? 0 : (it.high - it.low) / 2;
    if (half && it.n >= FEWEST) return plusMinus(it.mean, it.low, it.high, factor);
    return it.mean === 0 ? digits(0) : (it.mean / factor).toFixed(decimals);
  };
  const cell = (it) => (it && it.mean !== null ? [text(it), it.mean / factor, it.low === null ? null : it.low / factor, it.high === null ? null : it.high / factor, it.n] : null);
  const words = united(`${among ? "share of " : over ? "gain in " : ""}${told}`, unit), colours = over ? "the gain" : among ? "from one half" : "against the first row of the column";
  const spread = known.some((it) => it.n >= FEWEST) ? "mean ± half-width of the 95 % interval" : "mean";
  return {
    ...common(figure, results, `${words}, ${spread}, ${countsOf(known.map((it) => it.n))}; colour: ${colours}`), form: "matrix", unit,
    rows: namedRows(down, rows, [...cells.keys()].map((it) => JSON.parse(it)), names, figure.names ?? {}),
    columns: namedRows(across, columns, places.map((it) => JSON.parse(it)), names, figure.names ?? {}), shades: shadesOf(found, { over, among }), cells: found.map((row) => row.map(cell)),
  };
}

/** The labels of rows or columns: of keys that advance together, the name of all, or what differs from the first. */
function namedRows(keys, own, rows, names, given) {
  if (keys.length === 1) return rows.map(([text]) => names[text] ?? text);
  const short = shortened(keys);
  return rows.map((row) => given[row.join(", ")] || given[row[keys.indexOf(own)]]
    || row.flatMap((text, i) => (text === rows[0][i] ? [] : [`${short[i]} = ${names[text] ?? text}`])).join(", ") || "unchanged");
}

/** Keys shortened to the fewest last words that distinguish them. */
function shortened(keys) {
  for (let count = 1; count <= Math.max(...keys.map((key) => key.split(".").length)); count++) {
    const found = keys.map((key) => key.split(".").slice(-count).join("."));
    if (new Set(found).size === found.length) return found;
  }
  return keys;
}

/** The distance of each cell from its reference, from -1 to 1; null if there is none. */
function shadesOf(cells, { over, among }) {
  const of = (change) => cells.map((row) => row.map((it, i) => (it?.mean === null || !it ? null : change(it.mean, i))));
  if (among) return of((mean) => 2 * mean - 1);
  const first = cells[0].map((it) => it?.mean ?? null), away = over ? of((mean) => mean) : of((mean, i) => (first[i] ? mean / first[i] - 1 : null));
  // Twice the reference or more has the strongest colour; small differences stay pale.
  const scale = Math.min(1, Math.max(0.2, ...away.flat().filter((it) => it !== null).map(Math.abs)));
  return away.map((row) => row.map((it) => (it === null ? null : over ? it / scale : Math.max(-1, Math.min(1, it / scale)))));
}

/** The 802.11 links that report their airtime. */
const airtimeLinks = (results) => results.names().flatMap((name) => /^links\.(.+)\.airtime_idle_s$/.exec(name)?.[1] ?? []);

/** The use of the time of an 802.11 link. */
function airtime(results, figure) {
  const link = figure.link ?? airtimeLinks(results)[0], names = namesOf(results, figure);
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

/** The share of transfers of a class that are completed within a time, of all replications together. */
function responses(results, figure) {
  const points = chosen(results, { ...figure, x: undefined }).filter(({ point }) => results.transfers[point].size), lines = new Map();
  for (const { point, label } of points) {
    const own = [...results.transfers[point].values()].flat().filter(([flow, table, kind]) => kind === figure.class && [undefined, flow, table].includes(figure.flow));
    lines.set(label, [...(lines.get(label) ?? []), ...own.map(([, , , time, ended]) => ({ time, ended }))]);
  }
  const longest = [...lines.values()].flat().reduce((most, it) => Math.max(most, it.time), 0), [factor, unit] = prefix(longest, "s");
  if (!longest) throw new Error("no transfers; expected at least one");
  const series = [...lines].filter(([, lasted]) => lasted.length).map(([label, lasted], i) => {
    const curve = overBy(lasted), kept = thin(curve.y), unfinished = lasted.filter((it) => !it.ended).length, about = `${lasted.length - unfinished} completed, ${unfinished} unfinished`;
    return { name: label ? `${label} (${about})` : about, look: lookAt(i), x: kept.map((at) => curve.x[at] / factor), y: kept.map((at) => curve.y[at]), step: true, dots: false };
  });
  return {
    ...common(figure, results, `Kaplan-Meier, unfinished transfers censored, ${counted(results, points)}`), form: "curve",
    x: { label: `response time of ${figure.class} (${unit})`, unit, from: 0, to: (1.02 * longest) / factor, words: [], log: figure["x-scale"] === "log" },
    panels: [{ label: "share completed", unit: "", log: false, floats: false, to: 1.02, series }],
  };
}

// What draws each kind, and the metrics and the swept keys that it needs.
const DRAWN = {
  airtime: [airtime, () => [], () => []],
  cdf: [responses, () => [], () => []],
  scatter: [scatter, (figure) => [figure.against, figure.y], () => []],
  matrix: [matrix, (figure) => [figure.y, figure.among ?? figure.y], (figure) => [figure.rows, figure.columns]],
  ...Object.fromEntries(["lines", "bar", "box", "dots"].map((kind) => [kind, [overKey, (figure) => listed(figure.y).flat(), (figure) => [figure.x]]])),
};

/** A figure, or why there is none. */
function drawnOf(make, results, figure) {
  try {
    return make(results, figure);
  } catch (error) {
    return { ...common(figure, results, ""), form: "none", error: error.message };
  }
}

/** The figures of the scenario that a page draws over the sweep, or one made of what is swept. */
function figuresOf(results) {
  const { axes, figures } = results.about, known = new Set(results.names()), swept = new Set(axes.flatMap((axis) => axis.keys));
  const ready = figures.flatMap((figure) => {
    const [make, metrics, keys] = DRAWN[figure.kind ?? "lines"] ?? [];
    const isReady = make && (make !== airtime || airtimeLinks(results).length) && metrics(figure).every((it) => known.has(it)) && keys(figure).every((it) => swept.has(it));
    return isReady ? [drawnOf(make, results, figure)] : [];
  });
  if (ready.length || !axes.length || figures.some(isTimed)) return ready;
  const numeric = axes.findLast((axis) => axis.numbers.every((row) => row[0] !== null)) ?? axes.at(-1);
  const lines = axes.find((axis) => axis !== numeric);
  const y = [...known].find((name) => /^(flows|groups)\..*goodput_bps$/.test(name)) ?? [...known][0];
  return y ? [overKey(results, { id: "swept", title: results.words(y), x: numeric.keys[0], y, lines: lines?.keys[0] })] : [];
}
