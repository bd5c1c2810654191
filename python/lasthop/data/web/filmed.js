// A run in motion, of the rows of its trace: what views/film.py makes for `lasthop play`, held equal by a test, and the data of its page.

// How long after the period a frame within it may end, in seconds, and segments that are played.
const PATIENCE = 5, PLAYED = 1000;

class FilmOf {
  constructor([begin, end]) {
    Object.assign(this, { begin, end, hosts: [], agents: [], links: new Map(), media: [], flights: [], waits: [], happenings: [], windows: new Map(), received: [] });
    // A packet's rows by number; when it entered the queue of a node, and when it came to one that has none in the trace.
    Object.assign(this, { frames: new Map(), packets: new Map(), agains: new Set(), made: new Set(), queued: new Map(), senders: new Set(), came: new Map(), paths: [], from: "", before: null });
  }

  /** Takes all rows that the period needs. */
  static of(rows, period) {
    const film = new FilmOf(period), [, end] = period;
    for (const row of rows) {
      if (row.time_s > end && (row.time_s > end + PATIENCE || ![...film.frames.values()].some((it) => it.time_s <= end))) break;
      film.take(row);
    }
    for (const [place, since] of film.queued) film.wait(...film.placed.get(place), since, end);
    film.nodes = ordered(film.paths, film.from);
    film.flights.sort((a, b) => a.begin - b.begin);
    film.waits.sort((a, b) => a.begin - b.begin);
    for (const flow of film.windows.keys()) if (!film.senders.has(flow)) film.windows.delete(flow);
    return film;
  }

  isWithin(time) {
    return this.begin <= time && time <= this.end;
  }

  take(row) {
    if (TRANSPORTS.includes(row.layer)) this.transport(row);
    else if (row.layer === "agent") this.agent(row);
    else if (row.layer === "link") this.link(row);
    else if (row.layer === "frame") this.frame(row);
    else if (row.layer === "mpdu" && row.event === "receive") this.came.set(row.packet, [row.node, row.time_s]);
    if (this.isWithin(row.time_s)) this.tell(row);
    this.before = row;
  }

  transport(row) {
    if (!this.hosts.includes(row.node)) this.hosts.push(row.node);
    if (row.event === "send") {
      this.packets.set(row.packet, row);
      if (row.what === "data") {
        this.senders.add(row.flow);
        this.from ||= row.node;
      }
      if (row.what !== "ack" && !["new", ""].includes(row.why) && row.layer === "tcp") this.agains.add(row.packet);
    } else if (row.event === "receive") {
      const isNew = row.what === "datagram" || ["in-order", "early"].includes(row.why);
      if (isNew && row.len > 0 && this.isWithin(row.time_s)) this.received.push([row.time_s, row.len]);
    }
    if (row.layer === "tcp" && row.cwnd !== null && row.time_s <= this.end) this.window(row);
  }

  /** The window of the end at a node; received data has the name of the other end. */
  window(row) {
    const back = ".reverse";
    const flow = row.event !== "receive" ? row.flow : row.flow.endsWith(back) ? row.flow.slice(0, -back.length) : row.flow + back;
    if (!this.windows.has(flow)) this.windows.set(flow, []);
    const steps = this.windows.get(flow), step = { time: Math.max(row.time_s, this.begin), cwnd: row.cwnd, ssthresh: row.ssthresh }, last = steps.at(-1);
    if (last && last.cwnd === step.cwnd && last.ssthresh === step.ssthresh) return;
    if (last?.time === step.time) steps.pop();
    steps.push(step);
  }

  agent(row) {
    if (!this.agents.includes(row.node)) this.agents.push(row.node);
    if (!["make", "again", "release"].includes(row.event)) return;
    this.packets.set(row.packet, row);
    if (row.event === "make") this.made.add(row.packet);
    if (row.event === "again") this.agains.add(row.packet);
  }

  link(row) {
    const place = `${row.packet} ${row.node}`;
    if (row.event === "queue") {
      this.enqueue(place, row);
      if (!this.packets.has(row.packet)) this.packets.set(row.packet, row);
    } else if (row.event === "copy") this.packets.set(row.packet, row);
    else if (["done", "lost"].includes(row.event) && this.queued.has(place)) this.wait(row.packet, row.node, this.dequeue(place), row.time_s);
  }

  enqueue(place, row) {
    this.placed ??= new Map();
    this.placed.set(place, [row.packet, row.node]);
    this.queued.set(place, row.time_s);
  }

  dequeue(place) {
    const since = this.queued.get(place);
    this.queued.delete(place);
    return since;
  }

  frame(row) {
    if (row.event === "send") {
      this.frames.set(row.frame, row);
      if (row.what === "packet") this.leaves(row);
      return;
    }
    const sent = this.frames.get(row.frame);
    if (!sent) return;
    this.frames.delete(row.frame);
    this.paths.push([sent.node, sent.peer || sent.node]);
    this.came.set(row.packet, [row.node, row.time_s]);
    this.fly(sent, row);
  }

  /** A packet leaves a queue for a wire or in a slot, once its last bit is sent. */
  leaves(row) {
    const [node, time] = this.came.get(row.packet) ?? [];
    const since = this.dequeue(`${row.packet} ${row.node}`) ?? (node === row.node ? time : undefined);
    this.wait(row.packet, row.node, since ?? row.time_s, row.time_s + row.duration_s);
  }

  fly(sent, ended) {
    if (ended.time_s < this.begin || sent.time_s > this.end) return;
    const [source, target] = [sent.node, sent.peer || ended.node];
    if (!this.links.has(sent.link)) this.links.set(sent.link, []);
    const pairs = this.links.get(sent.link);
    if (!pairs.some(([a, b]) => (a === source && b === target) || (a === target && b === source))) pairs.push([source, target]);
    if (sent.what !== "packet" && !this.media.includes(sent.link)) this.media.push(sent.link);
    const carried = ["data", "packet", "a-mpdu"].includes(sent.what) ? this.packets.get(sent.packet) : undefined;
    const [kind, what, number] = kindOf(sent, carried), isOne = Boolean(carried) && sent.what !== "a-mpdu";
    this.flights.push({
      begin: sent.time_s, end: ended.time_s, air: sent.duration_s, source, target, link: sent.link, kind, what, number,
      attempt: sent.what === "a-mpdu" ? 0 : sent.attempt, lost: ended.event === "lost" ? reasonOf(ended.why) : "",
      again: isOne && this.agains.has(sent.packet), made: isOne && this.made.has(sent.packet),
    });
  }

  wait(packet, node, begin, end) {
    const known = this.packets.get(packet);
    if (known && end >= this.begin && begin <= this.end && end > begin) this.waits.push({ begin, end, node, kind: kindOf(known, known)[0] });
  }

  tell(row) {
    const found = sentenceOf(row, this.before, this.packets.get(row.packet));
    if (!found) return;
    const [kind, text, why, number] = found, told = this.happenings, last = told.at(-1);
    if (last && last.time === row.time_s && last.node === row.node && last.kind === kind) {
      // A wire loses the frame and with it the packet.
      if (kind === "timeout" || (kind === "loss" && last.number === number && last.why === why)) told.pop();
    }
    told.push({ time: row.time_s, node: row.node, kind, text, why, number });
  }
}

/** The places of nodes in metres where they are not on a line; a node without a position has none. */
function placesOf(nodes, positions) {
  const known = new Map(positions.map(([name, x, y]) => [name, [x, y]])), places = nodes.map((node) => known.get(node) ?? null), spots = places.filter(Boolean);
  if (spots.length < 3) return null;
  const [first] = spots, distance = ([x, y]) => Math.hypot(x - first[0], y - first[1]);
  const far = spots.reduce((most, spot) => (distance(spot) > distance(most) ? spot : most)), length = distance(far);
  const aside = ([x, y]) => Math.abs((x - first[0]) * (far[1] - first[1]) - (y - first[1]) * (far[0] - first[0])) / length;
  // Nodes within a twentieth of their greatest distance from a line are on it.
  return length && Math.max(...spots.map(aside)) > 0.05 * length ? places : null;
}

const PER_S = 10_000_000;
const SORTS = ["tcp", "agent", "frame", "link", "loss", "timeout"];

/** What the page of `lasthop play` reads: films of runs over the same period, each with its title and the places of its nodes. */
function playedData(films, period, looks) {
  const texts = new Map([["", 0]]);
  const placed = (text) => texts.get(text) ?? texts.set(text, texts.size).get(text);
  return { period, perSecond: PER_S, ...looks, runs: films.map(([title, film, places]) => ({ ...playedRun(title, film, looks.kinds.map((kind) => kind.id), placed), places })), texts: [...texts.keys()] };
}

/** The page of `lasthop play` with a film of our own. */
function filmPage(data, title) {
  const [begin, end] = data.period, plain = (text) => el("i", {}, text).innerHTML;
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  const parts = { title: plain(title), about: `${Number(begin.toPrecision(6))} s to ${Number(end.toPrecision(6))} s`, data: json };
  return SETUP.play.page.replace(/<!--film:(\w+)-->/g, (_, name) => parts[name]);
}

/** A film as columns; times are differences to the one before. */
function playedRun(title, film, kinds, placed) {
  const ticks = (time) => {
    // What is half way goes to the even number, as in Python.
    const exact = (time - film.begin) * PER_S, whole = Math.round(exact);
    return Math.abs(exact % 1) === 0.5 && whole % 2 ? whole - 1 : whole;
  };
  const span = (it) => ticks(it.end) - ticks(it.begin);
  const steps = (times) => times.map((time, i) => time - (i ? times[i - 1] : 0));
  const node = new Map(film.nodes.map((name, i) => [name, i])), at = (name) => node.get(name) ?? 0;
  const links = [...film.links.keys()], ways = new Map();
  const way = (it) => {
    const key = JSON.stringify([at(it.source), at(it.target), links.indexOf(it.link)]);
    return ways.get(key) ?? ways.set(key, ways.size).get(key);
  };
  const known = (names) => names.filter((name) => node.has(name)).map(at).sort((a, b) => a - b);
  const column = (list, of) => list.map(of), begins = (list) => steps(list.map((it) => ticks(it.begin ?? it.time)));
  const { flights, waits, happenings, windows, received } = film;
  const found = {
    title, nodes: film.nodes, agents: known(film.agents), hosts: known(film.hosts), sorts: SORTS,
    links: [...film.links].map(([name, pairs]) => ({ name, medium: film.media.includes(name), pairs: pairs.map((pair) => pair.map(at)) })),
    flights: {
      t: begins(flights), d: column(flights, span), air: column(flights, (it) => Math.round(it.air * PER_S)), way: column(flights, way),
      kind: column(flights, (it) => kinds.indexOf(it.kind)), what: column(flights, (it) => placed(it.what)), n: column(flights, (it) => it.number),
      lost: column(flights, (it) => placed(it.lost)), attempt: column(flights, (it) => it.attempt), state: column(flights, (it) => it.again + 2 * it.made),
    },
    waits: { t: begins(waits), d: column(waits, span), node: column(waits, (it) => at(it.node)), kind: column(waits, (it) => kinds.indexOf(it.kind)) },
    events: {
      t: begins(happenings), node: column(happenings, (it) => at(it.node)), sort: column(happenings, (it) => SORTS.indexOf(it.kind)),
      text: column(happenings, (it) => placed(it.text)), why: column(happenings, (it) => placed(it.why)), n: column(happenings, (it) => it.number),
    },
    windows: Object.fromEntries([...windows].map(([flow, own]) => [flow, { t: begins(own), cwnd: column(own, (it) => it.cwnd), ssthresh: column(own, (it) => it.ssthresh) }])),
    received: { t: steps(received.map(([time]) => ticks(time))), b: received.map(([, bytes]) => bytes) },
  };
  return { ...found, ways: [...ways.keys()].map((text) => JSON.parse(text)) };
}
