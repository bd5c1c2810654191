"use strict";
// Numbers, tables and files. The rules are those of base/quantity.py and base/table.py.

/** An element with attributes and children; text is never read as HTML. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

/** A number in plain notation with this many significant digits; a dash for none. */
function digits(value, significant = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) {
    return value.toExponential(significant - 1).replace(/e([+-])(\d)$/, "e$10$2");
  }
  return value.toFixed(Math.max(0, significant - 1 - Math.floor(Math.log10(size))));
}

const PREFIXES = { "-4": "p", "-3": "n", "-2": "µ", "-1": "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T" };

/** A factor and the unit with a prefix in which a value reads well. */
function prefix(largest, unit) {
  if (!["bit/s", "s", "B"].includes(unit) || !largest || !Number.isFinite(largest)) return [1, unit];
  let power = Math.max(-4, Math.min(4, Math.floor(Math.log10(Math.abs(largest)) / 3 + 1e-9)));
  if (unit === "s") power = Math.min(power, 0);
  return [10 ** (3 * power), PREFIXES[power] + unit];
}

/** A value with its unit and a fitting prefix. */
function human(value, unit, significant = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && !["bit/s", "s", "B"].includes(unit)) return `${value} ${unit}`.trim();
  const [factor, name] = prefix(value, unit);
  return `${digits(value / factor, significant)} ${name}`.trim();
}

/** A mean with the half-width of its interval, in a unit without a prefix of its own. */
function plusMinus(mean, low, high, factor = 1) {
  if (mean === null) return "–";
  const half = low === null || high === null ? 0 : (high - low) / 2;
  if (!half) return digits(mean / factor);
  const shown = digits(half / factor, 2);
  return `${(mean / factor).toFixed((shown.split(".")[1] || "").length)} ± ${shown}`;
}

/** The label of a tick: short, and never with separators that depend on a language. */
function tick(value) {
  if (value === null) return "";
  const size = Math.abs(value);
  if (size && (size >= 1e6 || size < 1e-4)) return value.toExponential().replace("e+", "e");
  return String(Number(value.toPrecision(10)));
}

const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
  ">": "\\textgreater{}", "±": "$\\pm$", "–": "--", "µ": "\\textmu{}", "≥": "$\\ge$", "≤": "$\\le$",
};
for (const sign of "&%$#_{}") LATEX[sign] = `\\${sign}`;

/** A table of LaTeX that needs the package booktabs, with its caption as a comment. */
function latex(columns, rows, about = "") {
  const line = (cells) =>
    cells.map((cell) => [...cell].map((sign) => LATEX[sign] ?? sign).join("")).join(" & ") + " \\\\";
  return [
    ...about.split("\n").filter(Boolean).map((text) => `% ${text}`),
    `\\begin{tabular}{l${"r".repeat(columns.length - 1)}}`,
    "\\toprule", line(columns), "\\midrule", ...rows.map(line), "\\bottomrule", "\\end{tabular}",
  ].join("\n");
}

/** Rows as CSV; what a spreadsheet would take for a formula stays text. */
function csv(rows) {
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+@\t\r-]/.test(value) ? `'${value}` : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/** An SVG of our own as part of the page; nothing in it may run or load. */
function inlined(text) {
  const svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  for (const part of svg.querySelectorAll("script, foreignObject")) part.remove();
  svg.setAttribute("role", "img");
  return svg;
}

/** Say something to readers who do not see the page. */
function say(text) {
  $("#said").textContent = text;
}

function save(name, content, kind = "text/plain;charset=utf-8") {
  const blob = content instanceof Blob ? content : new Blob([content], { type: kind });
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`${name} saved`);
}

/** Copy text, and let the button say whether it worked. */
async function copy(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file may have no clipboard: the older way.
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    // In an open dialog nothing outside of it can be selected.
    (button.closest("dialog") ?? document.body).append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  answer(button, done ? "Copied" : "Not copied");
}

function answer(button, text) {
  const before = button.dataset.before ?? button.textContent;
  button.dataset.before = before;
  button.textContent = text;
  say(text);
  setTimeout(() => { button.textContent = before; }, 1500);
}
