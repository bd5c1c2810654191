// Tables of metrics, and of differences between two sets of runs that are paired by their replications.

/** A value with its unit, scaled by the largest of its row. */
const shownIn = (value, [factor, unit]) => (value === null ? "–" : `${digits(value / factor)} ${unit ?? ""}`.trim());

function bounds({ low, high, n }, [factor]) {
  if (low === null) return n ? `n = ${n}` : "";
  return low === high ? "does not vary" : `${digits(low / factor)} to ${digits(high / factor)}`;
}

function tableOf(label, heads, rows) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", { class: "found" },
    el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, rows.map(({ cells, title }) => el("tr", { title }, cells.map((cell, i) => (i ? el("td", {}, cell) : el("th", { scope: "row" }, cell))))))));
}

/** A metric in words, with its subject where several have the same. */
function metricWords({ name, label }) {
  const subject = name.split(".").slice(1, -1).join(".");
  return label ? (subject ? `${label} of ${subject}` : label) : name;
}

const nameCell = (metric) => el("span", {}, metricWords(metric), el("small", {}, metric.name));

/** A row for each metric: its mean and interval; `of` gives its values by replication. */
function meansOf(metrics, of) {
  return metrics.map((metric) => {
    const mean = interval([...of(metric.name).values()]), scale = prefix(Math.abs(mean.mean ?? 0), metric.unit);
    return { title: metric.meaning, cells: [nameCell(metric), shownIn(mean.mean, scale), bounds(mean, scale)] };
  });
}

/** A row for each metric that differs: both means and the difference; `from` and `to` give its values by replication. */
function differing(metrics, from, to) {
  return metrics.flatMap((metric) => {
    const [one, other] = [to(metric.name), from(metric.name)], it = difference(one, other);
    if (!it.n) return [];
    const [after, before] = [interval([...one.values()]), interval([...other.values()])];
    const scale = prefix(Math.max(Math.abs(after.mean), Math.abs(before.mean)), metric.unit);
    // What only rounding tells apart is equal.
    if (Math.abs(it.mean) <= 1e-12 * scale[0]) return [];
    const isClear = it.low !== null && (it.low > 0 || it.high < 0), sign = it.mean > 0 ? "+" : "";
    const share = before.mean ? `${sign}${digits((100 * it.mean) / before.mean, 3)} %; ` : "";
    return [{ title: metric.meaning, cells: [
      nameCell(metric), shownIn(before.mean, scale), shownIn(after.mean, scale),
      el("span", {}, el(isClear ? "b" : "span", {}, `${sign}${shownIn(it.mean, scale)}`), el("small", {}, `${share}${bounds(it, scale)}`))] }];
  });
}

const PAIRED = "95 % intervals below the differences, bold where they exclude 0; metrics that are equal are left out.";
