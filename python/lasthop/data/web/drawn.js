// Runs in the page, and quantities of one of them over time, in the form that figure.js draws.

const SETUP = JSON.parse($("#setup").textContent);

/** Runs in the page: the metrics of each point by replication. */
class Results {
  constructor(scenario, about) {
    Object.assign(this, { scenario, about });
    this.metrics = new Map(about.metrics.map((metric) => [metric.name, metric]));
    this.rows = about.points.map(() => new Map());
    this.series = about.points.map(() => new Map());
    this.transfers = about.points.map(() => new Map());
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

const lookAt = (place) => SETUP.looks[place % SETUP.looks.length];

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
