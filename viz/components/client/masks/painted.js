// @ts-check
// A mask as a browser paints it: cells 0 or 1, row by row; and how a link writes it (viz/core/masks.py, to_code).

/** @param {Uint8Array} cells @param {number} n */
export function toCode(cells, n) {
  const bytes = new Uint8Array(Math.ceil(cells.length / 8));
  cells.forEach((open, at) => {
    if (open) bytes[at >> 3] |= 128 >> (at & 7);
  });
  const text = btoa(String.fromCharCode(...bytes));
  return `${n}.${text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")}`;
}

/**
 * The cells of a row, a column or a pair, as places in the mask.
 *
 * @param {import("../lib/describe.js").Pair} pair
 * @param {number} n
 */
export function places({ query, key }, n) {
  if (query !== null && key !== null) return [query * n + key];
  return Array.from({ length: n }, (_, i) => (query !== null ? query * n + i : i * n + (key ?? 0)));
}
