// What the rows of a trace of events say, as sentences with reasons; `#` stands for a number of a byte. The words of views/film_words.py.

const REASONS = {
  error: "bit errors", collision: "a collision: sent at the same time", queue: "the queue was full", outage: "the link was down",
  "out-of-reach": "out of reach", deaf: "the node was sending itself", "retry-limit": "the MAC gave up after its last attempt",
  "above-mac": "an error above the MAC", late: "too late for the reorder buffer", "no-route": "no route",
  policer: "it exceeds the rate of the policer", count: "too many transmissions", lifetime: "its lifetime was over",
  suppressed: "suppressed", flushed: "the queue was emptied", delivered: "",
};
const SENT = {
  new: "the window has room", "fast-retransmit": "duplicate ACKs tell of a loss", timeout: "the retransmission timer fired",
  again: "a closed window or an outage is over", probe: "the window of the receiver is closed",
};
const RECEIVED = { "in-order": "next in order", early: "a segment before it is missing", repeat: "it was here already" };
const FIELDS = {
  "ack-flag": "the ACK flag", flags: "the flags", numbers: "the numbers", window: "the advertised window", options: "the options", length: "the length",
};
const DOES = { make: "The agent makes", keep: "The agent keeps", release: "The agent releases", again: "The agent sends" };

const reasonOf = (word) => REASONS[word] ?? word.replaceAll("-", " ");
const upper = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** A number as Python writes it with `:g` and this number of digits. */
function general(value, digits = 3) {
  if (value === null) return "nan";
  const [mantissa, power] = value.toExponential(digits - 1).split("e").map((text, i) => (i ? Number(text) : text));
  const isLong = value !== 0 && (power < -4 || power >= digits), text = isLong ? mantissa : value.toFixed(Math.max(0, digits - 1 - power));
  const shown = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return isLong ? `${shown}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}` : shown;
}

/** What a packet is, and its number: data by its first byte, an ACK by what it acknowledges. */
function packetOf(row) {
  if (row.what === "data" || (row.what === "fin" && row.len > 0)) return ["data #", row.seq];
  if (row.what === "datagram") return ["datagram #", row.seq];
  return row.what === "ack" ? ["ACK #", row.ack] : [NAMES[row.what] ?? row.what, -1];
}

/** The kind of a frame or packet, what it is, and its number; of an A-MPDU that of its first packet. */
function kindOf(row, carried) {
  if (carried && row.what === "a-mpdu") {
    const [what, number] = packetOf(carried);
    return [KIND_OF[carried.what] ?? "control", `${NAMES["a-mpdu"]} from ${what} on`, number];
  }
  if (carried) return [KIND_OF[carried.what] ?? "control", ...packetOf(carried)];
  if (row.layer === "frame" && ["ack", "block-ack"].includes(row.what)) return ["mac-ack", row.what === "ack" ? "MAC ACK" : NAMES["block-ack"], -1];
  return ["control", NAMES[row.what] ?? row.what, -1];
}

/** What a row says: kind, sentence, reason and number; null for rows that others say as well. */
function sentenceOf(row, before, packet) {
  if (TRANSPORTS.includes(row.layer)) return ofTransport(row);
  if (row.layer === "agent") return ofAgent(row, before);
  if (row.layer === "link") return ofLink(row);
  if (row.layer === "frame") return ofFrame(row, packet);
  if (row.layer === "mpdu") {
    const [what, number] = packetOf(row);
    return row.event === "lost" && row.why === "error" ? ["loss", `The MPDU of ${what} does not arrive`, reasonOf(row.why), number] : null;
  }
  const does = { write: "writes", close: "closes" }[row.event];
  return row.layer === "app" && does ? ["tcp", `The application ${does}`, "", -1] : null;
}

function ofTransport(row) {
  const name = row.layer.toUpperCase(), [what, number] = packetOf(row);
  if (row.event === "send") {
    if (row.what === "ack") return ["tcp", `${name} sends ${what}`, "data arrived", number];
    const again = row.why === "new" || row.layer === "udp" ? "" : " again";
    return ["tcp", `${name} sends ${what}${again}`, row.what === "data" || again ? SENT[row.why] ?? "" : "", number];
  }
  if (row.event === "receive") return ["tcp", `${name} receives ${what}`, RECEIVED[row.why] ?? "", number];
  if (row.event === "fire" && row.what === "retransmit") return ["timeout", "The retransmission timer fires", "no ACK came in time", -1];
  const found = {
    ack: ["tcp", "ACK # is new", `the window is ${general(row.cwnd)} segments`],
    partial: ["tcp", "ACK # is new, but not of all", "another segment of the window is lost"],
    dupack: ["tcp", "ACK # is a duplicate", "a later segment has arrived, # has not"],
    enter: ["tcp", "TCP takes # for lost", "enough duplicate ACKs"],
    exit: ["tcp", "The recovery ends", "all is acknowledged that was outstanding"],
    timeout: ["timeout", "Timeout of #", "no ACK of it came in time"],
  }[row.event];
  return found ? [...found, row.ack] : null;
}

function ofAgent(row, before) {
  const [what, number] = packetOf(row);
  if (row.event === "change") return ["agent", `The agent changes ${FIELDS[row.why] ?? row.why} of ${what}`, "", number];
  if (!(row.event in DOES)) return null;
  let why = "";
  if (before && before.time_s === row.time_s && before.node === row.node) {
    if (before.layer === "link" && before.event === "done" && before.why === "delivered") why = "the link reports delivery";
    else if (before.layer === "link" && before.event === "receive") why = "a packet comes from the link";
    else if (before.event === "send") why = "it comes from the transport of this node";
  }
  if (row.event === "keep") why = why ? `${why}; it is not passed on` : "so that it is not sent";
  return ["agent", `${DOES[row.event]} ${what}${row.event === "again" ? " again" : ""}`, why, number];
}

function ofLink(row) {
  const [what, number] = packetOf(row);
  if (row.event === "lost") return ["loss", `${upper(what)} is lost`, reasonOf(row.why), number];
  if (row.event !== "done") return null;
  if (row.why === "delivered") return ["link", `The link has delivered ${what}`, "its ACK of the MAC came", number];
  return ["link", `The link gives ${what} up`, reasonOf(row.why), number];
}

function ofFrame(row, packet) {
  const [, what, number] = kindOf(row, ["data", "packet", "a-mpdu"].includes(row.what) ? packet : null);
  if (row.event === "lost") return ["loss", `${upper(what)} does not arrive`, reasonOf(row.why), number];
  if (row.event !== "send") return null;
  if (row.what === "packet") return ["frame", `${upper(what)} leaves`, "", number];
  let why = "";
  if (row.slots >= 0) why = `after a backoff of ${row.slots} slot${row.slots === 1 ? "" : "s"}`;
  else if (row.what === "cts") why = "it answers the RTS";
  else if (["ack", "block-ack"].includes(row.what)) why = "the frame has arrived";
  if (row.attempt > 1 && row.what !== "a-mpdu") why = [`attempt ${row.attempt}`, why].filter(Boolean).join(", ");
  return ["frame", `${upper(what)} is sent`, why, number];
}
