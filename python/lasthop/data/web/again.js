// A report that simulates: a point is run again, as it was and with other values.

// Workers by the files that they have; most studies have none.
const POOLS = new Map();
let compiled = null;

/** The simulator of the page; it is unpacked when it is first used. */
async function unpackedModule() {
  const bytes = Uint8Array.from(atob($("#module").textContent), (sign) => sign.charCodeAt(0));
  return WebAssembly.compile(await through(bytes, new DecompressionStream("gzip")));
}

/** The workers of a study, which it shares with others. */
async function simulator({ again: { files } }) {
  const key = JSON.stringify(files), module = await (compiled ??= unpackedModule());
  if (!POOLS.has(key)) POOLS.set(key, new Pool($("#worker").textContent, module, files));
  return POOLS.get(key);
}

/** Runs of a point of a study under changed keys; fails with the words of the simulator. */
async function rerun(study, p, changes, count, progress) {
  const pool = await simulator(study), [engine] = pool.engines, { text } = study.again;
  const set = [...study.again.set, ...changes], scenario = { text, name: "scenario.toml", set, key: JSON.stringify(set) };
  const about = await engine.open(scenario);
  if (about.error) throw new Error(about.error);
  const own = Object.fromEntries(study.points.keys.map((key, i) => [key.name, key.values[p.values[i]]]));
  // A key that is given is not swept any more, so that points have other numbers.
  const point = about.points.findIndex((values) => Object.entries(values).every(([key, value]) => own[key] === value));
  if (point < 0) throw new Error("these values leave no such point");
  await learnFactors(engine, count);
  const runs = new Map();
  const calls = Array.from({ length: count }, (_, replication) => ({ do: "run", point, seed: study.points.seed, replication }));
  let failure = null;
  const isWhole = await pool.all(scenario, calls, (found, place) => {
    if (found.error) failure ??= found.error;
    else runs.set(calls[place].replication, found.metrics);
    progress(runs.size);
  });
  if (failure) throw new Error(failure);
  return isWhole ? { point, about, runs, of: (name) => new Map([...runs].map(([k, metrics]) => [k, metrics[name] ?? null])) } : null;
}

/** How many values of runs the page has recorded, and how many of them are the same now. */
function recordedOf({ metrics }, p, runs) {
  const found = { known: 0, same: 0 };
  (p.replications ?? []).forEach((replication, r) => metrics.forEach(({ name }, i) => {
    const now = runs.get(replication)?.[name], then = p.runs[i][r];
    if (now === undefined) return;
    found.known++;
    // The page has six digits of each.
    if ((now === null ? null : Number(now.toPrecision(6))) === then) found.same++;
  }));
  return found;
}

/** The part of a point's sheet that runs it again. */
function again(study, p) {
  if (study.again.lacks) return el("p", { class: "about" }, `${study.again.lacks} run on the command line only, not in this page.`);
  const values = study.values.map((i) => DATA.rows[i]);
  const keys = el("datalist", { id: "again-keys" }, values.map(([key, value]) => el("option", { value: key }, value)));
  const rows = el("div"), here = el("div", { class: "later" });
  const field = (name, label) => el("input", { type: "text", name, "aria-label": label, placeholder: label, autocomplete: "off", ...(name === "key" ? { list: "again-keys" } : {}) });
  const add = () => rows.append(el("div", { class: "toolbar setting" }, field("key", "key, such as run.duration"), field("value", "value")));
  const count = el("input", { type: "number", min: "1", max: "200", value: String(Math.max(1, Math.min(5, p.n))), "aria-label": "Replications" });
  const start = el("button", { class: "main" }, "Run"), stop = el("button", { type: "button", disabled: true, onclick: async () => (await simulator(study)).stop() }, "Stop");
  const say = (text, kind = "about") => here.replaceChildren(el("p", { class: kind, role: "status" }, text));
  const go = async (event) => {
    event.preventDefault();
    const changes = $$(".setting", rows).map((row) => $$("input", row).map((it) => it.value.trim())).filter(([key, value]) => key && value);
    const n = Math.max(1, Math.min(200, Math.floor(Number(count.value)) || 1)), whole = changes.length ? 2 * n : n;
    [start.disabled, stop.disabled] = [true, false];
    try {
      const progress = (before) => (done) => say(`${before + done} of ${whole} runs`);
      say("Loading the simulator…");
      const was = await rerun(study, p, [], n, progress(0));
      const is = was && changes.length ? await rerun(study, p, changes, n, progress(n)) : was;
      here.replaceChildren(...(is ? shownAgain(study, p, was, is, changes) : [el("p", { class: "about" }, "Stopped")]));
    } catch (error) {
      say(error.message, "notice");
    }
    [start.disabled, stop.disabled] = [false, true];
  };
  add();
  return el("details", { class: "another again" }, el("summary", {}, "Run it again in this page, also with other values"),
    el("form", { onsubmit: go }, keys, rows, el("div", { class: "toolbar" }, el("button", { type: "button", onclick: add }, "One more value"),
      el("label", { class: "choice" }, el("span", {}, "replications"), count), start, stop)), here);
}

/** What was run: against the record, or paired with the point as it was. */
function shownAgain(study, p, was, is, changes) {
  const { known, same } = recordedOf(study.points, p, was.runs);
  const record = known === same ? `All ${known} values that this page has of these runs are as recorded.` : `${known - same} of ${known} values differ from those recorded, which another build may have made.`;
  const head = el("p", { class: known === same ? "about" : "notice" }, record);
  const first = new Set(study.points.first.map((i) => study.points.metrics[i].name));
  const metrics = was.about.metrics.filter(({ name }) => [...was.runs.values()].some((run) => name in run)).sort((a, b) => first.has(b.name) - first.has(a.name));
  if (!changes.length) return [head, tableOf("Metrics", ["metric", "mean", "95 % interval"], meansOf(metrics, was.of))];
  const command = study.points.command.replace(/--point \d+/, `--point ${is.point}`) + changes.map(([key, value]) => ` -s '${key}=${value}'`).join("");
  return [head, el("p", { class: "about" }, `Paired by their random numbers, n = ${is.runs.size}; ${PAIRED}`),
    tableOf("Differences", ["metric", "as it was", "with these values", "difference"], differing(metrics, was.of, is.of)),
    el("div", { class: "code" }, el("pre", { tabindex: "0", "aria-label": "Command of the changed point" }, command))];
}
