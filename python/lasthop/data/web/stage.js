// The nodes and links of a run, and what is on its way between them.

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Heights of the parts of a node.
const BOX = 36, GAP = 7, NAME = 18, QUEUE = 22, LANE = 9;

/** The shape of what moves to the right: data is a block, an ACK of TCP an arrow, control a ring, an ACK of the MAC a dot. */
function token(kind) {
  switch (kind) {
    case "data": return svg("rect", { x: -12, y: -6, width: 24, height: 12, rx: 3 });
    case "ack": return svg("path", { d: "M8,0L-6,-7V7Z" });
    case "datagram": return svg("path", { d: "M-12,0L-6,-7H6L12,0L6,7H-6Z" });
    case "control": return svg("circle", { r: 5, class: "ring-only" });
    default: return svg("circle", { r: 4.5 });
  }
}

/** The verb and the object of what a host or agent did, as its box has room for. */
function inShort(event) {
  if (event.sort === "timeout") return ["timeout", event.text.replace(/^Timeout /, "").replace(/^The .*/, "")];
  const of = /^(?:TCP|UDP) (sends|receives) (.+)$/.exec(event.text) ?? /^The agent (makes|keeps|releases|sends|changes) (.+)$/.exec(event.text);
  if (of) return [of[1], of[2]];
  const lost = /^TCP takes (\S+) for lost$/.exec(event.text);
  return lost ? ["loss detected", lost[1]] : null;
}

const between = (a, b) => `${Math.min(a, b)} ${Math.max(a, b)}`;

/** The links between each two nodes, by their numbers. */
function ranksOf(links) {
  const ranks = new Map();
  links.forEach((link, i) => {
    for (const [a, b] of link.pairs) {
      const those = ranks.get(between(a, b)) ?? [];
      if (!those.includes(i)) those.push(i);
      ranks.set(between(a, b), those);
    }
  });
  return ranks;
}

class Stage {
  constructor(film, data, hasAgents) {
    this.film = film;
    this.hasAgents = hasAgents;
    this.kinds = data.kinds;
    this.paint = (number) => `light-dark(${data.kinds[number].light}, ${data.kinds[number].dark})`;
    this.host = el("div", { class: "stage-slide", tabindex: "0", role: "group", "aria-label": `Nodes and links${film.title ? ` of ${film.title}` : ""}` });
    this.tokens = new Map();
    this.crosses = new Map();
  }

  /** Place the nodes on a width. */
  layout(given) {
    const { nodes, links } = this.film;
    const room = Math.max(given / Math.max(nodes.length, 1), 104);
    this.width = Math.max(given, room * nodes.length);
    this.boxWidth = clampTo(room * 0.72, 92, 136);
    const left = this.boxWidth / 2 + 6, step = nodes.length > 1 ? (this.width - 2 * left) / (nodes.length - 1) : 0;
    this.x = nodes.map((_, i) => (nodes.length > 1 ? left + i * step : this.width / 2));
    const top = NAME + 8;
    this.agentTop = top + BOX + GAP;
    this.queueTop = this.hasAgents ? this.agentTop + BOX + GAP : this.agentTop;
    this.line = this.queueTop + QUEUE + 34;
    this.ranks = ranksOf(links);
    const depths = links.flatMap((link, i) => link.pairs.map(([a, b]) => this.depth(a, b, i)));
    this.height = this.line + 34 + Math.max(0, ...depths);
    this.picture = svg("svg", { width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": this.about() });
    links.forEach((link, i) => { for (const pair of link.pairs) this.picture.append(this.drawnLink(link, pair, i, links.length > 1)); });
    this.boxes = nodes.map((name, i) => this.drawnNode(name, i, top));
    this.moving = svg("g", { class: "moving" });
    this.picture.append(this.moving);
    this.tokens.clear();
    this.crosses.clear();
    this.host.replaceChildren(this.picture);
  }

  about() {
    const { nodes, agents } = this.film;
    const names = nodes.map((name, i) => (agents.has(i) ? `${name} with an agent` : name));
    return `From left to right: ${names.join(", ")}`;
  }

  /** How many links before this one are between the same nodes. */
  rank(a, b, link) { return this.ranks.get(between(a, b)).indexOf(link); }

  /** How far below the line a link passes: one between nodes that are not neighbours, or beside others between the same nodes. */
  depth(a, b, link) {
    const span = Math.abs(a - b);
    return 20 * (span - 1) + 40 * span * this.rank(a, b, link);
  }

  drawnLink(link, [a, b], number, isNamed) {
    const x = (this.x[a] + this.x[b]) / 2, deep = this.depth(a, b, number);
    const path = svg("path", { class: link.medium ? "link medium" : "link", d: `M${this.x[a]},${this.line}Q${x},${this.line + 2 * deep} ${this.x[b]},${this.line}` });
    const group = svg("g", {}, path);
    // Below the frames of the link, or next to it where others are below.
    const below = this.ranks.get(between(a, b)).length > 1 ? 13 : 30;
    if (isNamed) group.append(svg("text", { class: "small", x, y: this.line + deep + below, "text-anchor": "middle" }, link.name));
    return group;
  }

  drawnNode(name, i, top) {
    const { film, x, boxWidth: w } = this, left = x[i] - w / 2;
    const text = (y, content, kind) => svg("text", { x: x[i], y, "text-anchor": "middle", class: kind }, content);
    const group = svg("g", {}, svg("path", { class: "inside", d: `M${x[i]},${film.hosts.has(i) ? top + BOX : film.agents.has(i) ? this.agentTop : this.queueTop}V${this.line}` }), text(NAME - 2, name, "name"));
    const box = (y, kind, rest) => {
      const made = { halo: svg("rect", { class: "halo", x: left - 4, y: y - 4, width: w + 8, height: BOX + 8, rx: 11 }), lines: [text(y + 15, rest, "rest"), text(y + 28, "", "doing")], rest };
      group.append(made.halo, svg("rect", { class: `box ${kind}`, x: left, y, width: w, height: BOX, rx: 8 }), ...made.lines);
      return made;
    };
    const found = { host: film.hosts.has(i) ? box(top, "host", "transport") : null, agent: film.agents.has(i) ? box(this.agentTop, "agent", "agent") : null };
    group.append(svg("rect", { class: "box queue", x: left, y: this.queueTop, width: w, height: QUEUE, rx: 6 }));
    found.queue = svg("g", { transform: `translate(${left + 7} ${this.queueTop + 7})` });
    found.queueRoom = { fits: Math.floor((w - 34) / 9), step: 9 };
    found.none = "0";
    found.count = svg("text", { x: left + w - 7, y: this.queueTop + 15, "text-anchor": "end", class: "small" });
    found.spill = svg("g", { class: "cross spill", transform: `translate(${x[i]} ${this.queueTop + QUEUE / 2})`, style: "opacity: 0" },
      svg("path", { d: "M-6,-6L6,6M-6,6L6,-6" }), svg("text", { class: "label", y: QUEUE / 2 + 12, "text-anchor": "middle" }));
    group.append(found.queue, found.count, found.spill, svg("circle", { class: "node", cx: x[i], cy: this.line, r: 5 }));
    this.picture.append(group);
    return found;
  }

  /** Where a frame is at a time. */
  at(flight, t) {
    const share = clampTo((t - flight.t) / (flight.end - flight.t), 0, 1);
    const way = Math.sign(this.x[flight.target] - this.x[flight.source]) || 1;
    const deep = this.depth(flight.source, flight.target, flight.link);
    return {
      x: this.x[flight.source] + share * (this.x[flight.target] - this.x[flight.source]),
      y: this.line - way * LANE + 4 * deep * share * (1 - share), way, along: [way, 0],
    };
  }

  /** Bring a node into sight where the picture is wider than its place. */
  reveal(node) {
    const { scrollLeft, clientWidth } = this.host;
    if (this.x[node] < scrollLeft + 60 || this.x[node] > scrollLeft + clientWidth - 60) this.host.scrollLeft = this.x[node] - clientWidth / 2;
  }

  /** Show a time; what has happened fades within `fade` seconds of the simulation. */
  show(t, fade, hasMac) {
    const keep = (one) => hasMac || !one.isMac;
    this.move(this.film.flying(t).filter(keep), t);
    this.drop(this.film.fallen(t, fade).filter(keep), t, fade);
    this.film.nodes.forEach((_, i) => this.fill(i, t));
    this.act(this.film.happened(t - fade, t), t, fade);
  }

  move(flights, t) {
    const there = new Set(flights.map((flight) => flight.i));
    for (const [i, made] of this.tokens) if (!there.has(i)) { made.remove(); this.tokens.delete(i); }
    // Labels that would cover each other are left out.
    const taken = [];
    const placed = flights.map((flight) => ({ flight, ...this.at(flight, t) })).sort((a, b) => a.x - b.x);
    for (const { flight, x, y, way, along } of placed) {
      let made = this.tokens.get(flight.i);
      if (!made) {
        made = this.made(flight, way, along);
        this.tokens.set(flight.i, made);
        this.moving.append(made);
      }
      made.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
      const label = made.lastChild, half = label.textContent.length * 3.2 + 3;
      // A label stays within the picture.
      const aside = clampTo(x, half, this.width - half) - x;
      label.setAttribute("x", aside);
      const above = y + Number(label.getAttribute("y"));
      const fits = taken.every((one) => Math.abs(one.x - x - aside) > one.half + half || Math.abs(one.y - above) > 11);
      label.style.display = fits ? "" : "none";
      if (fits) taken.push({ x: x + aside, y: above, half });
    }
  }

  made(flight, way, [right, down]) {
    const shape = token(flight.kind);
    shape.setAttribute("transform", `rotate(${(Math.atan2(down, right) * 180 / Math.PI).toFixed(1)})`);
    shape.classList.add("shape");
    const group = svg("g", { class: `packet ${flight.kind}`, "data-flight": flight.i, style: `--own: ${this.paint(flight.number)}` });
    if (flight.made) group.append(svg("path", { class: "by-agent", d: "M0,-12L16,0L0,12L-16,0Z" }));
    group.append(shape);
    if (flight.again) group.append(svg("circle", { class: "again", r: 3 }));
    const name = `${flight.name}${flight.attempt > 1 ? ` #${flight.attempt}` : ""}`;
    group.append(svg("text", { class: "label", y: way > 0 ? -13 : 21, "text-anchor": "middle" }, name));
    return group;
  }

  /** Crosses where frames were lost. */
  drop(flights, t, fade) {
    const there = new Set(flights.map((flight) => flight.i));
    for (const [i, made] of this.crosses) if (!there.has(i)) { made.remove(); this.crosses.delete(i); }
    for (const flight of flights) {
      let made = this.crosses.get(flight.i);
      if (!made) {
        const { x, y, way, along } = this.at(flight, flight.end);
        const why = flight.lost.split(":")[0], half = why.length * 3.1, back = x - along[0] * 14;
        made = svg("g", { class: "cross", transform: `translate(${back} ${y - along[1] * 14})` }, svg("path", { d: "M-6,-6L6,6M-6,6L6,-6" }),
          svg("text", { class: "label", x: clampTo(back, half, this.width - half) - back, y: way > 0 ? -13 : 21, "text-anchor": "middle" }, why));
        this.crosses.set(flight.i, made);
        this.moving.append(made);
      }
      made.style.opacity = shine(t - flight.end, fade);
    }
  }

  /** The queue of a node. */
  fill(node, t) {
    const box = this.boxes[node], waiting = this.film.waiting(node, t), { fits, step } = box.queueRoom;
    const state = waiting.map((one) => one.number).join();
    if (box.state === state) return;
    box.state = state;
    box.queue.replaceChildren(...waiting.slice(0, fits).map((one, i) => svg("rect", { x: step * i, y: 0, width: step - 2, height: 8, rx: 1.5, style: `fill: ${this.paint(one.number)}` })));
    box.count.textContent = waiting.length || box.none;
  }

  /** What hosts and agents just did; an agent that makes something glows. */
  act(events, t, fade) {
    const last = new Map();
    const spilt = new Map();
    for (const event of events) {
      if (event.sort === "loss" && !this.film.fell.has(event.t)) spilt.set(event.node, event);
      const seat = event.sort === "agent" ? "agent" : event.sort === "tcp" || event.sort === "timeout" ? "host" : null;
      const words = seat && inShort(event);
      if (words) {
        const before = last.get(`${seat}${event.node}`);
        // It glows on while other things happen.
        const glows = ["makes", "timeout", "loss detected"].includes(words[0]);
        last.set(`${seat}${event.node}`, { words, glow: glows ? event.t : before?.glow });
      }
    }
    this.boxes.forEach((box, node) => {
      // What was lost without a frame was lost at the queue.
      const lost = spilt.get(node);
      box.spill.style.opacity = lost ? shine(t - lost.t, fade) : 0;
      if (lost) box.spill.lastChild.textContent = lost.why.split(":")[0];
      for (const seat of ["host", "agent"]) {
        if (!box[seat]) continue;
        const event = last.get(`${seat}${node}`), { lines, halo, rest } = box[seat];
        lines[0].textContent = event ? event.words[0] : rest;
        lines[0].setAttribute("dy", event ? 0 : 7);
        lines[1].textContent = event ? event.words[1] : "";
        lines[1].parentNode.classList.toggle("active", Boolean(event));
        halo.style.opacity = event?.glow === undefined ? 0 : shine(t - event.glow, fade);
        halo.classList.toggle("alarm", seat === "host");
      }
    });
  }
}

const clampTo = (value, low, high) => Math.max(low, Math.min(high, value));
/** How bright something is that happened a time ago. */
const shine = (ago, fade) => clampTo(1 - ago / fade, 0, 1).toFixed(3);
