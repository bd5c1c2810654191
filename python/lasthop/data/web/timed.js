// Figures of kind time: quantities of flows from the traces of replication 0, and from the bins of all.

const SECONDS = { min: 60, s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6 };
// Runs of which each is drawn, since an interval of so few mostly shows how few they are.
const FEWEST = 4;

/** A time of a scenario in seconds. */
function secondsOf(text) {
  const found = /^([\d.]+)\s*(\S+)$/.exec(text ?? "");
  return found && found[2] in SECONDS ? Number(found[1]) * SECONDS[found[2]] : null;
}

/** Whether a page draws a figure of kind time. */
const isTimed = (figure) => figure.kind === "time" && figure.panels.every((name) => name in SETUP.quantities);

/** The flows that send in the runs of a point. */
function flowsAt(results, point) {
  const [metrics] = results.rows[point].values();
  return Object.keys(metrics ?? {}).flatMap((name) => /^flows\.(.+)\.(?:segments|packets)_sent$/.exec(name)?.[1] ?? []);
}

/** A quantity of a flow in a trace; null if there is none. */
function tracedLine(table, { column, holds, steps }, flow, end) {
  const x = [], y = [];
  table?.flow.forEach((name, i) => {
    if (name !== flow || table[column][i] === null) return;
    x.push(table.time_s[i]);
    y.push(table[column][i]);
  });
  if (!x.length) return null;
  if (holds) { x.push(end); y.push(y.at(-1)); }
  return { x, y, step: holds || steps };
}

/** What arrived in the bins of the runs of a flow: at which rate, or how much up to then. */
function binnedLine(runs, width, end, isSum) {
  const known = runs.filter(Boolean);
  if (!known.length || width === null) return null;
  const x = Array.from({ length: known[0].length + 1 }, (_, i) => Math.min(i * width, end));
  const values = known.map((rates) => {
    if (!isSum) return [...rates, rates.at(-1)];
    let total = 0;
    return [0, ...rates.map((rate, i) => (total += (rate * (x[i + 1] - x[i])) / 8))];
  });
  const means = x.map((_, i) => interval(values.map((run) => run[i])));
  const side = (name) => means.map((it) => (it[name] === null ? null : Math.max(0, it[name])));
  const spread = known.length < FEWEST ? { each: known.length > 1 ? values : [] } : { low: side("low"), high: side("high") };
  return { x, y: means.map((it) => it.mean), step: !isSum, ...spread };
}

/** A figure of kind time; `ask` answers calls about the scenario. */
async function timeFigure(results, figure, ask) {
  const wanted = figure.panels.map((name) => [name, SETUP.quantities[name], []]);
  const channels = [...new Set(wanted.map(([, { channel }]) => channel).filter(Boolean))];
  const until = secondsOf(figure.until), places = new Map();
  let end = 0;
  for (const { point, label } of chosen(results, figure)) {
    const keys = await ask({ do: "resolved", point }), value = (key) => secondsOf(keys.find((it) => it.key === key)?.value);
    const run = await ask({ do: "run", point, seed: results.about.seed, replication: 0, trace: channels });
    if (run.error) throw new Error(run.error);
    const flows = figure.flow ? [figure.flow] : flowsAt(results, point);
    for (const flow of flows) {
      const name = [label, flows.length > 1 ? flow : ""].filter(Boolean).join(", ");
      for (const [panel, quantity, lines] of wanted) {
        const bins = [...results.series[point].values()].map((series) => series[`flows.${flow}.goodput_bps`]);
        const line = quantity.channel
          ? tracedLine(run.traces[quantity.channel], quantity, flow, run.simulated_s)
          : binnedLine(bins, value("run.bin"), run.simulated_s, panel === "received");
        if (!line) continue;
        if (!places.has(name)) places.set(name, places.size);
        lines.push({ name, look: lookAt(places.get(name)), ...line });
        end = Math.max(end, line.x.at(-1));
      }
    }
  }
  const panels = wanted.map(([, { words, unit }, lines]) => {
    const [factor, scaled] = prefix(Math.max(0, ...lines.flatMap((line) => line.y)), unit);
    const divided = (values) => values?.map((v) => (v === null ? null : v / factor));
    const series = lines.map((line) => {
      const kept = thin(line.y), of = (values) => divided(values && kept.map((at) => values[at]));
      return { ...line, x: kept.map((at) => line.x[at]), y: of(line.y), low: of(line.low), high: of(line.high), each: line.each?.map(of) };
    });
    return { label: scaled ? `${words} (${scaled})` : words, unit: scaled, log: false, floats: false, series };
  });
  const n = Math.max(...results.rows.map((row) => row.size));
  return {
    ...common(figure, results, channels.length ? "replication 0; bins are means" : `mean${n > 1 ? "s" : ""} of n = ${n}`), form: "curve", panels,
    x: { label: "simulated time (s)", unit: "s", from: secondsOf(figure.since) ?? 0, to: until ?? 1.02 * end, words: [], log: false },
  };
}
