// What can be saved of a figure: its numbers, and one picture on white paper.

/** What a figure shows as rows of numbers, the names of the columns first. */
function dataRows(fig, state) {
  if (fig.form === "matrix") {
    return [["row", "column", "mean", "ci_low", "ci_high", "n"],
      ...fig.cells.flatMap((row, y) => row.flatMap((cell, x) => (cell ? [[fig.rows[y], fig.columns[x], ...cell.slice(1)]] : [])))];
  }
  const models = fig.panels.map((panel) => MODELS[fig.form](fig, panel, state));
  return [models[0].columns, ...models.flatMap((model) => model.table())];
}

/** Text in lines that fit into a width. */
function wrapped(ctx, text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && ctx.measureText(longer).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** A figure as one picture on white paper; `bare` leaves title, legend and caption to the page. */
function picture(fig, state, bare = false) {
  const k = 2, width = (bare ? 720 : 800) * k, pad = bare ? 0 : 20 * k, on = THEMES.light;
  const inner = width - 2 * pad;
  const host = el("div", { class: "offstage", "aria-hidden": "true" });
  document.body.append(host);
  const scale = k / devicePixelRatio;
  const plots = fig.form === "matrix" ? [] : charts(host, fig, { ...state, focus: null }, { live: false, k: scale, width: inner / devicePixelRatio, theme: on });
  const sheet = el("canvas");
  const ctx = sheet.getContext("2d");
  const font = (size, weight = "") => `${weight} ${size * k}px ${FONT}`.trim();
  const parts = [];
  let height = pad;
  const text = (content, size, paint, weight = "", align = "left") => {
    ctx.font = font(size, weight);
    for (const line of wrapped(ctx, content, inner)) {
      const y = height + size * k;
      parts.push(() => { ctx.font = font(size, weight); ctx.fillStyle = paint; ctx.textAlign = align; ctx.textBaseline = "alphabetic"; ctx.fillText(line, align === "left" ? pad : pad + inner / 2, y); });
      height += size * 1.4 * k;
    }
  };
  if (!bare) text(fig.title, 16, on.ink, "600");
  if (!bare && fig.form !== "matrix") height = legendOf(fig, state, { ctx, k, on, pad, inner, font, parts, height: height + 6 * k });
  height += 8 * k;
  if (fig.crowded) {
    text(fig.panels[0].label, 12, on.muted);
    height = paintSmall(fig, plots, { ctx, k, on, pad, inner, font, parts, height: height + 4 * k });
    text(fig.x.label, 12, on.muted, "", "center");
  } else {
    fig.panels?.forEach((panel, i) => {
      text(panel.label, 12, on.muted);
      const canvas = plots[i].ctx.canvas, top = height;
      parts.push(() => ctx.drawImage(canvas, pad, top));
      height += canvas.height;
    });
  }
  if (fig.form === "matrix") height = paintMatrix(fig, { ctx, k, on, pad, inner, font, parts, height });
  if (!bare) {
    height += 6 * k;
    text([fig.caption, ...fig.notes].join(" · "), 11, on.muted);
  }
  sheet.width = width;
  sheet.height = Math.ceil(height + pad);
  ctx.fillStyle = on.surface;
  ctx.fillRect(0, 0, sheet.width, sheet.height);
  for (const part of parts) { ctx.save(); part(); ctx.restore(); }
  for (const plot of plots) plot.destroy();
  host.remove();
  return sheet;
}

/** The sample of an entry of a legend, as `swatch` on the page. */
function sample(ctx, { look, style, bare }, x, y, k, on) {
  if (style === "fill") {
    ctx.fillStyle = look.light;
    ctx.fillRect(x + 8 * k, y - 5 * k, 14 * k, 10 * k);
    return;
  }
  if (style !== "dots" && style !== "hollow") {
    ctx.strokeStyle = look.light;
    ctx.lineWidth = 1.8 * k;
    ctx.setLineDash(look.dash.map((v) => v * 1.8 * k));
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + 28 * k, y);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  if (!bare) mark(ctx, look, x + 14 * k, y, 3.8 * k, on, style === "hollow");
}

/** The panels of a crowded figure, each under the name of its line. */
function paintSmall(fig, plots, { ctx, k, on, pad, inner, font, parts, height }) {
  const columns = columnsOf(fig, inner, k), lines = linesOf(fig);
  for (let first = 0; first < lines.length; first += columns) {
    const row = lines.slice(first, first + columns);
    const canvases = row.map((_, i) => plots[first + i].ctx.canvas);
    ctx.font = font(12);
    const names = row.map(({ name }, i) => wrapped(ctx, name, canvases[i].width - 40 * k));
    const top = height, tall = Math.max(...names.map((texts) => texts.length)) * 16 * k + 2 * k;
    let left = pad;
    row.forEach((entry, i) => {
      const x = left;
      parts.push(() => {
        sample(ctx, entry, x, top + 8 * k, k, on);
        ctx.font = font(12);
        ctx.fillStyle = on.ink;
        ctx.textBaseline = "middle";
        names[i].forEach((text, j) => ctx.fillText(text, x + 34 * k, top + (8 + 16 * j) * k));
        ctx.drawImage(canvases[i], x, top + tall);
      });
      left += canvases[i].width;
    });
    height += tall + Math.max(...canvases.map((canvas) => canvas.height)) + 6 * k;
  }
  return height;
}

function legendOf(fig, state, { ctx, k, on, pad, inner, font, parts, height }) {
  let x = pad, y = height;
  ctx.font = font(12);
  const shown = entries(fig).filter((entry) => !state.hidden.has(entry.name));
  if (!shown.length) return height;
  for (const entry of shown) {
    const { name } = entry;
    const wide = 36 * k + ctx.measureText(name).width;
    if (x > pad && x + wide > pad + inner) { x = pad; y += 20 * k; }
    const at = x, line = y + 8 * k;
    parts.push(() => {
      sample(ctx, entry, at, line, k, on);
      ctx.font = font(12);
      ctx.fillStyle = on.ink;
      ctx.textBaseline = "middle";
      ctx.fillText(name, at + 34 * k, line);
    });
    x += wide + 16 * k;
  }
  return y + 20 * k;
}

function paintMatrix(fig, { ctx, k, on, pad, inner, font, parts, height }) {
  ctx.font = font(12);
  const first = Math.max(...fig.rows.map((name) => ctx.measureText(name).width)) + 16 * k;
  const wide = (inner - first) / fig.columns.length, tall = 26 * k;
  const centred = (text, x, y, paint) => {
    ctx.font = font(12);
    ctx.fillStyle = paint;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y, wide - 6 * k);
  };
  parts.push(() => {
    fig.rows.forEach((name, y) => {
      const top = height + y * tall;
      ctx.font = font(12);
      ctx.fillStyle = on.ink;
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      ctx.fillText(name, pad + first - 8 * k, top + tall / 2);
      fig.cells[y].forEach((cell, x) => {
        const shade = fig.shades[y][x] ?? 0, left = pad + first + x * wide;
        const mix = (full, i) => Math.round(255 + (full[i] - 255) * 0.75 * Math.abs(shade));
        const full = shade > 0 ? [0, 114, 178] : [213, 94, 0];
        ctx.fillStyle = `rgb(${mix(full, 0)},${mix(full, 1)},${mix(full, 2)})`;
        ctx.fillRect(left, top, wide - k, tall - k);
        centred(cell ? cell[0] : "–", left + wide / 2, top + tall / 2, on.ink);
      });
    });
    fig.columns.forEach((name, x) => centred(name, pad + first + (x + 0.5) * wide, height + fig.rows.length * tall + 14 * k, on.ink));
  });
  return height + fig.rows.length * tall + 28 * k;
}

function png(fig, state) {
  return new Promise((done) => picture(fig, state).toBlob(done, "image/png"));
}
