// The controls, and the runs under them: one time for all.

const DATA = JSON.parse($("#data").textContent);
const FILMS = DATA.runs.map((run) => new Film(run, DATA));
const LENGTH = DATA.period[1] - DATA.period[0];
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const ROWS = 7;
const THEMES_ALARM = { light: "#a8321a", dark: "#ff9579" };
const SHARED = {
  cwnd: Math.max(2, ...FILMS.flatMap((film) => Object.values(film.windows).flatMap((steps) => steps.cwnd))),
  queue: Math.max(1, ...FILMS.flatMap((film) => film.queues.flatMap((queue) => queue.n))),
};
const state = { time: 0, playing: false, speed: 1, span: Infinity, mac: true };

/** A run with its stage, its numbers, strips and what happened. */
class Panel {
  constructor(film) {
    this.film = film;
    this.stage = new (film.places ? Plan : Stage)(film, DATA, FILMS.some((one) => one.agents.size));
    this.strips = new Strips(film, DATA, SHARED, (t) => { pause(); seek(t); });
    this.facts = el("dl", { class: "facts" });
    this.log = el("ol", { class: "log" });
    // On a phone the stages of both runs come first, and the rest repeats which run it is of.
    this.front = el("div", { class: "front" }, film.title ? el("h2", {}, film.title) : "", this.stage.host);
    this.host = el("article", { class: "card" }, this.front,
      el("div", { class: "rest" }, el("div", { class: "again-title", "aria-hidden": "true" }, film.title), this.facts, this.log, this.strips.host));
  }

  layout() {
    this.width = Math.floor(this.stage.host.clientWidth);
    this.stage.layout(this.width);
  }

  show(t) {
    const fade = state.speed * 0.9;
    this.stage.show(t, fade, state.mac);
    this.strips.show(t, state.span, this.width);
    this.tell(t);
  }

  tell(t) {
    const events = state.mac ? this.film.events : (this.wired ??= this.film.events.filter((one) => !one.isMac));
    const end = after(events, t, (one) => one.t);
    const rows = events.slice(Math.max(0, end - ROWS), end);
    keyed(this.log, `${end} ${state.mac}`, () => rows.map((one) => el("li", { class: `${one.sort}${one.t === rows.at(-1).t ? " now" : ""}` },
      el("time", {}, clock(one.t)), el("span", { class: "where" }, this.film.nodes[one.node] ?? ""), el("span", { class: "what" }, one.text, one.why ? el("span", { class: "reason" }, ` — ${one.why}`) : ""))));
    const facts = [["received", human(this.film.received(t), "B", 3)], ["packets lost", this.count(t, isPacketLoss)], ["timeouts", this.count(t, isTimeout)]];
    if (this.film.links.some((link) => link.medium)) facts.splice(2, 0, ["frames lost", this.count(t, isFrameLoss)]);
    if (this.film.agents.size) facts.push(["made by agents", this.count(t, isMade)]);
    keyed(this.facts, String(facts), () => facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  /** How often something has happened. */
  count(t, is) {
    this.counted ??= new Map();
    if (!this.counted.has(is)) this.counted.set(is, this.film.events.filter(is).map((one) => one.t));
    return String(after(this.counted.get(is), t));
  }
}

const isPacketLoss = (one) => one.sort === "loss" && one.text.endsWith("is lost");
const isFrameLoss = (one) => one.sort === "loss" && !isPacketLoss(one);
const isTimeout = (one) => one.sort === "timeout" && one.text.startsWith("Timeout");
const isMade = (one) => one.sort === "agent" && one.text.startsWith("The agent makes");

const PANELS = FILMS.map((film) => new Panel(film));
$("#runs-here").append(...PANELS.map((panel) => panel.host));
$("#runs-here").classList.toggle("two", PANELS.length > 1);

function clock(t) { return `${(DATA.period[0] + t).toFixed(LENGTH > 100 ? 4 : 6)} s`; }

/** Show the time of the state. */
function show() {
  for (const panel of PANELS) panel.show(state.time);
  const slider = $("#time"), share = state.time / LENGTH;
  slider.value = Math.round(share * 100000);
  slider.style.setProperty("--share", share);
  slider.setAttribute("aria-valuetext", clock(state.time));
  $("#clock").textContent = clock(state.time);
  $("#loss").disabled = !(next("loss") !== undefined);
  $("#timeout").disabled = !(next("timeout") !== undefined);
  $("#back").disabled = state.time <= 0;
  $("#on").disabled = state.time >= LENGTH;
}

function seek(t) {
  state.time = clampTo(t, 0, LENGTH);
  show();
}

/** The times at which something happens in any run, in order; of one sort or all. */
function stops(sort = "") {
  const key = `${sort} ${state.mac}`;
  stops.known ??= {};
  return (stops.known[key] ??= [...new Set(FILMS.flatMap((film) => film.events.filter((one) => (!sort || one.sort === sort) && (state.mac || !one.isMac)).map((one) => one.t)))].sort((a, b) => a - b));
}

const next = (sort) => { const list = stops(sort); return list[after(list, state.time)]; };
const last = (sort) => { const list = stops(sort); return list[after(list, state.time - 1e-9) - 1]; };

/** Go to an event, and read it aloud. */
function jump(t) {
  if (t === undefined) return;
  pause();
  seek(t);
  for (const { film, stage } of PANELS) {
    const first = film.happened(state.time - 1e-9, state.time).find((one) => ["loss", "timeout"].includes(one.sort));
    if (first) stage.reveal(first.node);
  }
  const told = PANELS.flatMap(({ film }) => film.happened(state.time - 1e-9, state.time).filter((one) => state.mac || !one.isMac).map((one) => [PANELS.length > 1 && film.title, film.nodes[one.node], one.text, one.why].filter(Boolean).join(", ")));
  say(`${clock(state.time)}: ${told.join("; ")}`);
}

// Playing.

let before = 0, pending = 0;

function frame(now) {
  if (!state.playing) return;
  const passed = Math.min(now - before, 100) / 1000;
  before = now;
  seek(state.time + passed * state.speed);
  if (state.time >= LENGTH) pause();
  else pending = requestAnimationFrame(frame);
}

/** Without motion: from event to event. */
function turn() {
  if (!state.playing) return;
  const t = next("");
  if (t === undefined) { pause(); return; }
  seek(t);
  pending = setTimeout(turn, 900);
}

function start() {
  if (state.playing) return;
  state.playing = true;
  if (state.time >= LENGTH) state.time = 0;
  press();
  if (STILL.matches) turn();
  else {
    before = performance.now();
    pending = requestAnimationFrame(frame);
  }
}

function pause() {
  if (!state.playing) return;
  state.playing = false;
  cancelAnimationFrame(pending);
  clearTimeout(pending);
  press();
}

function press() {
  const button = $("#run"), name = state.playing ? "Pause" : "Play";
  button.classList.toggle("playing", state.playing);
  button.setAttribute("aria-label", name);
  button.title = name;
}

// The controls.

/** Round numbers from 1, 2 and 5. */
function rounds(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
    for (const step of [1, 2, 5]) {
      const value = Number((step * 10 ** power).toPrecision(1));
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}

const short = (seconds) => { const [factor, unit] = prefix(seconds, "s"); return `${tick(seconds / factor)} ${unit}`; };

function offer() {
  const speeds = rounds(LENGTH / 5000, Math.max(LENGTH / 4, LENGTH / 5000));
  // Data takes about a second from node to node.
  const data = FILMS.flatMap((film) => film.flights.filter((one) => one.kind !== "mac-ack" && one.kind !== "control").map((one) => one.end - one.t)).sort((a, b) => a - b);
  const typical = data[Math.floor(data.length / 2)] ?? LENGTH / 30;
  state.speed = speeds.reduce((best, one) => (Math.abs(Math.log(one / typical)) < Math.abs(Math.log(best / typical)) ? one : best), speeds[0]);
  $("#speed").append(...speeds.map((one) => el("option", { value: one, selected: one === state.speed }, `${short(one)}/s`)));
  const spans = rounds(LENGTH / 500, LENGTH * 0.6).filter((one) => /^[15]/.test(String(one).replace(/^0\.0*/, "")));
  const about = spans.find((one) => one >= typical * 24);
  state.span = about ?? Infinity;
  $("#span").append(el("option", { value: "Infinity", selected: state.span === Infinity }, "whole"), ...spans.reverse().map((one) => el("option", { value: one, selected: one === state.span }, short(one))));
}

/** Where losses and timeouts are, above the slider; a row for each run. */
function markLosses() {
  const canvas = $("#marks"), k = devicePixelRatio, width = canvas.clientWidth, row = 7, height = row * FILMS.length + 1;
  canvas.width = width * k;
  canvas.height = height * k;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d"), on = theme();
  ctx.scale(k, k);
  const alarm = THEMES_ALARM[on.name];
  FILMS.forEach((film, i) => {
    for (const one of film.events) {
      const isTimeout = one.sort === "timeout";
      if (!isTimeout && one.sort !== "loss") continue;
      // What costs a packet is taller than a frame that is sent again.
      const isTall = isTimeout || isPacketLoss(one), x = 8 + (one.t / LENGTH) * (width - 16);
      ctx.fillStyle = isTimeout ? alarm : isTall ? on.ink : on.axis;
      ctx.fillRect(x - (isTimeout ? 1.5 : 0.5), i * row + (isTall ? 0 : 2), isTimeout ? 3 : 1, row - (isTall ? 1 : 3));
    }
  });
}

/** What the shapes mean, of those that are there. */
function signs() {
  const flights = FILMS.flatMap((film) => film.flights);
  const entry = (name, ...shapes) => el("span", { class: "sign" }, svg("svg", { viewBox: "-18 -14 36 28", width: 30, height: 22, "aria-hidden": "true" }, ...shapes), name);
  const own = (number, ...shapes) => svg("g", { style: `--own: light-dark(${DATA.kinds[number].light}, ${DATA.kinds[number].dark})` }, ...shapes);
  const shape = (kind) => { const made = token(kind); made.classList.add("shape"); return made; };
  const found = DATA.kinds.flatMap((kind, i) => (flights.some((one) => one.number === i) ? [entry(kind.id === "control" ? "control (SYN, RTS, CTS)" : kind.name, own(i, shape(kind.id)))] : []));
  if (flights.some((one) => one.again)) found.push(entry("sent again", own(0, shape("data"), svg("circle", { class: "again", r: 3 }))));
  if (flights.some((one) => one.made)) found.push(entry("made by an agent", own(1, svg("path", { class: "by-agent", d: "M0,-12L16,0L0,12L-16,0Z" }), shape("ack"))));
  if (flights.some((one) => one.lost)) found.push(entry("lost", svg("g", { class: "cross" }, svg("path", { d: "M-6,-6L6,6M-6,6L6,-6" }))));
  if (FILMS.some((film) => film.agents.size)) found.push(entry("an agent makes an ACK", svg("rect", { class: "halo", x: -15, y: -10, width: 30, height: 20, rx: 8, style: "opacity:1" }), svg("rect", { class: "box agent", x: -11, y: -7, width: 22, height: 14, rx: 4 })));
  $("#signs").append(...found);
}

function layout() {
  for (const panel of PANELS) panel.layout();
  markLosses();
  show();
}

offer();
signs();
$("#time").addEventListener("input", (event) => { pause(); seek((event.target.value / 100000) * LENGTH); });
$("#run").addEventListener("click", () => (state.playing ? pause() : start()));
$("#back").addEventListener("click", () => jump(last("") ?? 0));
$("#on").addEventListener("click", () => jump(next("")));
$("#loss").addEventListener("click", () => jump(next("loss")));
$("#timeout").addEventListener("click", () => jump(next("timeout")));
$("#speed").addEventListener("change", (event) => { state.speed = Number(event.target.value); show(); });
$("#span").addEventListener("change", (event) => { state.span = Number(event.target.value); show(); });
$("#mac").addEventListener("change", (event) => { state.mac = event.target.checked; show(); });
if (!FILMS.some((film) => film.flights.some((one) => one.isMac))) $("#mac").parentElement.hidden = true;

function faster(by) {
  const select = $("#speed");
  select.selectedIndex = clampTo(select.selectedIndex + by, 0, select.options.length - 1);
  state.speed = Number(select.value);
  say(`${select.selectedOptions[0].textContent}`);
  show();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const on = event.target;
  // Lists and buttons keep their own keys.
  if (on.matches("select, textarea") || (event.key === " " && on.matches("button, summary, input[type=checkbox]"))) return;
  const way = event.shiftKey;
  const act = {
    " ": () => (state.playing ? pause() : start()),
    ArrowRight: () => (way ? (pause(), seek(state.time + LENGTH / 10)) : jump(next(""))),
    ArrowLeft: () => (way ? (pause(), seek(state.time - LENGTH / 10)) : jump(last("") ?? 0)),
    Home: () => { pause(); seek(0); },
    End: () => { pause(); seek(LENGTH); },
    l: () => jump(way ? last("loss") : next("loss")),
    t: () => jump(way ? last("timeout") : next("timeout")),
    "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1), "−": () => faster(-1),
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
addEventListener("theme", () => { markLosses(); show(); });
new ResizeObserver(() => { if (PANELS.some((panel) => panel.front.clientWidth !== panel.at)) { for (const panel of PANELS) panel.at = panel.front.clientWidth; layout(); } }).observe($("#runs-here"));
// `#3.2` opens the page at this time.
state.time = clampTo((parseFloat(location.hash.slice(1)) || DATA.period[0]) - DATA.period[0], 0, LENGTH);
layout();
for (const panel of PANELS) panel.at = panel.front.clientWidth;
