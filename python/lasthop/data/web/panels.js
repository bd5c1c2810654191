// The panels of results: figures, one run over time, numbers, a comparison, a ladder.

const option = (value, text = value) => el("option", { value }, text);
const pointName = (values) => Object.entries(values).map(([key, value]) => `${key.split(".").slice(-2).join(" ")} = ${value}`).join(", ") || "the only point";

class Panels {
  constructor(host, traced, run, isRunning) {
    this.host = host;
    this.ask = traced;
    this.run = run;
    this.isRunning = isRunning;
    this.results = null;
    this.cards = [];
    this.name = "figures";
    this.point = 0;
    this.filter = "";
    this.layer = "frames";
    this.tabs = $$("[role=tab]");
    for (const tab of this.tabs) tab.addEventListener("click", () => this.open(tab.dataset.panel));
    $("[role=tablist]").addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      const next = this.tabs[(this.tabs.findIndex((tab) => tab.dataset.panel === this.name) + way + this.tabs.length) % this.tabs.length];
      next.focus();
      this.open(next.dataset.panel);
    });
    addEventListener("theme", () => { this.light(); for (const figure of this.cards) if (figure.drawn && figure.stage) figure.draw(); });
  }

  open(name) {
    this.name = name;
    for (const tab of this.tabs) {
      tab.setAttribute("aria-selected", String(tab.dataset.panel === name));
      tab.tabIndex = tab.dataset.panel === name ? 0 : -1;
    }
    // On a phone the list of tabs is wider than the page.
    $("[role=tablist]").scrollLeft = $(`#tab-${name}`).offsetLeft - this.tabs[0].offsetLeft - 60;
    this.host.setAttribute("aria-labelledby", `tab-${name}`);
    this.draw();
  }

  show(results) {
    this.results = results;
    this.point = Math.min(this.point, results.about.points.length - 1);
    this.draw();
  }

  draw() {
    if (!this.results) return;
    const before = this.cards.map((figure) => figure.state);
    this.cards = [];
    const focus = document.activeElement?.id;
    this.host.replaceChildren(...this[this.name](before).filter(Boolean));
    if (focus) document.getElementById(focus)?.focus();
    for (const figure of this.cards) if (figure.stage && !figure.drawn) figure.draw();
  }

  /** A card with a figure. */
  card(fig, kept, place = this.host) {
    if (fig.form === "none") return el("p", { class: "notice" }, `${fig.title}: ${fig.error}`);
    const host = el("figure", { class: "card wide" }, el("div", { class: "head" }, el("h3", {}, fig.title)), el("div", { class: "drawing" }), el("figcaption", {}, fig.caption));
    place.append(host);
    this.cards.push(new Figure(host, fig, { name: this.results.about.title || "scenario" }, this.cards.length, kept));
    return host;
  }

  hasRuns() {
    return this.results.rows.some((row) => row.size);
  }

  figures(before) {
    const figs = this.hasRuns() ? figuresOf(this.results) : [];
    const timed = this.hasRuns() && !this.isRunning() ? this.results.about.figures.filter(isTimed) : [];
    if (!figs.length && !timed.length) return this.hasRuns() ? [el("p", { class: "about" }, "This scenario sweeps nothing that this page draws: its metrics are under Numbers, one run is under Over time.")] : [];
    return [...figs.map((fig) => this.card(fig, before[this.cards.length])), ...timed.map((figure) => this.later((place) => this.timed(figure, place)))];
  }

  /** A figure that needs traces. */
  async timed(figure, place) {
    const { results } = this;
    try {
      const fig = await timeFigure(results, figure, (call) => this.ask(results.scenario, call));
      if (!place.isConnected) return [];
      const host = this.card(fig, undefined, place);
      this.cards.at(-1).draw();
      return [host];
    } catch (error) {
      return [el("p", { class: "notice" }, `${figure.title ?? figure.id}: ${error.message}`)];
    }
  }

  /** The choice of a point, where there are several; of those with the baseline where two values of a key are compared. */
  choice(pair = null) {
    const { points } = this.results.about, bound = pair ? boundTo(this.results, pair.key) : new Set();
    const rest = (values) => pointName(Object.fromEntries(Object.entries(values).filter(([key]) => !bound.has(key))));
    const shown = [...points.keys()].filter((i) => !pair || points[i][pair.key] === pair.from);
    if (shown.length < 2) return null;
    const select = el("select", { id: "point", onchange: () => { this.point = Number(select.value); this.draw(); } }, shown.map((i) => option(i, rest(points[i]))));
    select.value = pair ? this.beside(pair.key, pair.from) : this.point;
    return el("label", { class: "choice" }, el("span", {}, "Point"), select);
  }

  search() {
    const field = el("input", {
      type: "search", id: "filter", placeholder: "Filter metrics", "aria-label": "Filter metrics", value: this.filter,
      oninput: () => { this.filter = field.value; const at = field.selectionStart; this.draw(); $("#filter").setSelectionRange(at, at); },
    });
    return field;
  }

  metrics() {
    const words = this.filter.toLowerCase();
    return this.results.names().map((name) => this.results.metrics.get(name)).filter((it) => `${it.name} ${metricWords(it)}`.toLowerCase().includes(words));
  }

  numbers() {
    const { results } = this;
    if (!this.hasRuns()) return [];
    const rows = meansOf(this.metrics(), (name) => results.of(this.point, name));
    return [this.choice(), el("div", { class: "toolbar" }, this.search()), tableOf("Metrics", ["metric", "mean", "95 % interval"], rows)];
  }

  /** The comparison: the keys with several values, and which two are compared. */
  pair() {
    const keys = this.results.about.axes.flatMap((axis) => axis.keys.map((key, i) => [key, [...new Set(axis.rows.map((row) => row[i]))]])).filter(([, values]) => values.length > 1);
    const given = this.compared ?? {};
    const [key, values] = keys.find(([name]) => name === given.key) ?? keys.find(([name]) => name.startsWith("agents.")) ?? keys[0] ?? [];
    if (!key) return null;
    const has = (value) => values.includes(value);
    return { keys, key, values, from: has(given.from) ? given.from : values[0], to: has(given.to) ? given.to : values[1] };
  }

  /** The point that differs from the one chosen by a value of a key. */
  beside(key, value) {
    return rivalOf(this.results, this.point, { [key]: value }) ?? this.results.about.points.findIndex((values) => values[key] === value);
  }

  compare() {
    const pair = this.pair();
    if (!pair) return [el("p", { class: "about" }, "Nothing is swept."), this.another(true)];
    const set = (change) => { this.compared = { key: pair.key, from: pair.from, to: pair.to, ...change }; this.draw(); };
    const select = (id, label, values, value, change) => {
      const made = el("select", { id, "aria-label": label, onchange: () => set(change(made.value)) }, values.map((text) => option(text)));
      made.value = value;
      return made;
    };
    const choice = el("div", { class: "choice" }, el("span", {}, "Key"), select("key", "Key", pair.keys.map(([key]) => key), pair.key, (key) => ({ key })),
      select("to", "Value", pair.values, pair.to, (to) => ({ to })), el("span", {}, "minus"), select("from", "Baseline", pair.values, pair.from, (from) => ({ from })));
    const [a, b] = [this.beside(pair.key, pair.to), this.beside(pair.key, pair.from)], { results } = this;
    const rows = differing(this.metrics(), (name) => results.of(b, name), (name) => results.of(a, name));
    const about = `Paired by their random numbers, n = ${results.rows[a]?.size ?? 0}; ${PAIRED}`;
    return [choice, this.choice(pair), el("p", { class: "about" }, about), el("div", { class: "toolbar" }, this.search()),
      tableOf("Differences", ["metric", pair.from, pair.to, "difference"], rows), this.another(false)];
  }

  /** Two values of a key that is not swept, to be run and compared. */
  another(isOpen) {
    const field = (id, label, more = {}) => el("input", { type: "text", id, "aria-label": label, placeholder: label, autocomplete: "off", ...more });
    const keys = el("datalist", { id: "all-keys" }), key = field("vary-key", "key, such as links.wlan.rate", { list: "all-keys" });
    const [a, b] = [field("vary-a", "one value"), field("vary-b", "other value")];
    const word = (text) => (/^(true|false|-?\d+(\.\d+)?)$/.test(text) ? text : JSON.stringify(text));
    const go = async (event) => {
      event.preventDefault();
      const [name, from, to] = [key, a, b].map((it) => it.value.trim());
      if (!name || !from || !to) return;
      await this.run([[`sweep.${name}`, `[${word(from)}, ${word(to)}]`]]);
      this.compared = { key: name, from, to };
      this.open("compare");
    };
    const list = async () => {
      const found = await this.ask(this.results.scenario, { do: "resolved", point: this.point });
      if (!found.error) keys.replaceChildren(...found.map((it) => el("option", { value: it.key }, it.value)));
    };
    list();
    return el("details", { class: "another", open: isOpen }, el("summary", {}, "Two values of another key"),
      el("form", { class: "toolbar", onsubmit: go }, key, keys, a, b, el("button", { id: "vary" }, "Run both")));
  }

  /** Asks for a run of one point with traces; null if the scenario changed meanwhile. */
  async traced(point, call) {
    const { results } = this;
    const found = await this.ask(results.scenario, { do: "run", point, seed: results.about.seed, replication: 0, ...call });
    return results === this.results ? found : null;
  }

  later(make) {
    const place = el("div", { class: "later" }, el("p", { class: "about" }, "Running…"));
    // It is in the page first.
    Promise.resolve(place).then(make).catch((error) => [el("p", { class: "notice" }, error.message)]).then((found) => { if (place.isConnected) place.replaceChildren(...found); });
    return place;
  }

  /** The points of both values that are compared, or the one chosen. */
  points() {
    const pair = this.pair();
    return pair ? [this.beside(pair.key, pair.from), this.beside(pair.key, pair.to)] : [this.point];
  }

  time() {
    const { about } = this.results, points = this.points(), key = this.pair()?.key, names = namesOf(this.results, {});
    const channels = CURVES.map(([channel]) => channel).filter((channel) => about.channels.includes(channel));
    if (!channels.length) return [this.choice(), el("p", { class: "about" }, "This scenario has neither TCP flows nor queues that a trace shows.")];
    const drawn = async (place) => {
      const runs = [];
      for (const point of points) runs.push({ run: await this.traced(point, { trace: channels }), label: key ? names[about.points[point][key]] ?? about.points[point][key] : "" });
      if (!place.isConnected || runs.some(({ run }) => !run)) return [];
      const failed = runs.find(({ run }) => run.error);
      if (failed) return [el("p", { class: "notice" }, failed.run.error)];
      const host = this.card(overTime(runs, key ? key.split(".").slice(-2).join(" ") : pointName(about.points[points[0]])), undefined, place);
      this.cards.at(-1).draw();
      return [host];
    };
    return [this.choice(this.pair()), this.later(drawn)];
  }

  /** The runs that are compared, or the one chosen, with the rows of their traces over the same period; a message in `said` instead. */
  async moving(count) {
    const { about } = this.results, pair = this.pair(), begin = this.since ? Number(this.since) : null, runs = [];
    let period = null;
    const names = namesOf(this.results, {});
    for (const point of this.points()) {
      const ask = (most) => this.traced(point, { trace: ["events"], max_events: most });
      const found = await eventsOf(ask, begin, count, period?.[1]);
      if (!found.run) return { said: "" };
      if (found.run.error) throw new Error(found.run.error);
      period ??= found.period;
      if (!period) return { said: "No segment is sent from this time on." };
      runs.push({ rows: found.rows, title: pair ? names[about.points[point][pair.key]] ?? about.points[point][pair.key] : "", point });
    }
    return { runs, period };
  }

  /** The time from which packets are shown. */
  begin() {
    const since = el("input", { type: "number", id: "since", min: "0", step: "any", placeholder: "first", value: this.since ?? "", onchange: () => { this.since = since.value; this.draw(); } });
    return el("label", { class: "choice" }, el("span", {}, "from second"), since);
  }

  ladder() {
    const layer = el("select", { id: "layer", onchange: () => { this.layer = layer.value; this.draw(); } }, option("frames", "frames on media and wires"), option("tcp", "segments of transports"));
    layer.value = this.layer;
    const drawn = async (place) => {
      const { runs, period, said } = await this.moving(LADDER_SEGMENTS);
      if (said !== undefined) return said ? [el("p", { class: "about" }, said)] : [];
      const panels = runs.map(({ rows, title }) => Object.assign(LadderOf.of(rows, period, this.layer === "frames"), { title }));
      if (!panels.some((it) => it.arrows.length)) return [el("p", { class: "about" }, "Nothing went between two nodes then.")];
      const { title } = this.results.about, wide = 0.75 * (place.clientWidth - 22), isBeside = wide >= 500;
      // On a phone one is below the other.
      const scenes = (isBeside ? [panels] : panels.map((it) => [it])).map((some) => {
        const natural = ladderScene(some, period, title);
        return natural.width > wide ? ladderScene(some, period, title, wide) : natural;
      });
      const names = Object.fromEntries(KINDS), counted = ({ arrows }) => [...KINDS.keys()].map((kind) => [kind, arrows.filter((it) => it.kind === kind && it.begin.node !== it.end.node).length]).filter(([, n]) => n);
      const captions = panels.map((it) => el("figcaption", {}, `${it.title || "This run"}: ${counted(it).map(([kind, n]) => `${n} ${names[kind].name}`).join(", ")} in ${human(period[1] - period[0], "s", 3)}`));
      return [...scenes.map((scene) => el("figure", { class: "ladder-of" }, inlined(svgOf(scene)))), ...captions,
        el("div", { class: "toolbar" }, el("button", { type: "button", onclick: () => save("ladder.svg", svgOf(ladderScene(panels, period, title)), "image/svg+xml") }, "Save the ladder"))];
    };
    return [el("div", { class: "choices-of" }, this.choice(this.pair()), el("label", { class: "choice" }, el("span", {}, "Layer"), layer), this.begin()), this.later(drawn)];
  }

  film() {
    const drawn = async () => {
      const { runs, period, said } = await this.moving(PLAYED), films = [];
      if (said !== undefined) return said ? [el("p", { class: "about" }, said)] : [];
      for (const { rows, title, point } of runs) {
        const film = FilmOf.of(rows, period), positions = await this.ask(this.results.scenario, { do: "positions", point });
        if (positions.error) throw new Error(positions.error);
        films.push([title, film, placesOf(film.nodes, positions)]);
      }
      if (!films.some(([, film]) => film.flights.length)) return [el("p", { class: "about" }, "No frame went between two nodes then.")];
      const title = this.results.about.title || "scenario", page = filmPage(playedData(films, period, SETUP.play.looks), title);
      return [el("iframe", { class: "film", title: `Film of ${title}`, srcdoc: page, onload: () => this.light() }),
        el("div", { class: "toolbar" }, el("button", { type: "button", onclick: () => save("film.html", page, "text/html;charset=utf-8") }, "Save the film"))];
    };
    return [el("div", { class: "choices-of" }, this.choice(this.pair()), this.begin()), this.later(drawn)];
  }

  /** A page within this one has the same colours. */
  light() {
    $(".film", this.host)?.contentWindow.useTheme?.(document.documentElement.dataset.theme);
  }

  files() {
    const { about } = this.results, name = (link) => `${link}.pcap`;
    const button = (link) => el("button", { type: "button", onclick: async (event) => {
      const pressed = event.currentTarget;
      const found = await this.traced(this.point, { pcap: { [link]: name(link) }, take: name(link) });
      if (found instanceof Uint8Array) save(name(link), new Blob([found], { type: "application/vnd.tcpdump.pcap" }));
      else answer(pressed, found?.error ?? "Not made");
    } }, `Capture of ${link}`);
    const table = () => {
      const names = this.results.names(), keys = about.axes.flatMap((axis) => axis.keys);
      const rows = about.points.flatMap((values, i) => [...this.results.rows[i]].map(([replication, metrics]) => [...keys.map((key) => values[key]), replication, ...names.map((it) => metrics[it])]));
      save("runs.csv", csv([[...keys, "replication", ...names], ...rows]), "text/csv;charset=utf-8");
    };
    return [this.choice(), el("p", { class: "about" }, "For Wireshark, from one run of this point; and all runs as a table."),
      el("div", { class: "toolbar" }, about.links.map(button), el("button", { type: "button", onclick: table }, "Runs as CSV"))];
  }
}
