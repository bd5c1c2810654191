// Points with their runs, every value of the scenario, and the statements of a paper.

// Points that the table shows at first.
const NUMBER_OF_ROWS = 24;

/** A switch between the studies of a page; a page of one study has none. */
function studySwitch(studies, label, changed) {
  if (studies.length < 2) return null;
  const select = el("select", { onchange: () => changed(studies[Number(select.value)]) },
    studies.map((study, i) => el("option", { value: String(i) }, `${study.name}: ${study.title}`)));
  return el("label", { class: "choice" }, el("span", {}, label), select);
}

/** The table of points: sorted by any column, one line for each, which opens its runs. */
class Points {
  constructor(host, studies) {
    this.host = host;
    this.here = el("div");
    const chosen = studySwitch(studies, "Study", (study) => this.use(study));
    if (chosen) host.append(chosen);
    host.append(this.here);
    if (studies.length) this.use(studies[0]);
    else host.append(el("p", { class: "about" }, "This page has no studies."));
  }

  use(study) {
    this.study = study;
    this.points = study.points;
    this.metrics = [...this.points.first];
    this.order = null;
    this.most = NUMBER_OF_ROWS;
    this.show();
  }

  columns() {
    const { keys, metrics } = this.points;
    return [
      { name: "point", title: "point", text: (p) => String(p.point), number: (p) => p.point },
      ...keys.map((key, i) => ({ name: key.name, title: key.short, text: (p) => key.values[p.values[i]], number: (p) => key.numbers[p.values[i]] })),
      ...this.metrics.map((i) => {
        const { name, unit, words } = metrics[i];
        const largest = Math.max(0, ...this.points.points.map((p) => Math.abs(p.means[i][0] ?? 0)));
        const [factor, own] = prefix(largest, unit);
        const of = name.split(".").slice(1, -1).join(" ");
        return {
          name, isNumber: true, title: `${words}${own && !words.split(" ").includes(own) ? ` (${own})` : ""}`, of,
          text: (p) => plusMinus(p.means[i][0], p.means[i][1], p.means[i][2], factor), number: (p) => p.means[i][0],
        };
      }),
      { name: "n", title: "n", isNumber: true, text: (p) => String(p.n), number: (p) => p.n },
    ];
  }

  sorted(columns) {
    const rows = [...this.points.points];
    if (!this.order) return rows;
    const { name, way } = this.order;
    const column = columns.find((one) => one.name === name);
    if (!column) return rows;
    const compare = (a, b) => {
      const [x, y] = [column.number(a), column.number(b)];
      if (x !== null && y !== null) return x - y;
      return x === null && y === null ? column.text(a).localeCompare(column.text(b)) : x === null ? 1 : -1;
    };
    return rows.sort((a, b) => way * compare(a, b));
  }

  show() {
    const { points } = this;
    const columns = this.columns();
    const rows = this.sorted(columns);
    const head = columns.map((column) => {
      const way = this.order?.name === column.name ? this.order.way : 0;
      const button = el("button", { type: "button", class: "sort", title: column.name, onclick: () => this.sort(column.name) },
        column.title, el("span", { "aria-hidden": "true" }, way > 0 ? " ▲" : way < 0 ? " ▼" : ""));
      return el("th", { scope: "col", "data-name": column.name, class: column.isNumber ? "number" : "", "aria-sort": way > 0 ? "ascending" : way < 0 ? "descending" : "none" }, button, column.of ? el("small", {}, column.of) : null);
    });
    const line = (p) => el("tr", { "data-point": p.point },
      columns.map((column, i) => (i
        ? el("td", { class: column.isNumber ? "number" : "" }, column.text(p))
        : el("th", { scope: "row" }, el("button", { type: "button", class: "open", "aria-label": `Runs of point ${p.point}`, onclick: () => openPoint(this.study, p.point) }, String(p.point))))));
    const table = el("table", { class: "points" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows.slice(0, this.most).map(line)));
    $("tbody", table).addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (!event.target.closest("button") && !String(getSelection())) openPoint(this.study, Number(row.dataset.point));
    });
    const texts = () => [columns.map((c) => c.title), rows.map((p) => columns.map((c) => c.text(p)))];
    const numbers = () => [
      ["point", ...points.keys.map((key) => key.name), ...this.metrics.flatMap((i) => ["mean", "ci_low", "ci_high", "n"].map((of) => `${points.metrics[i].name}.${of}`))],
      ...rows.map((p) => [p.point, ...points.keys.map((key, i) => key.values[p.values[i]]), ...this.metrics.flatMap((i) => p.means[i])]),
    ];
    const name = `${this.study.name.replaceAll("/", "-")}-points`;
    const button = (text, act) => el("button", { type: "button", onclick: (event) => act(event.currentTarget) }, text);
    const about = `${this.study.title}: mean ± half-width of the 95 % interval`;
    this.here.replaceChildren(
      ...(points.omitted ? [el("p", { class: "notice", role: "note" }, points.omitted)] : []),
      ...this.study.notes.map((text) => el("p", { class: "notice", role: "note" }, text)),
      el("div", { class: "toolbar" }, this.choice(),
        el("details", { class: "menu" }, el("summary", { "aria-label": "Save or copy the table of points" }, "Save"), el("div", {},
          button("CSV", () => save(`${name}.csv`, csv(numbers()), "text/csv;charset=utf-8")),
          button("Copy CSV", (self) => copy(csv(numbers()), self)),
          button("LaTeX", () => save(`${name}.tex`, latex(...texts(), about), "application/x-tex")),
          button("Copy LaTeX", (self) => copy(latex(...texts(), about), self))))),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of points" }, table),
      ...(rows.length > this.most ? [el("button", { type: "button", class: "all", onclick: () => { this.most = rows.length; this.show(); } }, `Show all ${rows.length} points`)] : []));
  }

  /** Which metrics have a column. */
  choice() {
    const { metrics } = this.points;
    const list = el("div", { class: "choices" }, metrics.map((metric, i) => {
      const box = el("input", { type: "checkbox", checked: this.metrics.includes(i) });
      box.addEventListener("change", () => {
        this.metrics = box.checked ? [...this.metrics, i] : this.metrics.filter((one) => one !== i);
        this.keepOpen = true;
        this.show();
      });
      return el("label", {}, box, el("span", {}, metric.name));
    }));
    const find = el("input", { type: "search", placeholder: "Find …", "aria-label": "Find a metric", oninput: () => {
      for (const label of list.children) label.hidden = !label.textContent.includes(find.value.trim());
    } });
    const menu = el("details", { class: "menu wide", open: this.keepOpen }, el("summary", {}, `Metrics (${this.metrics.length} of ${metrics.length})`), el("div", {}, find, list));
    this.keepOpen = false;
    return menu;
  }

  sort(name) {
    this.order = this.order?.name === name ? (this.order.way > 0 ? { name, way: -1 } : null) : { name, way: 1 };
    this.show();
    $$("th", this.here).find((th) => th.dataset.name === name)?.querySelector("button").focus();
  }
}

/** Open the runs of a point: what each measured, the command that repeats one, and its ladder. */
function openPoint(study, point) {
  const { points } = study;
  const at = points.points.findIndex((p) => p.point === point);
  const sheet = $("#runs");
  if (at < 0) { say(`Point ${point} is not on this page.`); return; }
  const p = points.points[at];
  const place = points.keys.map((key, i) => `${key.short} ${key.values[p.values[i]]}`).join(", ");
  const go = (other, text, label) => el("button", { type: "button", "aria-label": label, disabled: !other, onclick: () => openPoint(study, other.point) }, text);
  const body = [
    el("header", {},
      el("h2", { id: "runs-title" }, `Point ${point}`),
      go(points.points[at - 1], "←", "Point before"), go(points.points[at + 1], "→", "Next point"),
      el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => sheet.close() }, "✕")),
    el("p", { class: "place" }, place || "The only point"),
    ...Object.entries(p.status ?? {}).map(([k, text]) => el("p", { class: "notice", role: "note" }, `Replication ${k} ${text}`)),
    ...repetition(study, p),
    ...(study.again ? [again(study, p)] : []),
    ...runsTable(points, p),
  ];
  sheet.replaceChildren(...body);
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
}

/** The command that repeats a run, for the replication that is chosen, and the ladder of that run. */
function repetition(study, p) {
  const { points } = study;
  const known = p.replications ?? Array.from({ length: Math.max(1, p.n) }, (_, i) => i);
  const code = el("pre", { tabindex: "0", "aria-label": "Command that repeats the run" });
  const ladder = el("figure", { class: "ladder", hidden: true });
  const select = el("select", {}, known.map((k) => el("option", { value: String(k) }, String(k))));
  const show = () => {
    const stopped = /^stopped/.test(p.status?.[select.value] ?? "");
    code.textContent = points.command.replace(/--point \d+/, `--point ${p.point}`).replace(/--replication \d+/, `--replication ${select.value}`).replace(/ --max-events \d+/, "")
      + (stopped ? `  # ${p.status[select.value]}` : "");
    const drawn = study.ladders?.[p.point]?.[select.value];
    ladder.hidden = !drawn;
    if (drawn) ladder.replaceChildren(inlined(drawn), el("figcaption", {}, `Ladder of replication ${select.value}`));
  };
  select.addEventListener("change", show);
  show();
  const button = el("button", { type: "button", class: "copy", "aria-label": "Copy the command" }, "Copy");
  button.addEventListener("click", () => copy(code.textContent, button));
  return [
    el("div", { class: "code" }, el("label", { class: "choice" }, el("span", {}, "Repeat replication"), select), code, button),
    ladder,
  ];
}

/** A name that may break after its dots and underscores. */
function breaking(name) {
  return name.split(/(?<=[._])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
}

/** Every metric of every replication, means first. */
function runsTable(points, p) {
  const runs = p.replications ?? [];
  const table = el("table", { class: "runs" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "metric"), el("th", { scope: "col", class: "number" }, "mean ± half-width"), runs.map((k) => el("th", { scope: "col", class: "number" }, `run ${k}`)))),
    el("tbody", {}, points.metrics.map((metric, i) => {
      const [mean, low, high] = p.means[i];
      const [factor, unit] = prefix(mean ?? 0, metric.unit);
      const whole = mean === null ? "–" : `${plusMinus(mean, low, high, factor)} ${unit}`.trim();
      return el("tr", { "data-metric": metric.name }, el("th", { scope: "row" }, breaking(metric.name)), el("td", { class: "number" }, whole),
        runs.map((_, r) => el("td", { class: "number" }, human(p.runs[i][r], metric.unit))));
    })));
  const find = el("input", { type: "search", placeholder: "Find …", "aria-label": "Find a metric", oninput: () => {
    for (const row of $$("tbody tr", table)) row.hidden = !row.dataset.metric.includes(find.value.trim());
  } });
  return [
    el("div", { class: "toolbar" }, el("h3", {}, runs.length ? `${runs.length} of ${p.n} runs` : `Means of ${p.n} runs`), find),
    ...(points.omitted ? [el("p", { class: "about" }, points.omitted)] : []),
    el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Metrics of every run" }, table),
  ];
}

/** Every value of a scenario with its default and source. */
class Values {
  constructor(host, studies, rows) {
    this.rows = rows;
    this.here = el("div");
    this.changed = false;
    const chosen = studySwitch(studies, "Study", (study) => this.use(study));
    this.find = el("input", { type: "search", placeholder: "Find a key or value …", "aria-label": "Find a key or value", oninput: () => this.show() });
    const only = el("button", { type: "button", class: "switch", "aria-pressed": "false" }, "Only what the scenario sets");
    only.addEventListener("click", () => {
      this.changed = !this.changed;
      only.setAttribute("aria-pressed", String(this.changed));
      this.show();
    });
    host.append(...(chosen ? [chosen] : []), el("div", { class: "toolbar" }, this.find, only), this.here);
    if (studies.length) this.use(studies[0]);
  }

  use(study) {
    this.study = study;
    this.show();
  }

  show() {
    const sought = this.find.value.trim().toLowerCase();
    const sections = new Map();
    for (const [key, value, from, source, standard] of this.study.values.map((i) => this.rows[i])) {
      const isOwn = /file|sweep|set/.test(from);
      if ((this.changed && !isOwn) || (sought && !`${key} ${value}`.toLowerCase().includes(sought))) continue;
      const parts = key.split(".");
      const section = parts.slice(0, ["links", "flows", "nodes", "agents"].includes(parts[0]) ? 2 : 1).join(".");
      if (!sections.has(section)) sections.set(section, []);
      sections.get(section).push([key.slice(section.length + 1) || key, value, from, standard, source, isOwn]);
    }
    const head = ["key", "value", "from", "default", "source"];
    this.here.replaceChildren(el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Values of the scenario" }, el("table", { class: "values" },
      el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
      [...sections].map(([section, lines]) => el("tbody", {},
        el("tr", { class: "section" }, el("th", { scope: "rowgroup", colspan: "5" }, section)),
        lines.map(([key, value, from, standard, source, isOwn]) => el("tr", { class: isOwn ? "own" : "" },
          el("th", { scope: "row" }, key), el("td", {}, value), el("td", {}, from), el("td", {}, standard), el("td", {}, source))))))));
    if (!sections.size) this.here.append(el("p", { class: "about" }, "No key matches."));
  }
}

/** Filters of the statements by verdict and text, and the claims behind each. */
function statementFilters() {
  const section = $("#statements");
  if (!section) return;
  const chips = $$(".chip", section), bodies = $$("tbody[data-verdict]", section), find = $("#find-statement");
  const apply = () => {
    const wanted = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.verdict);
    const sought = find.value.trim().toLowerCase();
    let shown = 0;
    for (const body of bodies) {
      body.hidden = (wanted.length > 0 && !wanted.includes(body.dataset.verdict)) || !body.textContent.toLowerCase().includes(sought);
      shown += !body.hidden;
    }
    $("#statements-shown").textContent = `${shown} of ${bodies.length} statements`;
  };
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  find.addEventListener("input", apply);
  section.addEventListener("click", (event) => {
    const more = event.target.closest(".more");
    if (!more) return;
    const claims = document.getElementById(more.getAttribute("aria-controls"));
    claims.hidden = !claims.hidden;
    more.setAttribute("aria-expanded", String(!claims.hidden));
  });
}
