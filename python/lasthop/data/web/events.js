// The trace of events of a run: its rows, its names, and the period that is shown; the rules of views/events.py and views/arrows.py.

const NAMES = {
  ack: "ACK", syn: "SYN", "syn-ack": "SYN-ACK", fin: "FIN", reset: "RST", rts: "RTS", cts: "CTS", null: "Null", beacon: "beacon", "cf-end": "CF-End",
  datagram: "datagram", "a-mpdu": "A-MPDU", "block-ack": "BlockAck", "block-ack-request": "BlockAckReq", trigger: "trigger", "mu-rts": "MU-RTS",
};
const KIND_OF = { data: "data", ack: "ack", fin: "control", datagram: "datagram" };
const TRANSPORTS = ["tcp", "udp"];
// Events of a run before it is known whether they are enough, and the most that a page takes.
const FIRST_EVENTS = 20_000, MOST_EVENTS = 1_280_000;

/** The rows of a trace, which comes as columns. */
function rowsOf(table) {
  const names = Object.keys(table);
  return table.time_s.map((_, i) => Object.fromEntries(names.map((name) => [name, table[name][i]])));
}

/** The times of the first segments: of the first, and of the last event before one too many; and how many there are. */
function firstSegments(rows, begin, count) {
  let first = null, last = null, segments = 0;
  for (const row of rows) {
    if (begin !== null && row.time_s < begin) continue;
    if (TRANSPORTS.includes(row.layer) && row.event === "send") {
      first ??= row.time_s;
      segments++;
    }
    if (segments > count) break;
    last = row.time_s;
  }
  return { first, last, segments };
}

/**
 * A run with the rows of its trace, up to a time, or else long enough for so many segments from `begin` on, and the period of
 * these; `ask` runs it up to a number of events.
 */
async function eventsOf(ask, begin, count, end = null) {
  for (let most = FIRST_EVENTS; ; most *= 8) {
    const run = await ask(most);
    if (!run || run.error) return { run };
    const rows = rowsOf(run.traces.events), { first, last, segments } = firstSegments(rows, begin, count);
    const isStopped = run.stopped === "max-events" && most < MOST_EVENTS;
    const isEnough = end === null ? segments > count : run.simulated_s > end;
    if (!isStopped || isEnough) return { run, rows, period: first === null ? null : [begin ?? first, end ?? last] };
  }
}

/** The nodes in the order in which packets pass them, from the one that sends the first data. */
function ordered(paths, first) {
  const near = new Map(), order = [];
  for (const [one, other] of paths) {
    for (const [a, b] of [[one, other], [other, one]]) {
      if (!near.has(a)) near.set(a, []);
      if (a !== b && !near.get(a).includes(b)) near.get(a).push(b);
    }
  }
  for (const start of [...(near.has(first) ? [first] : []), ...near.keys()]) {
    const stack = [start];
    while (stack.length) {
      const node = stack.pop();
      if (order.includes(node)) continue;
      order.push(node);
      stack.push(...[...(near.get(node) ?? [])].reverse());
    }
  }
  return order;
}
