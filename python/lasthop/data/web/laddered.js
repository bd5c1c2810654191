// The ladder of a run, of the rows of its trace: segments between nodes, or frames on the media; what views/ladder.py makes, held equal by a test.

// How long after the period something that began within it may end, in seconds.
const LADDER_PATIENCE = 60;
const SENT_AGAIN = ["timeout", "fast-retransmit", "again", "probe"];
const HOST = "host", AGENT = "agent";

/** A packet in words: its kind, with the number of its first byte or the number that it acknowledges. */
function wordsOf({ what, seq, len, ack }) {
  if (what === "data" || (what === "fin" && len > 0)) return `data ${seq}`;
  if (what === "datagram") return `datagram ${seq}`;
  return what === "ack" ? `${NAMES.ack} ${ack}` : NAMES[what] ?? what;
}

const spot = (time, node, seat) => ({ time, node, seat });
const isSpot = (a, b) => a.time === b.time && a.node === b.node && a.seat === b.seat;

class LadderOf {
  constructor([begin, end], isOfFrames) {
    Object.assign(this, { begin, end, isOfFrames, arrows: [], marks: [], windows: [] });
    Object.assign(this, { packets: new Map(), frames: new Map(), timers: new Map(), hosts: new Set(), agents: new Set(), paths: [], from: "", receives: null });
    // The A-MPDU that has ended last, and the last one shown by receiver and sender.
    Object.assign(this, { aggregate: null, answered: new Map() });
  }

  /** Takes all rows that the period needs. */
  static of(rows, period, isOfFrames) {
    const ladder = new LadderOf(period, isOfFrames), [, end] = period;
    for (const row of rows) {
      if (row.time_s > end && (ladder.isComplete() || row.time_s > end + LADDER_PATIENCE)) break;
      ladder.take(row);
    }
    ladder.seats = [...ladder.agents].filter((node) => ladder.hosts.has(node));
    ladder.nodes = ordered(ladder.paths, ladder.from);
    for (const arrow of ladder.arrows) {
      const failed = arrow.lost ? 0 : arrow.parts.filter((part) => part.lost).length;
      if (arrow.parts.length) arrow.label = `A-MPDU ${arrow.parts.length}${failed ? `, ${failed} lost` : ""}`;
    }
    ladder.nameLinks();
    ladder.arrows.sort((a, b) => a.begin.time - b.begin.time);
    return ladder;
  }

  /** Adds its link to the label of a frame between nodes that several links join. */
  nameLinks() {
    const links = new Map(), ends = ({ begin, end }) => [begin.node, end.node].sort().join(" ");
    for (const arrow of this.arrows) if (arrow.link) links.set(ends(arrow), (links.get(ends(arrow)) ?? new Set()).add(arrow.link));
    for (const arrow of this.arrows) if (links.get(ends(arrow))?.size > 1) arrow.label += `, ${arrow.link}`;
  }

  isComplete() {
    const isAfter = (time) => time > this.end;
    return [...this.frames.values()].every((row) => isAfter(row.time_s)) && (this.isOfFrames || [...this.packets.values()].every((it) => isAfter(it.place.time)));
  }

  take(row) {
    if (TRANSPORTS.includes(row.layer)) this.transport(row);
    else if (row.layer === "agent") this.agent(row);
    else if (row.layer === "link") this.link(row);
    else if (row.layer === "frame") this.frame(row);
    else if (row.layer === "mpdu") this.mpdu(row);
  }

  remember(row, place, again, made) {
    this.packets.set(row.packet, { what: row.what, label: wordsOf(row), again, made, place, left: null });
  }

  transport(row) {
    const here = spot(row.time_s, row.node, HOST), timer = `${row.node} ${row.flow} ${row.what}`;
    if (["send", "receive"].includes(row.event)) this.hosts.add(row.node);
    if (row.event === "send") {
      if (row.what === "data") this.from ||= row.node;
      this.remember(row, here, SENT_AGAIN.includes(row.why) ? row.why : "", false);
    } else if (row.event === "receive") this.receives = this.endHop(row, here);
    else if (row.event === "dupack") {
      if (this.receives && isSpot(this.receives.end, here)) this.receives.label += " dup";
    } else if (row.event === "timeout") {
      const last = this.marks.at(-1);
      if (last && isSpot(last.place, here)) last.text = "timeout";
    } else if (row.event === "enter") this.mark(here, "loss detected");
    else if (row.event === "set") this.timers.set(timer, row.time_s);
    else if (row.event === "fire" && row.what === "retransmit") {
      this.mark(here, "timer", this.timers.get(timer) ?? null);
      this.timers.delete(timer);
    }
    if (row.node === this.from && row.cwnd !== null) this.window(row);
  }

  agent(row) {
    const here = spot(row.time_s, row.node, AGENT);
    this.agents.add(row.node);
    if (["make", "again", "release"].includes(row.event)) this.remember(row, here, row.event === "again" ? "by an agent" : "", row.event === "make");
    else if (row.event === "keep") {
      const arrow = this.endHop(row, here);
      if (arrow) arrow.kept = true;
    } else if (row.event === "change" && this.packets.has(row.packet)) this.mark(here, `${wordsOf(row)}: ${row.why} changed`);
  }

  link(row) {
    const here = spot(row.time_s, row.node, HOST);
    if (row.event === "copy") this.remember(row, here, "duplicated", true);
    const packet = this.packets.get(row.packet);
    if (!packet) return;
    // The packet continues at a relay.
    if (row.event === "queue" && packet.place.node !== row.node) this.endHop(row, here, true);
    else if (row.event === "lost") {
      const near = packet.place.node === row.node, arrow = this.endHop(row, here);
      if (arrow) Object.assign(arrow, { lost: row.why, near });
    }
  }

  frame(row) {
    if (row.event === "send") {
      this.frames.set(row.frame, row);
      this.leaves(row);
      return;
    }
    const sent = this.frames.get(row.frame);
    if (!sent) return;
    this.frames.delete(row.frame);
    this.paths.push([sent.node, sent.peer || sent.node]);
    if (!this.isOfFrames || !sent.peer) return;
    const packet = this.packets.get(sent.packet), carries = ["data", "packet"].includes(sent.what), isWhole = sent.what !== "a-mpdu";
    const [kind, name] = !carries ? [["ack", "block-ack"].includes(sent.what) ? "mac-ack" : "control", NAMES[sent.what] ?? sent.what]
      : packet ? [KIND_OF[packet.what] ?? "control", packet.label] : ["control", "packet"];
    const notes = [`${sent.len} B`, ...(sent.attempt > 0 && isWhole ? [`attempt ${sent.attempt}`] : []), ...(sent.slots >= 0 ? [`backoff ${sent.slots} slots`] : [])];
    const label = name + (sent.attempt > 1 && isWhole ? ` #${sent.attempt}` : "");
    const arrow = this.arrow(spot(sent.time_s, sent.node, AGENT), spot(row.time_s, sent.peer, AGENT), kind, label, { lost: row.event === "lost" ? row.why : "", again: carries && packet ? packet.again : "", notes, link: sent.link });
    if (sent.what === "a-mpdu") {
      // It is added with its first MPDU; the rows of its MPDUs follow.
      this.aggregate = { frame: sent.frame, arrow };
      this.answered.delete(`${sent.peer} ${sent.node}`);
      return;
    }
    const answers = sent.what === "block-ack" && this.answered.get(`${sent.node} ${sent.peer}`);
    if (answers) arrow.label += ` ${answers.parts.filter((part) => !part.lost).length}/${answers.parts.length}`;
    this.add(arrow);
  }

  arrow(begin, end, kind, label, more) {
    return { begin, end, kind, label, lost: "", near: false, again: "", made: false, kept: false, left: null, notes: [], parts: [], link: "", ...more };
  }

  /** A packet is transmitted on the medium. */
  leaves(row) {
    const begun = this.packets.get(row.packet);
    if (begun && begun.left === null && begun.place.node === row.node) begun.left = row.time_s;
  }

  /** An MPDU of an A-MPDU begins, or has ended after the A-MPDU. */
  mpdu(row) {
    if (row.event === "send") { this.leaves(row); return; }
    if (this.aggregate?.frame !== row.frame) return;
    const { arrow } = this.aggregate, ends = `${arrow.end.node} ${arrow.begin.node}`;
    if (!this.answered.has(ends)) {
      this.answered.set(ends, arrow);
      this.add(arrow);
    }
    if (!arrow.parts.length) arrow.kind = KIND_OF[row.what] ?? "control";
    arrow.parts.push({ label: wordsOf(row), attempt: row.attempt, lost: row.event === "lost" ? row.why : "" });
  }

  /** Ends a hop: a packet has moved from its last place to another. */
  endHop(row, here, stays = false) {
    const packet = this.packets.get(row.packet);
    if (!packet) return null;
    const { place: begin, left } = packet;
    Object.assign(packet, { place: here, left: null });
    if (!stays && !this.isOfFrames) this.packets.delete(row.packet);
    const arrow = this.arrow(begin, here, KIND_OF[packet.what] ?? "control", packet.label, {
      again: packet.again, made: packet.made, left: left !== null && begin.time < left && left < here.time ? left : null, notes: row.len > 0 ? [`${row.len} B`] : [],
    });
    this.paths.push([begin.node, here.node]);
    if (!this.isOfFrames || begin.node === here.node) this.add(arrow);
    return arrow;
  }

  add(arrow) {
    if (arrow.end.time >= this.begin && arrow.begin.time <= this.end) this.arrows.push(arrow);
  }

  mark(place, text, since = null) {
    if (this.begin <= place.time && place.time <= this.end) this.marks.push({ place, text, since });
  }

  /** A change of the window; of the changes before the period only the last is kept. */
  window({ time_s: time, cwnd, ssthresh }) {
    const last = this.windows.at(-1);
    if (time > this.end || (last && last.cwnd === cwnd && last.ssthresh === ssthresh)) return;
    if (last && time <= this.begin) this.windows.length = 0;
    this.windows.push({ time, cwnd, ssthresh });
  }
}
