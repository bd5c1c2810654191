// Figures of kind time: quantities of flows from the traces of replication 0, and from the bins of all; the rules of
// views/timeline.py and views/packets.py, held equal by a test.

const SECONDS = { min: 60, s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6 };
// Runs of which each is drawn, since an interval of so few mostly shows how few they are.
const FEWEST = 4;
const ACKED = ["ack", "partial", "dupack"];

/** A time of a scenario in seconds. */
function secondsOf(text) {
  const found = /^([\d.]+)\s*(\S+)$/.exec(text ?? "");
  return found && found[2] in SECONDS ? Number(found[1]) * SECONDS[found[2]] : null;
}

/** Whether a page draws a figure of kind time. */
const isTimed = (figure) => figure.kind === "time";
const mostIn = (values) => values.reduce((most, value) => Math.max(most, value ?? 0), 0);

/** The flows that send in the runs of a point. */
function flowsAt(results, point) {
  const [metrics] = results.rows[point].values();
  return Object.keys(metrics ?? {}).flatMap((name) => /^flows\.(.+)\.(?:segments|packets)_sent$/.exec(name)?.[1] ?? []);
}

const labelled = (label, what) => (label ? `${label}: ${what}` : what);

/** A line through the values of a trace in some of its rows; none without rows. */
function lineOf(name, table, rows, value, more) {
  return rows.length ? [{ name, x: rows.map((i) => table.time_s[i]), y: rows.map(value), ...more }] : [];
}

/** The lines of a flow in a panel, from a trace. */
function tracedLines(panel, { channel, column, holds, steps }, tables, flow, label) {
  const table = tables[channel], rows = table?.flow.flatMap((name, i) => (name === flow ? [i] : [])) ?? [];
  if (panel === "sequence") return sequenceLines(table, rows, label);
  if (panel === "released") return releasedLine(table, rows, label);
  if (channel === "jitter") return ratioLines(table, rows, label);
  return lineOf(label, table, rows.filter((i) => table[column][i] !== null), (i) => table[column][i], { step: holds || steps, holds });
}

/** Numbers of the packets that were sent and acknowledged; the size of a packet is the largest that was sent. */
function sequenceLines(table, rows, label) {
  const size = mostIn(rows.map((i) => table.len[i])) || 1, of = (...events) => rows.filter((i) => events.includes(table.event[i]));
  const packet = (i) => Math.floor(table.seq[i] / size) + 1, acknowledged = (i) => Math.floor(table.ack[i] / size);
  return [
    ...lineOf(labelled(label, "sent"), table, of("send"), packet, { dots: true }),
    ...lineOf(labelled(label, "sent again"), table, of("resend"), packet, { dots: true }),
    ...lineOf(labelled(label, "acknowledged"), table, of(...ACKED), acknowledged, { step: true }),
  ];
}

/** How many packets left at the time of each acknowledgement that released some. */
function releasedLine(table, rows, label) {
  const counts = new Map();
  let acked = null;
  for (const i of rows) {
    if (ACKED.includes(table.event[i])) acked = i;
    else if (["send", "resend"].includes(table.event[i]) && table.time_s[i] === table.time_s[acked]) counts.set(acked, (counts.get(acked) ?? 0) + 1);
  }
  return lineOf(label || "left at once", table, [...counts.keys()], (i) => counts.get(i), { dots: true });
}

/** The jitter ratio of each law, and the threshold, which is the same for all. */
function ratioLines(table, rows, label) {
  const laws = [...new Set(rows.map((i) => table.law[i]))], of = (law) => rows.filter((i) => table.law[i] === law);
  const ratios = laws.flatMap((law) => lineOf(labelled(label, SETUP.titles.congestion[law] ?? law), table, of(law), (i) => table.ratio[i], { step: true }));
  return [...ratios, ...lineOf(labelled(label, "threshold"), table, of(laws[0]), (i) => table.threshold[i], { step: true })];
}

/** What arrived in the bins of the runs of a flow: at which rate, or how much up to then. */
function binnedLines(runs, width, end, isSum, name) {
  const known = runs.filter(Boolean);
  if (!known.length || width === null) return [];
  const x = Array.from({ length: known[0].length + 1 }, (_, i) => Math.min(i * width, end));
  const values = known.map((rates) => {
    if (!isSum) return [...rates, rates.at(-1)];
    let total = 0;
    return [0, ...rates.map((rate, i) => (total += (rate * (x[i + 1] - x[i])) / 8))];
  });
  const means = x.map((_, i) => interval(values.map((run) => run[i])));
  const side = (name) => means.map((it) => (it[name] === null ? null : Math.max(0, it[name])));
  const spread = known.length < FEWEST ? { each: known.length > 1 ? values : [] } : { low: side("low"), high: side("high") };
  return [{ name, x, y: means.map((it) => it.mean), step: !isSum, isBinned: !isSum, ...spread }];
}

/** Held values last to the end of the flow in its round trips, or else of the run. */
function hold(panels, horizon) {
  const last = new Map();
  for (const [, { channel }, lines] of panels) if (channel === "rtt") for (const { name, x } of lines) last.set(name, Math.max(last.get(name) ?? 0, x.at(-1)));
  for (const [, , lines] of panels) for (const line of lines) {
    const end = last.get(line.name) ?? horizon;
    if (line.holds && end > line.x.at(-1)) { line.x.push(end); line.y.push(line.y.at(-1)); }
  }
}

/** The places of a line that a figure from a time on shows, and one at each end. */
function placesWithin({ x, isBinned }, since, until) {
  const places = [...x.keys()];
  if (since === null || isBinned) return places;
  const begin = x.findIndex((at) => at >= since), end = until === null ? -1 : x.findIndex((at) => at > until);
  return places.slice(Math.max((begin < 0 ? x.length : begin) - 1, 0), end < 0 ? x.length : end + 1);
}

/** A figure of kind time; `ask` answers calls about the scenario. */
async function timeFigure(results, figure, ask) {
  const wanted = figure.panels.map((name) => [name, SETUP.quantities[name], []]);
  const channels = [...new Set(wanted.map(([, { channel }]) => channel).filter(Boolean))];
  const since = secondsOf(figure.since), until = secondsOf(figure.until);
  let horizon = 0;
  for (const { point, label } of chosen(results, figure)) {
    const keys = await ask({ do: "resolved", point }), value = (key) => secondsOf(keys.find((it) => it.key === key)?.value);
    const run = await ask({ do: "run", point, seed: results.about.seed, replication: 0, trace: channels });
    if (run.error) throw new Error(run.error);
    horizon = Math.max(horizon, run.simulated_s);
    const flows = figure.flow ? [figure.flow] : flowsAt(results, point);
    for (const flow of flows) {
      const name = [label, flows.length > 1 ? flow : ""].filter(Boolean).join(", ");
      for (const [panel, quantity, lines] of wanted) {
        const bins = [...results.series[point].values()].map((series) => series[`flows.${flow}.goodput_bps`]);
        lines.push(...(quantity.channel
          ? tracedLines(panel, quantity, run.traces, flow, name)
          : binnedLines(bins, value("run.bin"), run.simulated_s, panel === "received", name)));
      }
    }
  }
  hold(wanted, horizon);
  const every = wanted.flatMap(([, , lines]) => lines), names = [...new Set(every.map(({ name }) => name))];
  if (!every.length) throw new Error("no data over time");
  const end = mostIn(every.map(({ x }) => x.at(-1)));
  const panels = wanted.map(([name, { words, unit }, lines]) => {
    const [factor, scaled] = prefix(mostIn(lines.map(({ y }) => mostIn(y))), unit);
    const series = lines.map((line) => {
      const shown = placesWithin(line, since, until), kept = thin(shown.map((at) => line.y[at])).map((at) => shown[at]);
      const of = (values) => values && kept.map((at) => (values[at] === null ? null : values[at] / factor));
      return { ...line, look: lookAt(names.indexOf(line.name)), x: kept.map((at) => line.x[at]), y: of(line.y), low: of(line.low), high: of(line.high), each: line.each?.map(of) };
    });
    return { label: scaled ? `${words} (${scaled})` : words, unit: scaled, log: false, floats: name === "sequence", series };
  });
  const n = Math.max(...results.rows.map((row) => row.size));
  return {
    ...common(figure, results, channels.length ? "replication 0; bins are means" : `mean${n > 1 ? "s" : ""} of n = ${n}`), form: "curve", panels,
    x: { label: "simulated time (s)", unit: "s", from: since ?? 0, to: until ?? 1.02 * end, words: [], log: false },
  };
}
