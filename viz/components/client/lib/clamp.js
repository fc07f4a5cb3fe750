// @ts-check

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/**
 * The cell a step away, or the last one before the edge.
 *
 * @param {number[]} at a cell as [row, column]
 * @param {number[]} step
 * @param {number[]} size how many rows and columns there are
 */
export function moveCell(at, step, size) {
  return at.map((place, i) => clamp(place + step[i], 0, size[i] - 1));
}
