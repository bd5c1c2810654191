// Window, queues and airtime over time, as strips with a line at the present.

const TALL = 58, AXIS = 18;

class Strips {
  constructor(film, data, shared, seek) {
    this.film = film;
    this.data = data;
    this.shared = shared;
    this.flow = Object.keys(film.windows)[0];
    this.link = this.busiest();
    this.parts = [this.part("window", Object.keys(film.windows), "flow"), this.part("queue", [], ""), this.part("airtime", film.links.map((link) => link.name), "link")];
    this.host = el("div", { class: "strips" }, this.parts.map((part) => part.host));
    for (const { canvas } of this.parts) this.listen(canvas, seek);
  }

  part(name, choices, key) {
    const value = el("span", { class: "value" });
    const canvas = el("canvas", { "aria-hidden": "true" });
    const now = el("div", { class: "now-line" });
    const chooser = choices.length > 1 ? el("select", { "aria-label": `${name} of`, onchange: (event) => {
      this[key] = key === "link" ? Number(event.target.value) : event.target.value;
      this.drawn = null;
      this.again();
    } }, choices.map((choice, i) => el("option", { value: key === "link" ? i : choice, selected: (key === "link" ? i === this.link : choice === this.flow) }, choice))) : "";
    return { name, value, canvas, now, host: el("div", { class: "strip" }, el("div", { class: "strip-head" }, el("b", {}, name), chooser, value), el("div", { class: "strip-body" }, canvas, now)) };
  }

  /** The link with the most airtime; where stations contend before wires. */
  busiest() {
    const sums = this.film.links.map((link) => (link.medium ? 1e9 : 0));
    for (const one of this.film.flights) sums[one.link] += one.off - one.t;
    return sums.indexOf(Math.max(...sums));
  }

  /** A press on a strip goes to its time, and a drag goes along. */
  listen(canvas, seek) {
    let held = null;
    const go = (event) => {
      const box = canvas.getBoundingClientRect();
      seek(held[0] + ((event.clientX - box.left) / box.width) * (held[1] - held[0]));
    };
    canvas.addEventListener("pointerdown", (event) => { held = this.frozen = this.view; canvas.setPointerCapture(event.pointerId); go(event); });
    canvas.addEventListener("pointermove", (event) => { if (held) go(event); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { held = this.frozen = null; });
  }

  /** Show a time within a stretch around it. */
  show(t, span, width) {
    const { length } = this.film;
    const from = span >= length ? 0 : clampTo(t - span / 2, 0, length - span);
    this.view = this.frozen ?? [from, from + Math.min(span, length)];
    const state = `${this.view} ${width} ${devicePixelRatio} ${theme().name} ${this.flow} ${this.link}`;
    this.again = () => { this.drawn = null; this.show(t, span, width); };
    if (this.drawn !== state) {
      this.drawn = state;
      this.drawWindow(this.pen(0, width, TALL));
      this.drawQueues(this.pen(1, width, TALL));
      this.drawAirtime(this.pen(2, width, TALL + AXIS));
    }
    const x = ((t - this.view[0]) / (this.view[1] - this.view[0])) * width;
    for (const { now } of this.parts) now.style.transform = `translateX(${clampTo(x, 0, width)}px)`;
    this.tell(t);
  }

  /** A canvas ready to be drawn on, with its scale. */
  pen(number, width, height) {
    const { canvas } = this.parts[number], k = devicePixelRatio;
    if (canvas.width !== Math.round(width * k) || canvas.height !== Math.round(height * k)) {
      canvas.width = Math.round(width * k);
      canvas.height = Math.round(height * k);
      canvas.style.height = `${height}px`;
    }
    const ctx = canvas.getContext("2d"), [a, b] = this.view;
    ctx.setTransform(k, 0, 0, k, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.font = `11px ${FONT}`;
    const on = theme();
    ctx.strokeStyle = on.grid;
    ctx.lineWidth = 1;
    for (const tick of this.ticks(width)) line(ctx, [[this.place(tick, width), 0], [this.place(tick, width), TALL]]);
    line(ctx, [[0, TALL - 0.5], [width, TALL - 0.5]]);
    return { ctx, on, width, from: a, to: b, x: (t) => ((t - a) / (b - a)) * width };
  }

  place(t, width) { return Math.round(((t - this.view[0]) / (this.view[1] - this.view[0])) * width) + 0.5; }

  /** Times at round distances. */
  ticks(width) {
    const begin = this.data.period[0], [a, b] = this.view;
    const rough = ((b - a) * 90) / width, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    this.decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const found = [];
    for (let n = Math.ceil((begin + a) / step - 1e-9); n * step <= begin + b + 1e-12; n++) found.push(n * step - begin);
    return found;
  }

  /** The corners of a quantity that keeps each value until the next. */
  stairs(pen, times, values, y) {
    const found = [];
    for (let i = Math.max(0, after(times, pen.from) - 1); i < times.length && times[i] <= pen.to; i++) {
      const x = pen.x(Math.max(times[i], pen.from));
      if (values[i] === null) continue;
      if (found.length) found.push([x, found.at(-1)[1]]);
      found.push([x, y(values[i])]);
    }
    if (found.length) found.push([pen.width, found.at(-1)[1]]);
    return found;
  }

  scale(pen, most) {
    pen.ctx.fillStyle = pen.on.muted;
    pen.ctx.textAlign = "left";
    pen.ctx.fillText(digits(most, 2), 3, 11);
  }

  drawWindow(pen) {
    const steps = this.film.windows[this.flow];
    if (!steps) return;
    const { ctx } = pen, most = this.shared.cwnd, y = (v) => TALL - 1 - (Math.min(v, most * 1.04) / (most * 1.06)) * (TALL - 8);
    const paint = this.data.lines[0][pen.on.name];
    const outline = this.stairs(pen, steps.t, steps.cwnd, y);
    if (!outline.length) return;
    ctx.fillStyle = paint;
    ctx.globalAlpha = 0.16;
    area(ctx, [[outline[0][0], TALL], ...outline, [pen.width, TALL]]);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = pen.on.muted;
    ctx.setLineDash([4, 3]);
    line(ctx, this.stairs(pen, steps.t, steps.ssthresh, y));
    ctx.setLineDash([]);
    ctx.strokeStyle = paint;
    ctx.lineWidth = 1.8;
    line(ctx, outline);
    this.signs(pen);
    this.scale(pen, most);
  }

  /** Losses and timeouts at the top of the window. */
  signs(pen) {
    const { ctx } = pen;
    ctx.strokeStyle = pen.on.ink;
    ctx.lineWidth = 1.3;
    let last = -Infinity;
    for (const one of this.film.happened(pen.from - 1e-9, pen.to)) {
      const x = pen.x(one.t);
      if (isPacketLoss(one) && x > last + 5) {
        last = x;
        line(ctx, [[x - 3, 2], [x + 3, 8]]);
        line(ctx, [[x - 3, 8], [x + 3, 2]]);
      } else if (one.sort === "timeout") {
        ctx.setLineDash([2, 2]);
        line(ctx, [[x, 0], [x, TALL]]);
        ctx.setLineDash([]);
      }
    }
  }

  /** The nodes with the longest queues. */
  longest() {
    this.top ??= this.film.queues.map((queue, node) => ({ node, most: Math.max(...queue.n) })).filter((one) => one.most > 0).sort((a, b) => b.most - a.most).slice(0, 4).sort((a, b) => a.node - b.node);
    return this.top;
  }

  drawQueues(pen) {
    const { ctx } = pen, most = Math.max(1, this.shared.queue), y = (v) => TALL - 1 - (v / (most * 1.06)) * (TALL - 8);
    this.longest().forEach(({ node }, i) => {
      ctx.strokeStyle = this.data.lines[(i + 1) % this.data.lines.length][pen.on.name];
      ctx.lineWidth = 1.7;
      ctx.setLineDash(QUEUE_DASHES[i]);
      line(ctx, this.stairs(pen, this.film.queues[node].t, this.film.queues[node].n, y));
      ctx.setLineDash([]);
    });
    this.scale(pen, most);
  }

  /** Of each column the shares of time that kinds of frames took; what was lost at the top, in ink. */
  drawAirtime(pen) {
    const { ctx, on, width } = pen, kinds = this.data.kinds.length;
    const columns = Math.ceil(width * Math.min(devicePixelRatio, 2)), wide = width / columns, each = (pen.to - pen.from) / columns;
    const shares = Array.from({ length: kinds + 1 }, () => new Float64Array(columns));
    this.sums = new Float64Array(kinds + 1);
    const { flights, longest } = this.film;
    for (let i = after(flights, pen.from - longest, (one) => one.t); i < flights.length && flights[i].t < pen.to; i++) {
      const one = flights[i];
      if (one.link !== this.link || one.off <= pen.from) continue;
      const row = one.lost ? kinds : one.number;
      const begin = (Math.max(one.t, pen.from) - pen.from) / each, end = (Math.min(one.off, pen.to) - pen.from) / each;
      this.sums[row] += (end - begin) / columns;
      for (let c = Math.floor(begin); c < Math.min(columns, end); c++) shares[row][c] += Math.min(end, c + 1) - Math.max(begin, c);
    }
    // Both directions of a wire may be busy at once.
    const whole = this.film.links[this.link]?.medium ? 1 : 2, room = TALL - 4;
    this.sums = this.sums.map((sum) => sum / whole);
    for (let c = 0; c < columns; c++) {
      let sum = 0;
      for (let row = 0; row <= kinds; row++) sum += shares[row][c];
      const scale = room / Math.max(whole, sum);
      let y = TALL - 1;
      for (let row = 0; row <= kinds; row++) {
        const tall = shares[row][c] * scale;
        if (tall <= 0) continue;
        ctx.fillStyle = row === kinds ? on.ink : this.data.kinds[row][on.name];
        ctx.fillRect(c * wide, y - tall, wide + 0.4, tall);
        y -= tall;
      }
    }
    ctx.fillStyle = on.muted;
    ctx.textAlign = "center";
    for (const tick of this.ticks(width)) {
      const text = `${(tick + this.data.period[0]).toFixed(this.decimals)} s`, half = ctx.measureText(text).width / 2;
      ctx.fillText(text, clampTo(this.place(tick, width), half, width - half), TALL + 13);
    }
  }

  /** The values of the present. */
  tell(t) {
    const steps = this.film.windows[this.flow], [windows, queues, air] = this.parts;
    const cwnd = steps && this.film.step(steps, t, steps.cwnd), ssthresh = steps && this.film.step(steps, t, steps.ssthresh);
    const said = cwnd === null || cwnd === undefined ? "–" : `${digits(cwnd, 3)} segments`;
    put(windows.value, ssthresh === null || ssthresh === undefined ? said : `${said}, threshold ${digits(ssthresh, 3)}`);
    const entries = this.longest().map(({ node }, i) => [i, this.film.nodes[node], this.film.step(this.film.queues[node], t, this.film.queues[node].n) ?? 0]);
    keyed(queues.value, String(entries), () => entries.map(([i, name, n]) => el("span", {}, sample(this.data.lines[(i + 1) % this.data.lines.length], QUEUE_DASHES[i]), `${name} ${n}`)));
    const shares = [...this.data.kinds, { name: "lost", light: THEMES.light.ink, dark: THEMES.dark.ink }].map((kind, i) => [kind, (100 * this.sums[i]).toFixed(0)]).filter(([, share], i) => this.sums[i] > 0);
    keyed(air.value, String(shares.map(([kind, share]) => kind.name + share)), () => shares.map(([kind, share]) => el("span", {}, swatch({ ...kind, marker: "s" }, "fill"), `${kind.name.replace("ACK of the MAC", "MAC ACK")} ${share} %`)));
  }
}

const QUEUE_DASHES = [[], [6, 3], [2, 2], [8, 2, 2, 2]];

function line(ctx, points) {
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
}

function area(ctx, points) {
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.closePath();
  ctx.fill();
}

function put(element, text) { if (element.textContent !== text) element.textContent = text; }

/** Children that are made anew only when what they show changes. */
function keyed(element, key, make) {
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...make());
}

/** The sample of a line with dashes. */
function sample(look, dash) {
  return swatch({ ...look, dash: dash.map((v) => v / 1.8), marker: "o" }, "line");
}
