// The places of nodes on a map: as in the scenario, but far enough apart for the boxes of each.

// The least width of boxes, and pixels around them.
const MAP_BOX = 92, MAP_EDGE = 14, MAP_LOW = 420, MAP_TALLEST = 1600;

/**
 * Places in pixels of nodes at positions in metres, of which y grows upwards.
 *
 * `stacks` are the heights of the boxes below each node. The map is as wide as given if the boxes fit, and wider if not;
 * null if nodes are so close to each other that a map would be too large.
 */
function mapped(places, stacks, given) {
  const xs = places.map(([x]) => x), ys = places.map(([, y]) => -y);
  const from = { x: Math.min(...xs), y: Math.min(...ys) };
  const wide = Math.max(...xs) - from.x, high = Math.max(...ys) - from.y;
  const heights = stacks.map((stack) => 24 + 12 + stack);
  const scale = Math.max(0, given - MAP_BOX - 2 * MAP_EDGE) / Math.max(wide, high / 2);
  const isFree = (sx, sy) => places.every((_, i) => places.every((_, j) => {
    if (i >= j || Math.abs(xs[i] - xs[j]) * sx >= MAP_BOX + 10) return true;
    const upper = ys[i] < ys[j] ? i : j;
    return Math.abs(ys[i] - ys[j]) * sy >= heights[upper] + 6;
  }));
  // First the height grows, up to three times the width; then the width does too.
  let sx = scale || 1 / Math.max(wide, high), sy = sx;
  while (!isFree(sx, sy)) {
    if (sy * high < 3 * sx * wide) sy *= 1.06;
    else sx *= 1.06;
    if (sx * wide > MAP_TALLEST || sy * high > MAP_TALLEST) return null;
  }
  // A map is not higher than a screen if it need not be.
  while (sy * high > MAP_LOW && isFree(sx, sy / 1.06)) sy /= 1.06;
  const left = MAP_EDGE + MAP_BOX / 2, width = Math.max(given, 2 * left + sx * wide), aside = (width - 2 * left - sx * wide) / 2;
  const x = xs.map((at) => left + aside + (at - from.x) * sx), y = ys.map((at) => 30 + (at - from.y) * sy);
  const tops = y.map((at) => ({ name: at - 12, host: at + 12, agent: at + 12, queue: at + 12 }));
  return { x, y, tops, width, boxWidth: MAP_BOX, height: Math.max(...y.map((at, i) => at + 12 + stacks[i])) + MAP_EDGE };
}
