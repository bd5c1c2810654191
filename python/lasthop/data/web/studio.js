// The playground: a scenario that is checked while it is written, and run in the page.

const state = { name: SETUP.name, kept: SETUP.text, about: null, scenario: null, set: [], faults: [], running: false };
const HINT = $("#panel").firstElementChild;
let pool = null, checker = null, library = null, pending = 0, checks = 0;

const editor = new Editor($("#editor"), SETUP.text, () => changed());
const panels = new Panels($("#panel"), traced, run, () => state.running);

/** A click on a value of a figure shows the numbers of its point. */
function openPoint(_, point) {
  panels.point = point;
  panels.open("numbers");
}

function tell(text, isBad = false) {
  $("#state").textContent = text;
  $("#state").classList.toggle("bad", isBad);
}

/** The module has to be there before anything is checked; the page is seen before. */
async function load() {
  try {
    const [module, found] = await Promise.all([WebAssembly.compileStreaming(fetch("lasthop.wasm")), fetch("scenarios.json").then((answer) => answer.json())]);
    library = found;
    pool = new Pool($("#worker").textContent, module, library.files);
    checker = new Engine($("#worker").textContent, module, library.files);
    editor.know(await checker.ask({ call: { do: "keys" } }));
    await check();
  } catch (error) {
    tell(`The simulator cannot be loaded: ${error.message}`, true);
  }
}

/** Whether what is shown is of another text. */
function stale() {
  $("#stale").hidden = !panels.results || panels.results.scenario.text === editor.text;
}

function changed() {
  state.set = [];
  stale();
  $("#name").textContent = editor.text === state.kept ? state.name : `${state.name} (changed)`;
  knobs();
  clearTimeout(pending);
  pending = setTimeout(check, 250);
}

/** Checks the text; a check that takes long is ended with its worker. */
async function check() {
  clearTimeout(pending);
  if (!checker) return null;
  const mine = ++checks, text = editor.text;
  const scenario = { text, name: "scenario.toml", key: text };
  if (checker.waiting.size) checker.end("a newer text is checked");
  const late = setTimeout(() => { if (mine === checks) checker.end("checking took longer than 20 s; expected fewer points"); }, 20_000);
  const found = await checker.ask({ call: { do: "open", ...scenario } });
  clearTimeout(late);
  if (mine !== checks) return null;
  state.faults = found.error ? (found.faults.length ? found.faults : [{ line: 1, key: "", text: found.error }]) : [];
  editor.mark(state.faults);
  state.scenario = found.error ? null : scenario;
  state.about = found.error ? null : found;
  $("#run").disabled = Boolean(found.error) || state.running;
  if (found.error) {
    const [first] = state.faults;
    tell(`${first.line ? `line ${first.line}: ` : ""}${first.key ? `${first.key}: ` : ""}${first.text}`, true);
  } else {
    const axes = found.axes.map((axis) => axis.keys.join(", "));
    tell(`${found.points.length === 1 ? "1 point" : `${found.points.length} points`}${axes.length ? ` over ${axes.join(" × ")}` : ""}, ${human(found.duration_s, "s", 3)} each`);
  }
  $("#warnings").replaceChildren(...(found.warnings ?? []).map((text) => el("p", { class: "notice" }, text.replace(/^scenario\.toml:/, "line "))));
  command();
  return state.about;
}

/** One run of a point, with traces, for a panel. */
async function traced(scenario, { take, ...call }) {
  const engine = pool.engines[0], found = await engine.about(scenario, call);
  return found.error || !take ? found : engine.ask({ take });
}

/** Runs the scenario, under settings on top of its text. */
async function run(set = []) {
  const written = await check();
  if (!written || state.running) return;
  const scenario = set.length ? { ...state.scenario, set, key: JSON.stringify([editor.text, set]) } : state.scenario;
  const about = set.length ? await checker.ask({ call: { do: "open", ...scenario } }) : written;
  if (about.error) { tell(about.error, true); return; }
  state.set = set;
  command();
  const count = replications();
  await learnFactors(checker, count);
  const transfers = about.figures.some((figure) => figure.kind === "cdf");
  const results = new Results(scenario, about), begun = performance.now();
  const calls = Array.from({ length: count }, (_, replication) => about.points.map((_, point) => ({ do: "run", point, seed: about.seed, replication, transfers }))).flat();
  let done = 0, events = 0, failure = null, drawn = 0;
  busy(true);
  const reached = new Map();
  const progress = () => {
    const seconds = (performance.now() - begun) / 1000;
    // What is simulated of the runs that go on counts as well.
    const share = (done + [...reached.values()].reduce((sum, time) => sum + Math.min(1, time / about.duration_s), 0)) / calls.length;
    $("#progress").value = share;
    $("#done").textContent = `${done} of ${calls.length} runs${reached.size ? `, ${digits(100 * share, 2)} % simulated` : ""}`;
    $("#pace").textContent = done === calls.length ? `${digits(events / seconds / 1e6, 3)} million events/s, ${human(seconds, "s", 3)}` : share ? `about ${human(seconds / share - seconds, "s", 2)} left` : "";
  };
  progress();
  const finished = await pool.all(scenario, calls, (found, place) => {
    done++;
    reached.delete(place);
    if (found.error) failure = failure ?? found.error;
    else {
      events += found.events;
      results.rows[calls[place].point].set(calls[place].replication, found.metrics);
      results.series[calls[place].point].set(calls[place].replication, found.series);
      results.transfers[calls[place].point].set(calls[place].replication, found.transfers ?? []);
    }
    progress();
    if (panels.name === "figures" && performance.now() - drawn > 800 && done < calls.length) {
      drawn = performance.now();
      panels.show(results);
    }
  }, (seconds, place) => {
    reached.set(place, seconds);
    progress();
  });
  busy(false);
  panels.show(results);
  stale();
  if (failure) tell(failure, true);
  if (!finished) tell(`Stopped after ${done} of ${calls.length} runs`);
  say(finished ? `${done} runs done` : "stopped");
  state.lasted = performance.now() - begun;
  dispatchEvent(new Event("ran"));
}

function busy(is) {
  state.running = is;
  $("#run").disabled = is || !state.about;
  $("#stop").disabled = !is;
}

function stop() {
  pool?.stop();
}

const replications = () => Math.max(1, Math.min(200, Math.floor(Number($("#replications").value)) || 1));

/** The command that repeats natively what the page runs. */
function command() {
  const isKept = editor.text === state.kept, name = isKept ? state.name : "scenario.toml";
  const many = state.about && (state.about.points.length > 1 || replications() > 1);
  const settings = state.set.map(([key, value]) => ` -s '${key}=${value}'`).join("");
  $("#command").textContent = `${SETUP.program} ${many || settings ? `sweep ${name} -r ${replications()}` : `run ${name}`}${settings}`;
}

/** Takes another scenario. */
function take({ name, text, savable = false }) {
  Object.assign(state, { name, kept: text, savable });
  state.knobs = [];
  editor.text = text;
  $("#keep").textContent = savable ? "Save" : "Download";
  pool?.stop();
  panels.results = null;
  $("#panel").replaceChildren(HINT);
  return check().then((about) => {
    if (about) $("#replications").value = Math.min(about.replications, 5);
    command();
  });
}

/** A page of which the reader turns knobs: they and the results, each point once. */
async function turnOnly(given) {
  $("#main").classList.add("turning");
  for (const [key, number] of Object.entries(given)) if (number !== null) editor.put(key, String(number));
  for (const { key, value, unit } of editor.numbers()) if (key in given) state.knobs.push({ key, most: mostOf(value, unit) });
  knobs();
  $("#replications").value = 1;
  await run();
}

// Sliders for numbers.
state.knobs = [];
let turning = 0;

/** The upper end of the slider of a number. */
const mostOf = (value, unit) => (unit.trim() === "%" ? Math.min(100, Math.max(10, 2 * value)) : 2 * Math.abs(value)) || 10;

function addKnob() {
  const found = editor.numberHere();
  if (!found) { answer($("#add-knob"), "No number in the line of the cursor"); return; }
  if (!state.knobs.some((knob) => knob.key === found.key)) state.knobs.push({ key: found.key, most: mostOf(found.value, found.unit) });
  knobs();
}

function knobs() {
  const numbers = new Map(editor.numbers().map((it) => [it.key, it]));
  const known = state.knobs.filter((knob) => numbers.has(knob.key)), host = $("#knobs");
  if (known.map((knob) => knob.key).join() === $$(".knob", host).map((it) => it.dataset.key).join()) {
    for (const it of $$(".knob", host)) showKnob(it, numbers.get(it.dataset.key));
    return;
  }
  host.replaceChildren(...known.map(({ key, most }) => {
    const number = numbers.get(key), id = `knob-${key}`, step = 10 ** Math.floor(Math.log10(most / 100));
    const slider = el("input", { type: "range", id, min: number.value < 0 ? -most : 0, max: most, step, value: number.value, oninput: () => turn(key, slider.value) });
    const it = el("div", { class: "knob", "data-key": key }, el("label", { for: id }, key), slider, el("output", {}),
      el("button", { type: "button", "aria-label": `Remove the slider of ${key}`, onclick: () => { state.knobs = state.knobs.filter((knob) => knob.key !== key); knobs(); $("#add-knob").focus(); } }, "×"));
    showKnob(it, number);
    return it;
  }));
}

function showKnob(it, number) {
  $("output", it).textContent = `${number.value}${number.unit}`;
  if (document.activeElement !== $("input", it)) $("input", it).value = number.value;
}

/** A slider writes its number; where the last runs were short, it runs them again. */
function turn(key, value) {
  editor.put(key, String(Number(value)));
  clearTimeout(turning);
  if (state.lasted < 3000) turning = setTimeout(() => { stop(); setTimeout(() => run(), 50); }, 350);
}

// Scenarios that are shipped, and those of the folder.
function sketch({ nodes = [], links = [] }) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 230 84");
  drawing.setAttribute("aria-hidden", "true");
  const add = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    drawing.append(made);
  };
  const line = (a, b, kind) => add("line", { x1: nodes[a][0], y1: nodes[a][1], x2: nodes[b][0], y2: nodes[b][1], class: kind });
  for (const [a, b, kind] of links) line(a, b, kind);
  for (const [x, y] of nodes) add("circle", { cx: x, cy: y, r: nodes.length > 20 ? 2 : 4 });
  return drawing;
}

function gallery() {
  const words = $("#find").value.toLowerCase();
  const all = (library?.scenarios ?? []).filter((it) => `${it.name} ${it.title}`.toLowerCase().includes(words));
  $("#gallery-here").replaceChildren(...all.map((it) => el("li", {}, el("button", { type: "button", onclick: () => { $("#gallery").close(); take(it); } },
    sketch(it.picture ?? {}), el("b", {}, it.title), el("small", {}, it.name)))));
}

// The tour: one minute on what an agent does.
const TOUR = [
  ["LLE-TCP sits between TCP and an 802.11 link. It makes the TCP acknowledgements at the sender from the acknowledgements of the link, so that none of them takes time on the air. This scenario runs a hop with it and without it.", "Run it", () => run()],
  ["Each bar is the time of the medium. With LLE-TCP the part of the TCP acknowledgements is gone, and data has more of it. How much more?", "Compare", () => { panels.compared = null; panels.point = SETUP.tour.point; panels.open("compare"); }],
  ["Goodput grows by the difference below, with its interval. Why, frame by frame?", "Ladder", () => panels.open("ladder")],
  ["Without the agent each piece of data is followed by a TCP acknowledgement in a frame of its own. With LLE-TCP this airtime is saved. Now change a number in the scenario, and run it again.", "End the tour", () => {}],
];

async function tour(step = 0) {
  const host = $("#tour");
  if (step === 0) {
    const found = library?.scenarios.find((it) => it.name === SETUP.tour.name);
    if (!found) return;
    await take(found);
    $("#replications").value = 5;
    panels.open("figures");
  }
  if (step >= TOUR.length) { host.hidden = true; return; }
  const [text, word, act] = TOUR[step];
  const next = el("button", { type: "button", id: "next", onclick: async () => {
    next.disabled = true;
    await act();
    await tour(step + 1);
  } }, word);
  host.replaceChildren(el("p", {}, text), next);
  host.hidden = false;
  next.focus({ preventScroll: step > 0 && innerWidth > 900 });
}

async function keep(button) {
  if (!state.savable) { save(state.name.endsWith(".toml") ? state.name : "scenario.toml", editor.text); return; }
  const text = editor.text, found = await fetch("save", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name: state.name, text }) });
  answer(button, found.ok ? "Saved" : "Not saved");
  if (!found.ok) { tell(await found.text(), true); return; }
  state.kept = text;
  changed();
}

async function share(button) {
  const link = `${location.href.split("#")[0]}#s=${await packed({ name: state.name, text: editor.text })}`;
  history.replaceState(null, "", link);
  copy(link, button);
}

$("#run").addEventListener("click", () => run());
$("#stop").addEventListener("click", stop);
$("#replications").addEventListener("input", command);
$("#add-knob").addEventListener("click", addKnob);
$("#share").addEventListener("click", (event) => share(event.currentTarget));
$("#keep").addEventListener("click", (event) => keep(event.currentTarget));
$("#whole").addEventListener("click", () => { $("#main").classList.remove("turning"); editor.view.requestMeasure(); });
$("#start-tour").addEventListener("click", () => tour());
$("#open-gallery").addEventListener("click", () => { gallery(); $("#gallery").showModal(); });
$("#close-gallery").addEventListener("click", () => $("#gallery").close());
$("#find").addEventListener("input", gallery);
$("#copy-command").addEventListener("click", (event) => copy($("#command").textContent, event.currentTarget));
addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
});
addEventListener("click", (event) => {
  for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

(async () => {
  const shared = location.hash.startsWith("#s=") ? await unpacked(location.hash.slice(3)) : null;
  if (shared) await take({ name: shared.name ?? "shared", text: shared.text });
  else await take({ name: SETUP.name, text: SETUP.text, savable: SETUP.savable });
  await load();
  const about = state.about;
  if (about) $("#replications").value = Math.min(about.replications, 5);
  command();
  if (about && shared?.knobs) await turnOnly(shared.knobs);
  dispatchEvent(new Event("ready"));
})();
