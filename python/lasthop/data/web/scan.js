// Where the keys and the values of a scenario are in its text, also while it is being written.

const KEY = /(?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*[ \t]*\.?/y;
const PLAIN = /"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s,\]}#]+/y;

const parts = (text) => [...text.matchAll(/"([^"\n]*)"|'([^'\n]*)'|[\w-]+/g)].map((found) => found[1] ?? found[2] ?? found[0]);

/** The values of a text with the path of each, and what is at its end: a key or a value of which path. */
function scan(text) {
  const items = [], outer = [];
  let table = [], base = [], path = [], at = 0, end = { in: "key", path: [], from: 0 };
  const match = (expression) => {
    expression.lastIndex = at;
    const found = expression.exec(text)?.[0];
    if (found) at += found.length;
    return found;
  };
  const spaces = (lines) => { while (at < text.length && (text[at] === " " || text[at] === "\t" || (lines && /[\r\n]/.test(text[at])))) at++; };
  const comment = () => { while (at < text.length && text[at] !== "\n") at++; };
  const skipArray = () => {
    for (let depth = 0; at < text.length;) {
      if (text[at] === "#") comment();
      else if (/["']/.test(text[at])) match(PLAIN);
      else {
        if (/[[{]/.test(text[at])) depth++;
        if (/[\]}]/.test(text[at]) && --depth === 0) { at++; return; }
        at++;
      }
    }
  };
  while (at < text.length) {
    spaces(true);
    if (at >= text.length) { end = { in: "key", path: base, from: at }; break; }
    const sign = text[at];
    if (sign === "#") { comment(); end = { in: "comment" }; continue; }
    if (sign === ",") { at++; end = { in: "key", path: base, from: at }; continue; }
    if (sign === "}") { at++; base = outer.pop() ?? table; end = { in: "key", path: base, from: at }; continue; }
    if (sign === "[" && !outer.length) {
      const from = at;
      while (at < text.length && !/[\]\n]/.test(text[at])) at++;
      const name = text.slice(from, at).replace(/^\[+/, "");
      end = { in: "table", path: [], from: at - name.length, text: name };
      table = base = parts(name);
      while (at < text.length && text[at] === "]") { at++; end = { in: "comment" }; }
      items.push({ path: table, keyFrom: from, keyTo: at, from: at, to: at, isTable: true });
      continue;
    }
    const keyFrom = at, key = match(KEY);
    if (!key) { comment(); continue; }
    const keyTo = keyFrom + key.trimEnd().length;
    path = [...base, ...parts(key)];
    end = { in: "key", path: base, from: keyFrom, text: key };
    spaces(false);
    if (text[at] !== "=") { items.push({ path, keyFrom, keyTo, from: keyTo, to: keyTo }); comment(); continue; }
    at++;
    spaces(false);
    end = { in: "value", path, from: at };
    if (text[at] === "{") { items.push({ path, keyFrom, keyTo, from: at, to: at, isTable: true }); outer.push(base); base = path; at++; end = { in: "key", path: base, from: at }; continue; }
    const from = at;
    if (text[at] === "[") { skipArray(); end = at >= text.length && text.at(-1) !== "]" ? { in: "value", path, from } : { in: "comment" }; }
    else if (at < text.length && !/[\r\n]/.test(text[at])) {
      match(PLAIN);
      end = at >= text.length && !/^"[^"]*"$/.test(text.slice(from)) ? { in: "value", path, from } : { in: "comment" };
    }
    items.push({ path, keyFrom, keyTo, from, to: at });
  }
  return { items, end };
}

/** The path of a key in full: a quoted path of a sweep or a condition is that of its key. */
const plainPath = (path) => (path.at(-1)?.includes(".") ? parts(path.at(-1)) : path);

/** Whether a path is one of an entry such as links.NAME.rate. */
const fits = (path, entry) => entry.length === path.length && entry.every((part, i) => part === path[i] || /^[A-Z]+$/.test(part));

/** A number with its unit in the text of a value: `"10 ms"`, `5`. */
function numberIn(text) {
  const found = /^(["']?)(-?\d+(?:\.\d+)?)(\s*[%\p{L}/]*[\w/]*)\1$/u.exec(text);
  return found ? { value: Number(found[2]), unit: found[3], quote: found[1] } : null;
}
