// Ladders as drawings: what figures/ladder.py draws for `lasthop ladder`, held equal by a test. Sizes are in points.

// Segments that a ladder shows.
const LADDER_SEGMENTS = 30;
const SIZE = 7, SMALL = 6, ROW = 11, LEAST = 160, HIGHEST = 2000;
// Points between the line of a host and that of its agent, and around a panel; panels at least so wide have a strip for the window.
const SEAT = 22, ASIDE = 5, EDGE = 6, STRIP = 34, WIDE = 150;
const GREY = "#767676", PALE = "#dddddd", BLACK = "#000000";
// Possible positions of a label along its arrow, best first.
const PLACES = [0.5, 0.32, 0.68, 0.2, 0.8];
const KINDS = new Map(SETUP.ladder.kinds.map(([id, colour, dashes, width, name]) => [id, { colour, dashes, width, name }])), BY_AGENT = SETUP.ladder.agent;

/** The ladders of several runs side by side, over the same time; each has its title. */
function ladderScene(panels, period, title, width = null) {
  const lines = panels.reduce((sum, panel) => sum + Math.max(1, panel.nodes.length - 1), 0);
  const full = width ?? Math.min(60 + 60 * panels.length + 150 * lines, 720);
  const axis = 34, each = (full - axis - EDGE) / panels.length, body = ladderHeight(panels, period), head = title ? 48 : 36, groups = [];
  if (title) {
    const size = Math.min(9, (9 * (full - 8)) / widthOf(words(0, 0, title, 9, { bold: true })));
    groups.push(group("title", "", [words(full / 2, 9, title, size, { bold: true })]));
  }
  const ticks = ticksOf(period, body);
  panels.forEach((panel, number) => {
    const left = axis + number * each;
    groups.push(...new LadderPanel(panel, [left, left + each], [head, head + body], period).groups(ticks, number === 0));
  });
  groups.push(ladderLegend(panels, full, head + body + 14));
  return { width: full, height: head + body + 40, title, groups };
}

/** The height of the period, at which most labels have space. */
function ladderHeight(panels, [begin, end]) {
  let rows = LEAST;
  const gaps = [];
  for (const { arrows, nodes, isOfFrames } of panels) {
    rows = Math.max(rows, (ROW * arrows.length) / Math.sqrt(Math.max(1, nodes.length - 1)));
    // Frames occur in short exchanges.
    const middles = arrows.filter((it) => isOfFrames && it.begin.node !== it.end.node).map((it) => (it.begin.time + it.end.time) / 2).sort((a, b) => a - b);
    for (let i = 1; i < middles.length; i++) if (middles[i] > middles[i - 1]) gaps.push(middles[i] - middles[i - 1]);
  }
  if (!gaps.length) return Math.min(rows, HIGHEST);
  const close = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 4)], wanted = (0.8 * ROW * (end - begin)) / close;
  return Math.min(Math.max(rows, Math.min(wanted, 2.5 * rows)), HIGHEST);
}

/** One ladder in its area. */
class LadderPanel {
  constructor(panel, [left, right], [top, bottom], [begin, end]) {
    Object.assign(this, { panel, left, right, top, bottom, begin, end, columns: new Map(), taken: [] });
    const wide = right - left, strip = panel.windows.length && wide >= WIDE ? STRIP : 2, nodes = panel.nodes.length ? panel.nodes : [""];
    const first = left + strip + this.margin(nodes[0], wide), last = right - this.margin(nodes.at(-1), wide), seat = Math.min(SEAT, 0.12 * (last - first));
    nodes.forEach((node, number) => {
      const x = first + (last - first) * (nodes.length > 1 ? number / (nodes.length - 1) : 0.5), seats = { [HOST]: x };
      if (panel.seats.includes(node)) seats[AGENT] = x + (number < nodes.length / 2 ? seat : -seat);
      this.columns.set(node, seats);
    });
    this.strip = panel.windows.length && wide >= WIDE ? STRIP : 0;
  }

  y(time) { return this.top + ((time - this.begin) / (this.end - this.begin)) * (this.bottom - this.top); }

  x({ node, seat }) { return this.columns.get(node)[seat] ?? this.columns.get(node)[HOST]; }

  /** The space outside the first or last line: for the text there, and for half of the node's name. */
  margin(node, wide) {
    const { marks, arrows } = this.panel, half = 0.5 * widthOf(words(0, 0, node, SIZE, { bold: true })) + 2;
    const outside = [...marks.filter((it) => it.place.node === node).map((it) => it.text), ...arrows.filter((it) => it.begin.node === node && it.end.node === node && !it.lost).map((it) => it.label)];
    return Math.min(Math.max(half, ...outside.map((text) => 5 + widthOf(words(0, 0, text, SMALL)))), 0.3 * wide);
  }

  /** The size at which a text fits outside a line. */
  fitting(text, room) { return Math.min(SMALL, (SMALL * room) / Math.max(widthOf(words(0, 0, text, SMALL)), 1)); }

  groups(ticks, hasNumbers) {
    const { panel, left, right, top, bottom } = this, title = panel.title;
    const size = Math.min(8, (8 * (right - left - 8)) / widthOf(words(0, 0, title || " ", 8, { bold: true })));
    const found = [group("head", "", [words((left + right) / 2, top - 26, title, size, { bold: true })])], axis = group("axis");
    for (const tick of ticks) {
      const y = this.y(tick);
      axis.shapes.push(polyline([[left, y], [right - EDGE, y]], PALE, 0.5));
      if (hasNumbers) axis.shapes.push(words(left - 3, y, secondsAt(tick, ticks), SMALL, { colour: GREY, anchor: "end" }));
    }
    if (hasNumbers) axis.shapes.push(words(left - 3, top - 10, "s", SMALL, { colour: GREY, anchor: "end" }));
    const nodes = group("nodes");
    for (const [node, seats] of this.columns) {
      for (const [seat, x] of Object.entries(seats)) {
        const isAgent = seat === AGENT;
        nodes.shapes.push(polyline([[x, top - 4], [x, bottom]], isAgent ? BY_AGENT : BLACK, 0.8, isAgent ? [2, 2] : []));
        if (isAgent) nodes.shapes.push(words(x, top - 7.5, "agent", SMALL, { colour: BY_AGENT }));
      }
      nodes.shapes.push(words(seats[HOST], top - 15, node, SIZE, { bold: true }));
    }
    found.push(axis, ...this.windows(), nodes);
    const labels = group("labels"), losses = group("losses");
    for (const arrow of panel.arrows) {
      const sign = arrow.lost ? this.loss(arrow) : [];
      losses.shapes.push(...sign, ...this.parts(arrow, this.ends(arrow), true));
      this.taken.push(...sign.filter((it) => it.text !== undefined).map(boxOf));
    }
    for (const arrow of panel.arrows) {
      found.push(this.arrow(arrow));
      const label = this.label(arrow);
      if (label) labels.shapes.push(label);
    }
    return [...found, ...this.marks(), labels, losses];
  }

  /** The two ends of an arrow: one that is lost stops short, and one that has waited leaves next to the line of its node. */
  ends(arrow) {
    let begin = [this.x(arrow.begin), this.y(arrow.begin.time)];
    if (arrow.left !== null) begin = [begin[0] + (this.x(arrow.end) >= begin[0] ? ASIDE : -ASIDE), this.y(arrow.left)];
    const end = [this.x(arrow.end), this.y(arrow.end.time)];
    if (!arrow.lost) return [begin, end];
    if (arrow.near || arrow.begin.node === arrow.end.node) {
      const { nodes } = this.panel, here = nodes.indexOf(arrow.begin.node), there = here + 1 < nodes.length ? nodes[here + 1] : nodes.at(here - 1);
      return [begin, [begin[0] + 0.3 * (this.columns.get(there)[HOST] - begin[0]), end[1]]];
    }
    return [begin, [begin[0] + 0.72 * (end[0] - begin[0]), begin[1] + 0.72 * (end[1] - begin[1])]];
  }

  /** The part of a line that is within the period. */
  clipped(begin, end) {
    const { top, bottom } = this, at = (y) => begin[0] + ((end[0] - begin[0]) * (y - begin[1])) / (end[1] - begin[1]);
    if (end[1] < top || begin[1] > bottom) return null;
    return [begin[1] < top ? [at(top), top] : begin, end[1] > bottom ? [at(bottom), bottom] : end];
  }

  arrow(arrow) {
    const { colour, dashes, width } = KINDS.get(arrow.kind), made = group(`arrow ${arrow.kind}${arrow.again ? " again" : ""}`, arrowText(arrow));
    const [begin, end] = this.ends(arrow), start = [this.x(arrow.begin), this.y(arrow.begin.time)];
    const wait = arrow.left !== null && this.clipped(start, begin), line = this.clipped(begin, end);
    if (wait) made.shapes.push(polyline(wait, colour, 0.5));
    if (!line) return made;
    made.shapes.push(polyline(line, colour, width * (arrow.again ? 1.5 : 1), dashes));
    if (samePoint(line[1], end) && !arrow.lost) made.shapes.push(...(arrow.kept ? barAt(line, BY_AGENT) : [headOf(line, colour)]));
    made.shapes.push(...this.parts(arrow, [begin, end], false));
    if (arrow.made) made.shapes.push(diamondAt(start, BY_AGENT));
    else if (arrow.again && samePoint(line[0], begin)) made.shapes.push(dotAt(begin, colour));
    return made;
  }

  /** The MPDUs of an A-MPDU along its arrow: a tick for each, or a cross for each that was lost. */
  parts(arrow, [[x0, y0], [x1, y1]], areLost) {
    if (arrow.lost) return [];
    const { length } = arrow.parts, isWide = Math.hypot(x1 - x0, y1 - y0) >= 2 * length;
    return arrow.parts.flatMap((part, number) => {
      const share = (number + 0.5) / length, x = x0 + share * (x1 - x0), y = y0 + share * (y1 - y0);
      if (y < this.top || y > this.bottom || Boolean(part.lost) !== areLost) return [];
      if (areLost) return crossAt([x, y], 2.2, 1.1);
      return isWide ? [polyline([[x, y - 2], [x, y + 2]], KINDS.get(arrow.kind).colour, 0.6)] : [];
    });
  }

  /** The cross of a loss within the period, with its cause. */
  loss(arrow) {
    const [begin, end] = this.ends(arrow), isRight = end[0] >= begin[0];
    if (end[1] < this.top || end[1] > this.bottom) return [];
    return [...crossAt(end), words(end[0] + (isRight ? 5 : -5), end[1] + 1, arrow.lost, SMALL, { anchor: isRight ? "start" : "end", plate: true })];
  }

  /** A text where it covers no other. */
  placed(text) {
    const box = boxOf(text);
    if (this.taken.some((other) => overlap(box, other))) return null;
    this.taken.push(box);
    return text;
  }

  /** The label of an arrow, if there is space for it. */
  label(arrow) {
    const line = this.clipped(...this.ends(arrow)), text = arrow.label + (arrow.again ? " again" : "");
    if (!line) return null;
    const [[x0, y0], [x1, y1]] = line;
    if (arrow.begin.node === arrow.end.node && !arrow.lost) {
      // Between a host and its agent, the label is outside both.
      const seats = this.columns.get(arrow.begin.node), isLeft = seats[HOST] <= (seats[AGENT] ?? seats[HOST]), x = seats[HOST] + (isLeft ? -3 : 3);
      const room = isLeft ? x - this.left - this.strip : this.right - x;
      return this.placed(words(x, y0, text, this.fitting(text, room), { colour: BY_AGENT, anchor: isLeft ? "end" : "start", plate: true }));
    }
    for (const share of PLACES) {
      const found = words(x0 + share * (x1 - x0), y0 + share * (y1 - y0) - 0.2, text, SIZE, { colour: KINDS.get(arrow.kind).colour, plate: true });
      if (widthOf(found) <= Math.abs(x1 - x0) + 4 && this.placed(found)) return found;
    }
    return null;
  }

  /** Timeouts and other events of a node, outside its line; a timer is a bracket from its start. */
  marks() {
    const { nodes } = this.panel;
    return this.panel.marks.filter(({ place }) => this.columns.has(place.node)).map(({ place, text, since }) => {
      const isRight = nodes.indexOf(place.node) >= nodes.length / 2, sign = isRight ? 1 : -1, x = this.columns.get(place.node)[HOST], y = this.y(place.time);
      const took = since === null ? "" : `, set ${general(place.time - since, 6)} s before`;
      const made = group("mark", `${text} at ${place.node}, ${fixed(place.time, 6)} s${took}`);
      if (since !== null) {
        const start = Math.max(this.y(since), this.top);
        made.shapes.push(polyline([[x, start], [x + 3.5 * sign, start], [x + 3.5 * sign, y], [x, y]], BLACK, 0.7));
      }
      made.shapes.push(dotAt([x, y], BLACK));
      const room = isRight ? this.right - x - 6 : x - 6 - this.left - this.strip;
      const label = this.placed(words(x + 6 * sign, y, text, this.fitting(text, room), { anchor: isRight ? "start" : "end", plate: true }));
      if (label) made.shapes.push(label);
      return made;
    });
  }

  /** The congestion window as a strip, whose width is proportional to the window. */
  windows() {
    if (!this.strip) return [];
    const { windows } = this.panel, most = Math.max(2, ...windows.map((step) => step.cwnd)), left = this.left + 4, wide = STRIP - 8;
    const made = group("window", `congestion window, up to ${general(most, 6)} segments`), points = [];
    let last = null;
    for (const { time, cwnd } of windows) {
      const x = left + (wide * cwnd) / most, y = Math.max(this.y(time), this.top);
      if (points.length) points.push([points.at(-1)[0], y]);
      points.push([x, y]);
      if (!last || (Math.abs(cwnd - last[0]) >= 0.1 * most && y - last[1] > 3 * SIZE)) {
        made.shapes.push(words(left, y + 4, general(cwnd), SMALL, { colour: GREY, anchor: "start" }));
        last = [cwnd, y];
      }
    }
    points.push([points.at(-1)[0], this.bottom]);
    made.shapes.unshift(area([[left, points[0][1]], ...points, [left, this.bottom]], "#eeeeee"), polyline(points, GREY, 0.8));
    made.shapes.push(words(left, this.top - 10, "cwnd", SMALL, { colour: GREY, anchor: "start" }));
    return [made];
  }
}

/** A complete description of an arrow in one line. */
function arrowText({ begin, end, label, again, made, kept, lost, left, parts, notes }) {
  const milli = (span) => fixed(1e3 * span, 3), failed = lost ? [] : parts.filter((part) => part.lost), before = parts.filter((part) => part.attempt > 1).length;
  const states = [again && `sent again (${again})`, made && "made by an agent", kept && "kept by an agent", lost && `lost: ${lost}`];
  if (left !== null) states.push(`on the air or wire after ${milli(left - begin.time)} ms`);
  if (parts.length) states.push(`${parts[0].label} to ${parts.at(-1).label}`, before && `${before} sent before`);
  if (failed.length) states.push(`lost of it: ${failed.slice(0, 8).map((part) => part.label).join(", ")}${failed.length > 8 ? ` and ${failed.length - 8} more` : ""}`);
  const way = begin.node === end.node ? begin.node : `${begin.node} to ${end.node}`;
  return [`${label}, ${way}, ${fixed(begin.time, 6)} s`, `${milli(end.time - begin.time)} ms`, ...states.filter(Boolean), ...notes].join(", ");
}

/** A legend of the arrows and signs that occur. */
function ladderLegend(panels, width, y) {
  const arrows = panels.flatMap((panel) => panel.arrows), line = [[0, 0], [18, 0]], piece = [[4, 0], [14, 0]];
  const kinds = [...KINDS].filter(([kind]) => arrows.some((it) => it.kind === kind));
  const entries = kinds.map(([, { colour, dashes, width: thick, name }]) => [name, [polyline(line, colour, thick, dashes), headOf(line, colour)]]);
  const signs = [
    [(it) => it.again, "sent again", [polyline(piece, GREY, 1.6), dotAt([4, 0], GREY)]],
    [(it) => it.made, "made by an agent", [diamondAt([9, 0], BY_AGENT)]],
    [(it) => it.kept, "kept by an agent", [polyline(piece, GREY, 1), ...barAt(piece, BY_AGENT)]],
    [(it) => it.parts.length, "MPDUs of an A-MPDU", combAt(4, 14, GREY)],
    [(it) => it.lost || it.parts.some((part) => part.lost), "lost", crossAt([9, 0])],
  ];
  entries.push(...signs.filter(([is]) => arrows.some(is)).map(([, name, shapes]) => [name, shapes]));
  const made = group("legend"), widths = entries.map(([name]) => 24 + widthOf(words(0, 0, name, SMALL)) + 8), rows = [[]];
  const wideOf = (row) => row.reduce((sum, number) => sum + widths[number], 0);
  entries.forEach((_, number) => {
    if (wideOf(rows.at(-1)) + widths[number] > width - 8 && rows.at(-1).length) rows.push([]);
    rows.at(-1).push(number);
  });
  rows.forEach((row, place) => {
    let x = Math.max(4, (width - wideOf(row)) / 2);
    for (const number of row) {
      const [name, shapes] = entries[number];
      made.shapes.push(...shapes.map((shape) => ({ ...shape, points: shape.points.map(([px, py]) => [px + x, py + y + 10 * place]) })), words(x + 22, y + 10 * place, name, SMALL, { anchor: "start" }));
      x += widths[number];
    }
  });
  return made;
}

const samePoint = (a, b) => a[0] === b[0] && a[1] === b[1];

/** The head of an arrow at the end of a line. */
function headOf([[x0, y0], [x1, y1]], colour) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1, dx = (x1 - x0) / length, dy = (y1 - y0) / length, long = Math.min(5, 0.6 * length), half = 1.9;
  const [bx, by] = [x1 - long * dx, y1 - long * dy];
  return area([[x1, y1], [bx - half * dy, by + half * dx], [bx + half * dy, by - half * dx]], colour);
}

function barAt([[x0], [x1, y1]], colour) {
  const x = x1 + (x1 > x0 ? -1.5 : 1.5);
  return [polyline([[x, y1 - 3.5], [x, y1 + 3.5]], colour, 2)];
}

function crossAt([x, y], half = 3, width = 1.5) {
  return [[[x - half, y - half], [x + half, y + half]], [[x - half, y + half], [x + half, y - half]]].map((arm) => polyline(arm, BLACK, width));
}

/** A piece of an arrow with the ticks of MPDUs. */
function combAt(left, right, colour) {
  const ticks = [0.125, 0.375, 0.625, 0.875].map((share) => left + share * (right - left));
  return [[[left, 0], [right, 0]], ...ticks.map((x) => [[x, -2], [x, 2]])].map((line) => polyline(line, colour, 0.8));
}

function dotAt([x, y], colour) {
  return area(Array.from({ length: 12 }, (_, n) => [x + 2 * Math.cos((2 * Math.PI * n) / 12), y + 2 * Math.sin((2 * Math.PI * n) / 12)]), colour);
}

const diamondAt = ([x, y], colour) => area([[x, y - 3.2], [x + 3.2, y], [x, y + 3.2], [x - 3.2, y]], colour);

/** Times at round intervals of at least forty points. */
function ticksOf([begin, end], height) {
  const rough = ((end - begin) * 40) / height, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((times) => power * times).find((it) => it >= rough);
  const first = Math.ceil(begin / step - 1e-9), last = Math.floor(end / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => (first + n) * step);
}

/** A tick with enough decimals to distinguish it from its neighbours. */
function secondsAt(tick, ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  return fixed(tick, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}
