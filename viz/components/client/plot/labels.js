// @ts-check
// Positions of the labels of level lines, so that none overlaps another line or label.

/** For each line, by its height in pixels from the top: whether its name stands above it, where the next line is
 * farther away, and not below; and in which of two columns, because names of neighbours may stand between the same
 * lines.
 * @param {number[]} heights */
export function levelLabels(heights) {
  return heights.map((height, i) => {
    const away = (/** @type {number} */ side) =>
      Math.min(...heights.map((neighbour) => (neighbour - height) * side).filter((far) => far > 0));
    return { isAbove: away(-1) >= away(1), column: i % 2 };
  });
}
