// The editor: CodeMirror with the names, meanings and values of keys, and errors where they are.

const LIGHT = [[CM.tags.comment, "#57606a"], [CM.tags.string, "#0a5c96"], [CM.tags.number, "#8a4600"], [CM.tags.bool, "#8a4600"], [CM.tags.atom, "#8a4600"], [CM.tags.propertyName, "#6b2fa0"]];
const DARKER = [[CM.tags.comment, "#a3adb8"], [CM.tags.string, "#86c9f2"], [CM.tags.number, "#f2b134"], [CM.tags.bool, "#f2b134"], [CM.tags.atom, "#f2b134"], [CM.tags.propertyName, "#d2a8ff"]];
const highlighting = (colours) => CM.syntaxHighlighting(CM.HighlightStyle.define(colours.map(([tag, color]) => ({ tag, color }))));

/** A key for readers: what it means, its values, and where its default is from. */
function aboutKey(entry) {
  const row = (name, text) => (text ? el("div", {}, el("b", {}, `${name} `), text) : null);
  const bounds = [["above", entry.above], ["at least", entry.at_least], ["below", entry.below], ["at most", entry.at_most]];
  return el("div", { class: "about-key" },
    el("code", {}, entry.key), el("p", {}, entry.meaning),
    row("kind", [entry.kind, ...bounds.filter(([, v]) => v).map(([name, v]) => `${name} ${v}`)].join(", ")),
    row("values", entry.values.join(", ")), row("default", entry.default), row("source", entry.source), row("only for", entry.only_for));
}

class Editor {
  constructor(host, text, changed) {
    this.keys = [];
    this.look = new CM.Compartment();
    const { EditorView, EditorState, keymap } = CM;
    this.view = new EditorView({
      parent: host,
      state: EditorState.create({
        doc: text,
        extensions: [
          CM.lineNumbers(), CM.lintGutter(), CM.history(), CM.drawSelection(), CM.bracketMatching(), CM.highlightActiveLine(),
          CM.StreamLanguage.define(CM.toml), this.look.of([]), EditorView.lineWrapping,
          CM.autocompletion({ override: [(context) => this.complete(context)], icons: false }),
          CM.hoverTooltip((view, at) => this.hover(at)),
          EditorView.contentAttributes.of({ "aria-label": "Scenario in TOML", spellcheck: "false" }),
          EditorView.updateListener.of((update) => { if (update.docChanged) changed(); }),
          // Tab leaves the editor, as everywhere on a page.
          keymap.of([...CM.completionKeymap, ...CM.lintKeymap, ...CM.searchKeymap, ...CM.historyKeymap, ...CM.defaultKeymap]),
        ],
      }),
    });
    this.paint();
    addEventListener("theme", () => this.paint());
  }

  paint() {
    const isDark = theme().name === "dark";
    this.view.dispatch({ effects: this.look.reconfigure([CM.EditorView.theme({}, { dark: isDark }), highlighting(isDark ? DARKER : LIGHT)]) });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** The keys of scenarios, once the module has listed them. */
  know(keys) {
    this.keys = keys.map((entry) => ({ ...entry, parts: entry.key.replace("[[figure]]", "figure").split(".") }));
  }

  entry(path) {
    const plain = plainPath(path);
    return this.keys.find((entry) => fits(plain, entry.parts));
  }

  hover(at) {
    const item = scan(this.text).items.find((it) => at >= it.keyFrom && at <= it.keyTo && !it.isTable);
    const entry = item && this.entry(item.path);
    return entry ? { pos: item.keyFrom, end: item.keyTo, above: true, create: () => ({ dom: aboutKey(entry) }) } : null;
  }

  complete(context) {
    const text = this.text.slice(0, context.pos), { end } = scan(text);
    const word = context.matchBefore(/[\w-]*$/);
    if (!context.explicit && word.from === word.to && !/["=\s]$/.test(text)) return null;
    if (end.in === "key") return this.names([...end.path, ...parts(/[^\n]*$/.exec(text.slice(end.from))[0].replace(/[\w-]*$/, ""))], word.from, context.explicit || word.from < word.to);
    if (end.in === "table") return this.names(parts(end.text.replace(/[\w-]*$/, "")), word.from, true, true);
    return end.in === "value" ? this.values(end.path, context, text.slice(end.from)) : null;
  }

  names(path, from, wanted, isTable = false) {
    const found = new Map();
    for (const entry of wanted ? this.keys : []) {
      const next = entry.parts[path.length];
      if (!next || /^[A-Z]+$/.test(next) || !fits(path, entry.parts.slice(0, path.length))) continue;
      const isLeaf = entry.parts.length === path.length + 1;
      if (isTable ? !isLeaf : true) found.set(next, isLeaf ? entry : found.get(next) ?? null);
    }
    const option = ([label, entry]) => ({
      label, detail: entry ? entry.unit || entry.kind : "table", type: "property",
      apply: isTable ? label : entry ? `${label} = ` : `${label}.`, info: entry ? () => aboutKey(entry) : undefined,
    });
    return found.size ? { from, options: [...found].map(option), validFor: /^[\w-]*$/ } : null;
  }

  values(path, context, typed) {
    const entry = this.entry(path);
    const table = { node: "nodes", nodes: "nodes", stations: "nodes", link: "links", flows: "flows" }[entry?.kind];
    const known = scan(this.text).items.map((it) => it.path).filter((it) => it[0] === table && it.length > 1).map((it) => it[1]);
    const words = entry?.kind === "boolean" ? ["true", "false"] : [...new Set(table ? known : entry?.values ?? [])];
    if (!words.length) return null;
    const word = context.matchBefore(/[\w.-]*$/), isOpen = (typed.match(/"/g) ?? []).length % 2 === 1;
    const quote = entry.kind === "boolean" || isOpen ? "" : '"';
    return { from: word.from, options: words.map((label) => ({ label, apply: `${quote}${label}${quote}`, type: "constant" })), validFor: /^[\w.-]*$/ };
  }

  /** Underlines what is wrong: the value of the key of each fault in its line, or else the line. */
  mark(faults) {
    const { doc } = this.view.state, { items } = scan(this.text);
    const place = ({ line, key, text }) => {
      const at = doc.line(Math.max(1, Math.min(line ?? 1, doc.lines)));
      const item = items.find((it) => !it.isTable && it.keyFrom >= at.from && it.keyFrom <= at.to && it.path.join(".").endsWith(key.split(".").at(-1)));
      const space = /^\s*/.exec(at.text)[0].length;
      if (item && text.startsWith("unknown key")) return [item.keyFrom, item.keyTo];
      return item && item.to > item.from ? [item.from, Math.min(item.to, doc.length)] : [at.from + space, at.to];
    };
    const diagnostics = faults.map((fault) => {
      const [from, to] = place(fault);
      return { from, to, severity: "error", message: fault.key ? `${fault.key}: ${fault.text}` : fault.text };
    });
    this.view.dispatch(CM.setDiagnostics(this.view.state, diagnostics));
  }

  /** The setting with a number in the line of the cursor. */
  numberHere() {
    const { state } = this.view, at = state.selection.main.head, line = state.doc.lineAt(at);
    const numbers = this.numbers().filter((it) => it.from >= line.from && it.to <= line.to);
    return numbers.find((it) => at >= it.keyFrom && at <= it.to) ?? numbers[0] ?? null;
  }

  /** All settings with a number. */
  numbers() {
    const text = this.text;
    return scan(text).items.flatMap((it) => {
      const number = it.isTable ? null : numberIn(text.slice(it.from, it.to));
      return number ? [{ ...it, ...number, key: it.path.join(".") }] : [];
    });
  }

  /** Gives a setting another number; its unit stays. */
  put(key, value) {
    const found = this.numbers().find((it) => it.key === key);
    if (found) this.view.dispatch({ changes: { from: found.from, to: found.to, insert: `${found.quote}${value}${found.unit}${found.quote}` } });
  }
}
