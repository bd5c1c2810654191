// A figure: its legend and switches, the values under the pointer, and what can be saved of it.

/** The entry of the legend for published values. */
const PUBLISHED = { name: "published", style: "hollow", look: { light: THEMES.light.muted, dark: THEMES.dark.muted, marker: "o" } };

/** The legend of a figure: its lines where there are several and no panel names them, and published values. */
function entries(fig) {
  const lines = linesOf(fig);
  const hasMarks = fig.panels.some((panel) => panel.series.some((s) => s.marks));
  return [...(lines.length > 1 && !fig.crowded ? lines : []), ...(hasMarks ? [PUBLISHED] : [])];
}

/** What the series of a figure are called, each with its look. */
function linesOf(fig) {
  if (fig.form === "stack") return fig.classes.map((c) => ({ name: c.name, look: c, style: "fill" }));
  const style = { lines: "lines", dots: "dots", bar: "fill", box: "fill" }[fig.style] ?? (fig.form === "scatter" ? "scatter" : "lines");
  const found = new Map();
  for (const s of fig.panels.flatMap((panel) => panel.series)) {
    const own = fig.form === "curve" ? (s.dots ? "dots" : "curve") : style;
    if (!found.has(s.name)) found.set(s.name, { name: s.name, look: s.look, style: own === "curve" ? "lines" : own, bare: own === "curve" });
  }
  return [...found.values()];
}

class Figure {
  constructor(host, fig, study, number, kept = null) {
    this.host = host;
    this.fig = fig;
    this.study = study;
    this.key = `figure-${number}`;
    this.drawing = $(".drawing", host);
    this.state = kept ?? { hidden: new Set(), focus: null, zoom: null, log: { x: Boolean(fig.x?.log), y: Boolean(fig.panels?.[0].log) } };
    this.plots = [];
    this.build();
  }

  build() {
    const { fig } = this;
    $(".head", this.host).append(this.menu());
    if (fig.form !== "matrix" && fig.form !== "stack") this.drawing.append(this.toolbar());
    if (fig.form === "matrix") {
      this.drawing.append(matrixTable(fig));
      this.drawn = true;
      return;
    }
    this.legend = el("div", { class: "legend", role: "group", "aria-label": `Lines of ${fig.title}` });
    const names = entries(fig);
    if (names.length) this.drawing.append(this.legend);
    if (fig.legend && names.length > 1) this.legend.append(el("span", { class: "legend-title" }, fig.legend));
    for (const entry of names) this.legend.append(entry === PUBLISHED ? el("span", { class: "published" }, swatch(entry.look, entry.style), entry.name) : this.entry(entry));
    this.stage = el("div", {
      class: "stage", tabindex: "0", role: "group",
      "aria-label": `Chart: ${fig.title}. The left and right arrow keys read its values.`,
      onkeydown: (event) => this.step(event),
      onblur: () => this.leave(),
    });
    this.tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.slide = el("div", { class: "slide" }, this.stage);
    this.drawing.append(el("div", { class: "plots" }, this.slide, this.tip), this.data());
    this.stage.addEventListener("mouseleave", () => this.leave());
    this.stage.addEventListener("click", (event) => this.open(event));
    this.stage.addEventListener("mousedown", (event) => { this.pressed = [event.clientX, event.clientY]; });
    const near = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) { near.disconnect(); if (!this.drawn) this.draw(); }
    }, { rootMargin: "400px" });
    near.observe(this.stage);
    new ResizeObserver(() => { if (this.drawn && this.width() !== this.drawnAt) this.draw(); }).observe(this.drawing);
  }

  /** The switches of the axes. */
  toolbar() {
    const { fig } = this;
    const values = fig.panels.flatMap((panel) => panel.series.flatMap((s) => s.y));
    const xs = fig.panels.flatMap((panel) => panel.series.flatMap((s) => s.x));
    this.reset = el("button", { type: "button", hidden: this.state.zoom === null, onclick: () => this.zoom(null) }, "Whole range");
    return el("div", { class: "toolbar" },
      values.some((v) => v > 0) ? this.toggle("y") : null,
      !fig.x.words.length && xs.some((v) => v > 0) ? this.toggle("x") : null,
      this.reset);
  }

  /** What can be saved and copied of the figure. */
  menu() {
    const { fig, state } = this;
    const item = (text, act) => el("button", { type: "button", onclick: (event) => act(event.currentTarget) }, text);
    const name = `${this.study.name.replaceAll("/", "-")}-${fig.id}`;
    const tables = () => fig.tables.map((t) => latex(t.columns, t.rows, [fig.title, t.about, ...fig.notes].join("\n"))).join("\n\n");
    return el("details", { class: "menu" }, el("summary", { "aria-label": `Save or copy: ${fig.title}` }, "Save"),
      el("div", {},
        item("PNG", async () => save(`${name}.png`, await png(fig, state))),
        item("CSV", () => save(`${name}.csv`, csv(dataRows(fig, state)), "text/csv;charset=utf-8")),
        fig.tables.length ? item("LaTeX", () => save(`${name}.tex`, tables(), "application/x-tex")) : null,
        item("Copy CSV", (button) => copy(csv(dataRows(fig, state)), button)),
        fig.tables.length ? item("Copy LaTeX", (button) => copy(tables(), button)) : null,
        window.ClipboardItem ? item("Copy PNG", async (button) => {
          try {
            await navigator.clipboard.write([new ClipboardItem({ "image/png": png(fig, state) })]);
            answer(button, "Copied");
          } catch {
            answer(button, "Not copied");
          }
        }) : null));
  }

  toggle(axis) {
    const { state } = this;
    const button = el("button", { type: "button", class: "switch", "aria-pressed": String(state.log[axis]), "data-axis": axis }, `log ${axis}`);
    button.setAttribute("aria-label", `Logarithmic ${axis} axis: ${this.fig.title}`);
    button.addEventListener("click", () => {
      state.log[axis] = !state.log[axis];
      button.setAttribute("aria-pressed", String(state.log[axis]));
      if (axis === "x") this.zoomed(null);
      this.draw();
    });
    return button;
  }

  entry({ name, look, style, bare }) {
    const { state } = this;
    const text = name || "all runs";
    const button = el("button", { type: "button", "aria-pressed": String(!state.hidden.has(name)), title: "Show or hide" }, swatch(bare ? { ...look, marker: "o" } : look, bare ? "line" : style), el("span", {}, text));
    if (bare) button.firstChild.classList.add("bare");
    const focus = (on) => { state.focus = on && !state.hidden.has(name) ? name : null; this.redraw(); };
    button.addEventListener("click", () => {
      if (state.hidden.delete(name)) button.setAttribute("aria-pressed", "true");
      else { state.hidden.add(name); button.setAttribute("aria-pressed", "false"); }
      state.focus = null;
      say(`${text} ${state.hidden.has(name) ? "hidden" : "shown"}`);
      this.draw();
    });
    button.addEventListener("mouseenter", () => focus(true));
    button.addEventListener("mouseleave", () => focus(false));
    return button;
  }

  /** The numbers of the figure as a table, made when it is opened. */
  data() {
    const { fig } = this;
    const details = el("details", { class: "numbers" }, el("summary", {}, "Numbers"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      for (const table of fig.tables.length ? fig.tables : [this.rows()]) details.append(...plainTable(table, fig.title));
    });
    return details;
  }

  /** The first rows of a figure without a table of its own. */
  rows() {
    const [columns, ...rows] = dataRows(this.fig, this.state), most = 200;
    const about = rows.length > most ? `The first ${most} of ${rows.length} rows; CSV has all of them.` : "";
    return { about, columns, rows: rows.slice(0, most).map((row) => row.map((v) => (typeof v === "number" ? digits(v) : v ?? ""))) };
  }

  /** The width of the charts: that of the card, or what many bars need. */
  width() {
    const given = Math.max(240, Math.floor(this.drawing.clientWidth));
    const bars = this.fig.form === "stack" ? this.fig.bars.length : 0;
    return Math.max(given, bars * 26 + 60);
  }

  draw() {
    for (const plot of this.plots) plot.destroy();
    this.stage.replaceChildren();
    this.drawnAt = this.width();
    const view = {
      live: true, k: 1, width: this.drawnAt, theme: theme(), key: this.key,
      moved: (u, model) => this.moved(u, model), zoom: (ends) => this.zoom(ends),
    };
    this.plots = charts(this.stage, this.fig, this.state, view);
    this.drawn = true;
    this.tip.hidden = true;
  }

  redraw() {
    if (this.drawn) for (const plot of this.plots) plot.redraw(false, false);
  }

  zoomed(ends) {
    this.state.zoom = ends;
    if (this.reset) this.reset.hidden = ends === null;
  }

  zoom(ends) {
    if (!this.plots.length || (ends === null && this.state.zoom === null)) return;
    this.zoomed(ends);
    this.draw();
  }

  /** The pointer moved over a panel: say what is there. */
  moved(u, model) {
    const { left, top } = u.cursor;
    // In other panels only the line of the pointer follows.
    if (!u.over.matches(":hover") && !this.byKey) return;
    this.show(u, left >= 0 ? model.read(u, left, top) : null);
  }

  show(u, found) {
    this.found = found;
    for (const old of $$(".ring, .column", this.stage)) old.remove();
    this.tip.hidden = found === null;
    u.over.style.cursor = found?.closest?.point !== undefined || found?.point !== undefined ? "pointer" : "";
    if (found === null) return;
    if (u.model.words) {
      const [a, b] = [-0.5, 0.5].map((d) => u.valToPos(u.posToVal(found.left, "x") + d, "x"));
      u.over.append(el("div", { class: "column", style: `left:${a}px;width:${b - a}px` }));
    }
    const front = u.model.front;
    for (const row of found.rings ? found.rows : []) {
      if (row.top === null || (front && row.name !== front.name)) continue;
      u.over.append(el("div", { class: "ring", style: `left:${row.left}px;top:${row.top}px;border-color:${colour(row.look, theme())}` }));
    }
    // The values of many lines would hide all panels of a phone.
    const own = front && this.drawnAt < 480 ? found.rows.filter((row) => row.name === front.name) : [];
    const rows = own.length ? own : found.rows;
    // One number of runs for all is said once.
    const counts = new Set(rows.map((row) => row.n));
    const each = counts.size > 1, n = each ? undefined : rows[0].n;
    this.tip.replaceChildren(el("b", {}, found.title), n === undefined ? "" : ` n\u00a0=\u00a0${n}`, el("table", {}, el("tbody", {}, rows.map((row) =>
      el("tr", { class: row === found.closest || row.name === front?.name ? "near" : "" },
        el("td", {}, row.look ? swatch(row.look, row.fill ? "fill" : this.fig.style === "bar" || this.fig.style === "box" ? "fill" : this.fig.form === "curve" ? "line" : "lines") : ""),
        el("td", {}, row.name || "all runs"), el("td", { class: "value" }, row.value), el("td", { class: "spread" }, row.spread ? `${row.spread}` : ""),
        each && row.n !== undefined ? el("td", { class: "spread" }, `n\u00a0=\u00a0${row.n}`) : null,
        row.more ? el("td", { class: "spread" }, row.more) : null)))));
    this.place(u, found.left);
  }

  /** Put the values beside the pointer, on the side with more room. */
  place(u, left) {
    const whole = this.tip.parentElement.getBoundingClientRect(), over = u.over.getBoundingClientRect();
    const at = over.left - whole.left + left, wide = this.tip.offsetWidth;
    const right = at + 16 + wide <= whole.width;
    const x = right ? at + 16 : Math.max(0, Math.min(at - 16 - wide, whole.width - wide));
    this.tip.style.left = `${x}px`;
    // Where the pointer is in the upper half the values are in the lower one.
    const low = u.cursor.top >= 0 && u.cursor.top < over.height / 2 && this.tip.offsetHeight < over.height;
    this.tip.style.top = `${over.top - whole.top + (low ? over.height - this.tip.offsetHeight - 4 : 4)}px`;
  }

  leave() {
    this.byKey = false;
    if (this.plots.length) this.show(this.plots[0], null);
  }

  /** Read the next place to the left or right by keyboard. */
  step(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") this.leave();
    if (event.key === "Enter") this.open(event);
    if (way === undefined || !this.plots.length) return;
    event.preventDefault();
    const u = this.plots[0];
    let stops = u.model.stops;
    if (u.model.isTimed) {
      const [low, high] = [u.scales.x.min, u.scales.x.max];
      stops = Array.from({ length: 51 }, (_, i) => low + ((high - low) * i) / 50);
    }
    this.at = clamp(this.byKey ? this.at + way : way < 0 ? stops.length - 1 : 0, 0, stops.length - 1);
    this.byKey = true;
    const left = u.valToPos(stops[this.at], "x");
    const found = u.model.read(u, left, u.over.clientHeight / 2);
    this.show(u, found);
    if (found) say(`${found.title}: ${found.rows.map((row) => `${row.name || "all runs"} ${row.value}${row.spread ? `, ${row.spread}` : ""}`).join("; ")}`);
  }

  /** Open the runs of the point that is under the pointer. */
  open(event) {
    const moved = event.clientX !== undefined && this.pressed && Math.hypot(event.clientX - this.pressed[0], event.clientY - this.pressed[1]) > 4;
    const point = this.found?.closest?.point ?? this.found?.point ?? (event.key === "Enter" ? this.found?.rows[0]?.point : undefined);
    if (!moved && point !== undefined) openPoint(this.study, point);
  }
}

/** A table with what it is about. */
function plainTable({ about, columns, rows }, label) {
  const table = el("table", {},
    el("thead", {}, el("tr", {}, columns.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((text, i) => (i ? el("td", {}, text) : el("th", { scope: "row" }, text)))))));
  return [about ? el("p", { class: "about" }, about) : null, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers: ${label}` }, table)].filter(Boolean);
}

/** A matrix as a table, coloured as in figures/matrix.py: blue is more, orange less. */
function matrixTable(fig) {
  const cell = (given, shade) => {
    if (!given) return el("td", { class: "empty" }, "–");
    const [text, mean, low, high, n] = given;
    // Never so strong that the ink of the page cannot be read on it.
    const strength = shade === null ? 0 : Math.round(Math.abs(shade) * 75);
    const about = low === null ? `${digits(mean)} ${fig.unit}, n = ${n}` : `${digits(mean)} ${fig.unit}, ${digits(low)} to ${digits(high)}, n = ${n}`;
    return el("td", { class: shade > 0 ? "above" : "below", style: `--strength:${strength}%`, title: about }, text);
  };
  const table = el("table", { class: "matrix" },
    el("thead", {}, el("tr", {}, el("td", {}), fig.columns.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, fig.rows.map((name, y) => el("tr", {}, el("th", { scope: "row" }, name), fig.cells[y].map((given, x) => cell(given, fig.shades[y][x]))))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Matrix: ${fig.title}` }, table);
}
