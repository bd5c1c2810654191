// A drawing as plain shapes in points, and as SVG: the rules of figures/scene.py, held equal by a test.

const PIXELS = 4 / 3, FONTS = "DejaVu Sans, Verdana, sans-serif";
// The mean width of a letter and the height of a line, in units of the font size, and points between a text and the side of its plate.
const LETTER = 0.6, LINE = 1.15, BESIDE = 1.5;

const polyline = (points, colour, width = 1, dashes = []) => ({ points, colour, width, dashes });
const area = (points, colour, edge = "none") => ({ points, colour, edge });
const words = (x, y, text, size, { colour = "#000000", anchor = "middle", bold = false, plate = false } = {}) => ({ x, y, text, size, colour, anchor, bold, plate });
const group = (kind, text = "", shapes = []) => ({ kind, text, shapes });

const widthOf = (it) => [...it.text].length * it.size * (LETTER + 0.06 * it.bold);

/** Left, top, right, bottom of a text. */
function boxOf(it) {
  const width = widthOf(it), left = it.x - { start: 0, middle: 0.5, end: 1 }[it.anchor] * width, half = 0.5 * LINE * it.size;
  return [left, it.y - half, left + width, it.y + half];
}

const overlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** A number with this number of decimals; what is half way goes to the even digit, as in Python. */
function fixed(value, places) {
  const exact = value.toFixed(Math.min(100, places + 45)), cut = exact.length - (exact.split(".")[1]?.length ?? 0) + places;
  const shown = exact.slice(0, cut);
  return /^50*$/.test(exact.slice(cut)) && Number(shown.at(-1)) % 2 === 0 ? shown : value.toFixed(places);
}

/** A number with at most two decimals. */
function short2(value) {
  const text = fixed(value, 2).replace(/\.?0+$/, "");
  return text === "-0" ? "0" : text;
}

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" })[sign]);

/** A drawing as SVG; groups have their text as title and label. */
function svgOf({ width, height, title, groups }) {
  const size = `width="${short2(width * PIXELS)}" height="${short2(height * PIXELS)}"`, view = `viewBox="0 0 ${short2(width)} ${short2(height)}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${view} role="img" class="ladder"`;
  const parts = [`${head} font-family="${FONTS}" aria-label="${escaped(title)}">`, '<rect class="paper" width="100%" height="100%" fill="#ffffff"/>'];
  for (const { kind, text, shapes } of groups) {
    parts.push(`<g class="${kind}"${text ? ` role="img" aria-label="${escaped(text)}"` : ""}>`);
    if (text) parts.push(`<title>${escaped(text)}</title>`);
    parts.push(...shapes.map(elementOf), "</g>");
  }
  return `${[...parts, "</svg>"].join("\n")}\n`;
}

function elementOf(shape) {
  const points = shape.points?.map(([x, y]) => `${short2(x)},${short2(y)}`).join(" ");
  if (shape.width !== undefined) {
    const dashes = shape.dashes.length ? ` stroke-dasharray="${shape.dashes.map(short2).join(" ")}"` : "";
    return `<polyline points="${points}" fill="none" stroke="${shape.colour}" stroke-width="${short2(shape.width)}"${dashes}/>`;
  }
  if (points) return `<polygon points="${points}" fill="${shape.colour}" stroke="${shape.edge}"/>`;
  const { x, y, text, size, colour, anchor, bold } = shape;
  const place = `x="${short2(x)}" y="${short2(y + 0.35 * size)}" font-size="${short2(size)}"`;
  const style = `fill="${colour}" text-anchor="${anchor}"${bold ? ' font-weight="bold"' : ""} stroke="#ffffff" stroke-width="2" stroke-linejoin="round" paint-order="stroke"`;
  const [left, top, right, bottom] = boxOf(shape);
  const plate = shape.plate ? `<rect class="plate" x="${short2(left - BESIDE)}" y="${short2(top)}" width="${short2(right - left + 2 * BESIDE)}" height="${short2(bottom - top)}" fill="#ffffff"/>` : "";
  return `${plate}<text ${place} ${style}>${escaped(text)}</text>`;
}
