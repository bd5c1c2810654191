// The ladder of one run: frames between nodes, time downwards, from the trace of its events.

const SHOWN = { ack: "ACK", syn: "SYN", "syn-ack": "SYN-ACK", fin: "FIN", reset: "RST", rts: "RTS", cts: "CTS" };

/** The frames of a run that pass from a node to another, each with what it carries. */
function rungsOf(table) {
  const packets = new Map(), open = new Map(), found = [], nodes = [];
  const row = (i) => Object.fromEntries(Object.entries(table).map(([name, column]) => [name, column[i]]));
  const named = ({ what, seq, ack }) => (what === "data" ? `data ${seq}` : what === "ack" ? `ACK ${ack}` : SHOWN[what] ?? what);
  for (let i = 0; i < table.time_s.length; i++) {
    const layer = table.layer[i], event = table.event[i];
    if ((layer === "tcp" || layer === "udp") && event === "send") packets.set(table.packet[i], { what: table.what[i], label: named(row(i)) });
    if (layer === "agent" && ["make", "again", "release"].includes(event)) packets.set(table.packet[i], { what: table.what[i], label: named(row(i)), made: event === "make" });
    if (layer !== "frame") continue;
    if (event === "send") { open.set(table.frame[i], row(i)); continue; }
    const sent = open.get(table.frame[i]);
    if (!open.delete(table.frame[i]) || !sent.peer) continue;
    const packet = ["data", "packet"].includes(sent.what) ? packets.get(sent.packet) : undefined;
    const kind = packet ? (packet.what === "data" ? "data" : packet.what === "ack" ? "ack" : "control") : sent.what === "ack" ? "mac-ack" : "control";
    for (const node of [sent.node, sent.peer]) if (!nodes.includes(node)) nodes.push(node);
    const words = packet?.label ?? (kind === "mac-ack" ? "MAC ACK" : SHOWN[sent.what] ?? sent.what);
    found.push({ from: sent.node, to: sent.peer, begin: sent.time_s, end: table.time_s[i], kind, label: `${words}${event === "lost" ? ` lost: ${table.why[i]}` : ""}`, lost: event === "lost" });
  }
  return { rungs: found, nodes };
}

const KINDS = { data: "data", ack: "TCP ACK", "mac-ack": "MAC ACK", control: "other frames" };

const within = (rungs, begin, end) => rungs.filter((it) => it.begin >= begin && it.begin < end);

/** A ladder as a drawing, of a period in seconds, as high as this many frames need. */
function ladderOf({ rungs, nodes }, [begin, end], high, title) {
  const inside = within(rungs, begin, end);
  const width = 420, height = Math.max(360, Math.min(1600, high * 14)), top = 34;
  const x = (node) => 70 + (nodes.indexOf(node) * (width - 140)) / Math.max(1, nodes.length - 1);
  const y = (time) => top + ((time - begin) / (end - begin)) * height;
  const drawing = document.createElementNS(SVG, "svg");
  const add = (tag, attributes, text = "") => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    drawing.append(made);
  };
  drawing.setAttribute("viewBox", `0 0 ${width} ${height + top + 14}`);
  drawing.setAttribute("class", "rungs");
  drawing.setAttribute("role", "img");
  const counts = Object.keys(KINDS).map((kind) => [kind, inside.filter((it) => it.kind === kind).length]).filter(([, n]) => n);
  const said = `${title}: ${counts.map(([kind, n]) => `${n} ${KINDS[kind]}`).join(", ")} in ${human(end - begin, "s", 3)}`;
  drawing.setAttribute("aria-label", said);
  for (const node of nodes) {
    add("text", { x: x(node), y: 16, class: "node" }, node);
    add("line", { x1: x(node), x2: x(node), y1: top - 8, y2: height + top, class: "rail" });
  }
  let free = -Infinity;
  for (const it of inside) {
    const [x1, x2, y1, y2] = [x(it.from), x(it.to), y(it.begin), y(Math.min(it.end, end))];
    const [xe, ye] = it.lost ? [x1 + 0.7 * (x2 - x1), y1 + 0.7 * (y2 - y1)] : [x2, y2], way = Math.sign(x2 - x1) || 1;
    add("path", { d: `M${x1},${y1}L${xe},${ye}`, class: `rung ${it.kind}` });
    add("path", { d: it.lost ? `M${xe - 4},${ye - 4}l8,8m0,-8l-8,8` : `M${xe},${ye}l${-7 * way},-3.5v7z`, class: `${it.lost ? "rung" : "head"} ${it.kind}` });
    const middle = (y1 + ye) / 2 - 3;
    if (middle - free < 11) continue;
    free = middle;
    add("text", { x: (x1 + xe) / 2, y: middle, class: "word" }, it.label);
  }
  return el("figure", { class: "ladder-of" }, drawing, el("figcaption", {}, said));
}
