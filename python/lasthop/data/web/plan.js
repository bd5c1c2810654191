// The nodes of a run where the scenario has them: cells, meshes and what else is not on a line.

// Half a node, what is around it, and how near two of them come.
const DISC = 8, MARGIN = 52, APART = 22;

class Plan extends Stage {
  layout(given) {
    const { nodes, links } = this.film;
    this.width = given;
    this.spread(given);
    this.picture = svg("svg", { width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": this.about() });
    this.ranks = ranksOf(links);
    links.forEach((link, number) => link.pairs.forEach((pair, i) => this.picture.append(this.drawnLink(link, pair, number, i === 0 && links.length > 1))));
    this.names = [];
    this.boxes = nodes.map((name, i) => this.drawnNode(name, i));
    this.moving = svg("g", { class: "moving" });
    this.picture.append(this.moving);
    this.tokens.clear();
    this.crosses.clear();
    this.host.replaceChildren(this.picture);
  }

  about() {
    const { nodes, agents } = this.film;
    return `A plan of the nodes ${nodes.map((name, i) => (agents.has(i) ? `${name} with an agent` : name)).join(", ")}`;
  }

  /** Place the nodes on the picture: those without a position in a row above the others. */
  spread(width) {
    const { places } = this.film, known = places.filter(Boolean), loose = places.flatMap((place, i) => (place ? [] : [i]));
    const range = (k) => [Math.min(...known.map((place) => place[k])), Math.max(...known.map((place) => place[k]))];
    const [west, east] = range(0), [south, north] = range(1);
    const top = MARGIN + (loose.length ? 64 : 0), most = clampTo(0.75 * width, 260, 420);
    const scale = Math.min((width - 2 * MARGIN) / (east - west || 1e-9), most / (north - south || 1e-9));
    const left = (width - scale * (east - west)) / 2;
    this.height = top + scale * (north - south) + MARGIN;
    const row = (i) => [(width * (loose.indexOf(i) + 0.5)) / loose.length, MARGIN];
    const spots = places.map((place, i) => (place ? [left + scale * (place[0] - west), top + scale * (north - place[1])] : row(i)));
    this.part(spots);
    [this.x, this.y] = [0, 1].map((k) => spots.map((spot) => spot[k]));
  }

  /** Move nodes that would cover each other apart. */
  part(spots) {
    for (let round = 0; round < 60; round++) {
      let isMoved = false;
      for (let i = 0; i < spots.length; i++) for (let j = 0; j < i; j++) {
        const [dx, dy] = [spots[i][0] - spots[j][0], spots[i][1] - spots[j][1]], far = Math.hypot(dx, dy);
        if (far >= APART) continue;
        isMoved = true;
        const [right, down] = far > 1e-6 ? [dx / far, dy / far] : [Math.cos(2.4 * i), Math.sin(2.4 * i)];
        const by = (APART - far) / 2 + 0.5;
        for (const [spot, sign] of [[spots[i], 1], [spots[j], -1]]) {
          spot[0] = clampTo(spot[0] + sign * by * right, DISC + 4, this.width - DISC - 4);
          spot[1] = clampTo(spot[1] + sign * by * down, DISC + 30, this.height - DISC - 18);
        }
      }
      if (!isMoved) return;
    }
  }

  /** How far a link is from the line between two nodes, to the right of the way from the first one: several are side by side. */
  aside(a, b, link) {
    const [dx, dy] = [this.x[b] - this.x[a], this.y[b] - this.y[a]], far = Math.hypot(dx, dy) || 1;
    const by = 26 * this.rank(a, b, link) * (a < b ? 1 : -1);
    return [(-dy / far) * by, (dx / far) * by];
  }

  drawnLink(link, [a, b], number, isNamed) {
    const { x, y } = this, [right, down] = this.aside(a, b, number);
    const [u, v] = [(x[a] + x[b]) / 2 + right, (y[a] + y[b]) / 2 + down];
    // It passes the middle there.
    const way = right || down ? `Q${u + right},${v + down} ` : "L";
    const group = svg("g", {}, svg("path", { class: link.medium ? "link medium" : "link", d: `M${x[a]},${y[a]}${way}${x[b]},${y[b]}` }));
    if (isNamed) group.append(svg("text", { class: "label small", x: u, y: v + 4, "text-anchor": "middle" }, link.name));
    return group;
  }

  drawnNode(name, i) {
    const { film } = this, [x, y] = [this.x[i], this.y[i]];
    const isAgent = film.agents.has(i), isHost = film.hosts.has(i);
    // What a node did stays within the picture.
    const anchor = x < 70 ? "start" : x > this.width - 70 ? "end" : "middle", from = x + { start: -DISC, middle: 0, end: DISC }[anchor];
    const group = svg("g", { class: "spot" }, svg("title", {}, name));
    const seat = (radius) => {
      const said = [y - DISC - 18, y - DISC - 6].map((at, k) => svg("text", { x: from, y: at, "text-anchor": anchor, class: k ? "label doing" : "label rest" }));
      const made = { halo: svg("circle", { class: "halo", cx: x, cy: y, r: radius }), lines: said, rest: "" };
      group.append(made.halo, svg("g", {}, ...said));
      return made;
    };
    const found = { host: isHost ? seat(DISC + 5) : null, agent: isAgent ? seat(DISC + 9) : null, queueRoom: { fits: 5, step: 6 }, none: "" };
    if (isAgent) group.append(svg("circle", { class: "box agent", cx: x, cy: y, r: DISC + 4 }));
    group.append(svg("circle", { class: isHost ? "node host" : "node", cx: x, cy: y, r: DISC }));
    found.queue = svg("g", { transform: `translate(${x + DISC + 4} ${y - 4})` });
    found.count = svg("text", { class: "small", x, y: y + 4, "text-anchor": "middle" });
    found.spill = svg("g", { class: "cross spill", transform: `translate(${x} ${y})`, style: "opacity: 0" },
      svg("path", { d: "M-6,-6L6,6M-6,6L6,-6" }), svg("text", { class: "label", x: from - x, y: DISC + 24, "text-anchor": anchor }));
    group.append(found.queue, found.count, found.spill, ...this.named(name, x, y));
    this.picture.append(group);
    return found;
  }

  /** The name under a node, or beside it if another is there; none where no place is free. */
  named(name, x, y) {
    const half = name.length * 3.4 + 2;
    const spots = [[x, y + DISC + 13], [x - DISC - half - 2, y + 4], [x + DISC + half + 2, y + 4]];
    const covers = ([u, v], one) => Math.abs(u - one[0]) < half + one[2] && Math.abs(v - one[1]) < 11;
    const isDisc = ([u, v]) => this.x.some((other, i) => (other !== x || this.y[i] !== y) && Math.abs(other - u) < half + DISC - 2 && Math.abs(this.y[i] - v + 4) < DISC + 5);
    const free = spots.find((spot) => spot[0] > half && spot[0] < this.width - half && !isDisc(spot) && !this.names.some((one) => covers(spot, one)));
    if (!free) return [];
    this.names.push([...free, half]);
    return [svg("text", { class: "label name", x: free[0], y: free[1], "text-anchor": "middle" }, name)];
  }

  /** Where a frame is at a time: on the right of its way, between the rims of both nodes. */
  at(flight, t) {
    const share = clampTo((t - flight.t) / (flight.end - flight.t), 0, 1);
    const { source: a, target: b } = flight, [dx, dy] = [this.x[b] - this.x[a], this.y[b] - this.y[a]];
    const far = Math.hypot(dx, dy) || 1, along = [dx / far, dy / far];
    const [right, down] = this.aside(a, b, flight.link), bent = 4 * share * (1 - share);
    return {
      x: this.x[a] + share * dx + bent * right + along[1] * LANE * 0.6, y: this.y[a] + share * dy + bent * down - along[0] * LANE * 0.6,
      way: along[0] >= 0 ? 1 : -1, along,
    };
  }
}
