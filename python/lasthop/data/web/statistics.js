// Means and paired differences with their intervals: the rules of stats/intervals.py, held equal by a test.

const LEVEL = 0.95;
/** Quantiles of Student's t by the number of values; the module computes them. */
const FACTORS = new Map();

/** Asks the simulator for the quantiles of up to so many values. */
async function learnFactors(engine, count) {
  for (let n = 2; n <= count; n++) if (!FACTORS.has(n)) FACTORS.set(n, await engine.ask({ call: { do: "quantile", p: 0.5 + LEVEL / 2, df: n - 1 } }));
}

/** The sum of numbers with one rounding, as Python's math.fsum: partial sums that do not overlap. */
function fsum(values) {
  const parts = [];
  for (let x of values) {
    let kept = 0;
    for (let y of parts) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y, low = y - (high - x);
      if (low) parts[kept++] = low;
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }
  let n = parts.length;
  if (!n) return 0;
  let high = parts[--n], low = 0;
  while (n > 0) {
    const x = high, y = parts[--n];
    high = x + y;
    low = y - (high - x);
    if (low) break;
  }
  // Half-way cases round to even over all parts.
  if (n > 0 && ((low < 0 && parts[n - 1] < 0) || (low > 0 && parts[n - 1] > 0))) {
    const y = low * 2, x = high + y;
    if (y === x - high) high = x;
  }
  return high;
}

/** The mean and its Student-t interval; missing values are left out. */
function interval(values) {
  const known = values.filter((v) => v !== null && v !== undefined), n = known.length;
  if (n === 0) return { mean: null, low: null, high: null, n };
  if (n === 1) return { mean: known[0], low: null, high: null, n };
  if (Math.min(...known) === Math.max(...known)) return { mean: known[0], low: known[0], high: known[0], n };
  const mean = fsum(known) / n;
  const half = FACTORS.get(n) * Math.sqrt(fsum(known.map((v) => (v - mean) ** 2)) / (n - 1) / n);
  return { mean, low: mean - half, high: mean + half, n };
}

/** The share of durations that are over by each time, with those that had not ended censored: Kaplan and Meier's estimate. */
function overBy(lasted) {
  const sorted = [...lasted].sort((a, b) => a.time - b.time), x = [0], y = [0];
  let share = 1;
  for (let i = 0; i < sorted.length;) {
    const { time } = sorted[i], atRisk = sorted.length - i;
    let ended = 0;
    for (; i < sorted.length && sorted[i].time === time; i++) ended += sorted[i].ended;
    if (!ended) continue;
    share *= 1 - ended / atRisk;
    x.push(time);
    y.push(1 - share);
  }
  return { x: [...x, sorted.at(-1).time], y: [...y, y.at(-1)] };
}

/** The ratio of the means of a and b over the replications that both have, less one, by the delta method. */
function gain(a, b) {
  const shared = [...a.keys()].filter((k) => b.has(k)).sort((x, y) => x - y).filter((k) => a.get(k) !== null && b.get(k) !== null), n = shared.length;
  const below = n ? fsum(shared.map((k) => b.get(k))) / n : 0;
  if (!below) return { mean: null, low: null, high: null, n: 0 };
  const mean = fsum(shared.map((k) => a.get(k))) / n / below;
  const { low, high } = interval(shared.map((k) => (a.get(k) - mean * b.get(k)) / below)), half = low === null ? null : (high - low) / 2;
  return { mean: mean - 1, low: half === null ? null : mean - half - 1, high: half === null ? null : mean + half - 1, n };
}

/** The mean of a - b over the replications that both have, given by number. */
function difference(a, b) {
  const shared = [...a.keys()].filter((k) => b.has(k)).sort((x, y) => x - y);
  return interval(shared.filter((k) => a.get(k) !== null && b.get(k) !== null).map((k) => a.get(k) - b.get(k)));
}
