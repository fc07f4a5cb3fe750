// @ts-check
// Heads that look at a place: the same arithmetic as viz/core/variants/relative.py, which is the reference.

import { softmax } from "../lib/numbers.js";

/**
 * @typedef {{offset: number[], alpha: number, weight: number}} Head where it looks, how sharply, and what it makes of
 *   it
 */

/**
 * Weights of one head on a sequence: softmax(mix * content - alpha (delta - offset)^2), delta = key - query.
 *
 * @param {number} n
 * @param {number} alpha
 * @param {number} offset
 * @param {ArrayLike<number> | null} content
 */
export function windowWeights(n, alpha, offset, content = null, mix = 0) {
  const into = new Float64Array(n * n);
  for (let i = 0, at = 0; i < n; i++) {
    for (let j = 0; j < n; j++, at++) {
      const away = j - i - offset,
        score = content ? content[at] : 0;
      into[at] = (score === -Infinity ? score : mix * score) - alpha * away * away;
    }
  }
  return softmax(into, n, n, 1, into);
}

/**
 * Apply heads to a picture: each a window along the rows times a window along the columns, as axial_layer has it.
 *
 * @param {ArrayLike<number>} image
 * @param {number} rows
 * @param {number} columns
 * @param {Head[]} heads
 */
export function convolve(image, rows, columns, heads) {
  const out = new Float64Array(rows * columns),
    half = new Float64Array(rows * columns);
  for (const { alpha, offset, weight } of heads) {
    const down = windowWeights(rows, alpha, offset[0]),
      across = windowWeights(columns, alpha, offset[1]);
    half.fill(0);
    for (let i = 0; i < rows; i++) {
      for (let k = 0; k < rows; k++) {
        const share = down[i * rows + k];
        if (share > 1e-12) for (let j = 0; j < columns; j++) half[i * columns + j] += share * image[k * columns + j];
      }
    }
    for (let j = 0; j < columns; j++) {
      for (let k = 0; k < columns; k++) {
        const share = weight * across[j * columns + k];
        if (Math.abs(share) > 1e-12)
          for (let i = 0; i < rows; i++) out[i * columns + j] += share * half[i * columns + k];
      }
    }
  }
  return out;
}
