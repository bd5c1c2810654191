// A run over time: its columns as objects, and what is so at a time. Times are seconds from the begin of the period.

/** The number of the first entry of an ascending list that is greater than a value. */
function after(list, value, of = (entry) => entry) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const MAC = /^(RTS|MU-RTS|CTS|MAC ACK|Null|beacon|CF-End|BlockAck|BlockAckReq|trigger)\b/i;

class Film {
  constructor(run, data) {
    const per = data.perSecond, texts = data.texts;
    // Sums stay whole numbers, so that a frame ends exactly when its event is.
    const sums = (steps) => { let sum = 0; return steps.map((step) => (sum += step)); };
    const times = (steps) => sums(steps).map((sum) => sum / per);
    const filled = (text, n) => texts[text].replaceAll("#", n);
    this.title = run.title;
    this.nodes = run.nodes;
    this.agents = new Set(run.agents);
    this.hosts = new Set(run.hosts);
    this.links = run.links;
    this.places = run.places;
    this.length = data.period[1] - data.period[0];
    const f = run.flights;
    this.flights = sums(f.t).map((at, i) => {
      const [source, target, link] = run.ways[f.way[i]];
      return {
        i, t: at / per, end: (at + f.d[i]) / per, off: (at + f.air[i]) / per, source, target, link, kind: data.kinds[f.kind[i]].id, number: f.kind[i],
        name: filled(f.what[i], f.n[i]), lost: texts[f.lost[i]], attempt: f.attempt[i], again: Boolean(f.state[i] & 1), made: Boolean(f.state[i] & 2),
        isMac: MAC.test(texts[f.what[i]]),
      };
    });
    this.fell = new Set(this.flights.filter((one) => one.lost).map((one) => one.end));
    this.longest = this.flights.reduce((most, one) => Math.max(most, one.end - one.t), 0);
    const w = run.waits;
    this.waits = sums(w.t).map((at, i) => ({ t: at / per, end: (at + w.d[i]) / per, node: w.node[i], number: w.kind[i] }));
    const e = run.events;
    this.events = times(e.t).map((t, i) => ({
      t, node: e.node[i], sort: run.sorts[e.sort[i]], text: filled(e.text[i], e.n[i]), why: filled(e.why[i], e.n[i]), isMac: MAC.test(texts[e.text[i]]),
    }));
    this.windows = Object.fromEntries(Object.entries(run.windows).map(([flow, s]) => [flow, { t: times(s.t), cwnd: s.cwnd, ssthresh: s.ssthresh }]));
    this.arrivals = times(run.received.t);
    let bytes = 0;
    this.bytes = run.received.b.map((b) => (bytes += b));
    this.queues = this.nodes.map((_, node) => this.lengths(node));
  }

  /** The length of a queue over time: when it changed, and to what. */
  lengths(node) {
    const changes = this.waits.filter((one) => one.node === node).flatMap((one) => [[one.t, 1], [one.end, -1]]).sort((a, b) => a[0] - b[0]);
    const found = { t: [0], n: [0] };
    for (const [t, by] of changes) {
      const at = Math.max(0, t), n = found.n.at(-1) + by;
      if (found.t.at(-1) === at) found.n[found.n.length - 1] = n;
      else { found.t.push(at); found.n.push(n); }
    }
    return found;
  }

  /** The frames that are on their way. */
  flying(t) {
    const found = [];
    for (let i = after(this.flights, t - this.longest - 1e-9, (one) => one.t); i < this.flights.length && this.flights[i].t <= t; i++) {
      if (this.flights[i].end > t) found.push(this.flights[i]);
    }
    return found;
  }

  /** The frames that were lost a short time ago. */
  fallen(t, fade) {
    const found = [];
    for (let i = after(this.flights, t - this.longest - fade - 1e-9, (one) => one.t); i < this.flights.length && this.flights[i].t <= t; i++) {
      const one = this.flights[i];
      if (one.lost && one.end <= t && one.end > t - fade) found.push(one);
    }
    return found;
  }

  /** The packets in the queue of a node. */
  waiting(node, t) {
    return this.waits.filter((one) => one.node === node && one.t <= t && one.end > t);
  }

  /** What happened in a stretch of time, its begin excluded. */
  happened(from, to) {
    return this.events.slice(after(this.events, from, (one) => one.t), after(this.events, to, (one) => one.t));
  }

  step(series, t, values) {
    const i = after(series.t, t) - 1;
    return i < 0 ? null : values[i];
  }

  /** Bytes that have arrived. */
  received(t) {
    const i = after(this.arrivals, t) - 1;
    return i < 0 ? 0 : this.bytes[i];
  }
}
