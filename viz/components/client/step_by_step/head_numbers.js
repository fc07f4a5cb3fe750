// @ts-check
// A layer of small matrices, worked out while a number is being moved, and its numbers as Python prints them
// (pages/step_by_step/hand_pictures.py). Python's own results follow, and are what stays.

/** @typedef {number[][]} Matrix */
/** @typedef {{n: number, d: number, heads: number, causal: boolean, direct: boolean}} Sizes */

/** @param {Matrix} a @param {Matrix} b @returns {Matrix} */
function product(a, b) {
  return a.map((row) => b[0].map((_, j) => row.reduce((sum, value, c) => sum + value * b[c][j], 0)));
}

/** @param {Matrix} a @returns {Matrix} */
function transpose(a) {
  return a[0].map((_, j) => a.map((row) => row[j]));
}

/** @param {number[]} row */
function shares(row) {
  const top = Math.max(...row),
    exps = row.map((score) => Math.exp(score - top));
  const total = exps.reduce((sum, exp) => sum + exp, 0);
  return exps.map((exp) => exp / total);
}

/**
 * Compute the results of the inputs: each head's matrices ("q0", "k0", "v0", scores "s0", weights "a0", result "z0"),
 * the heads side by side ("c"), and the output ("o").
 *
 * @param {Sizes} sizes
 * @param {Record<string, Matrix>} inputs x and w_q, w_k, w_v, w_o; or q, k, v and w_o
 * @returns {Record<string, Matrix>}
 */
export function follow({ n, d, heads, causal, direct }, inputs) {
  const width = d / heads,
    results = /** @type {Record<string, Matrix>} */ ({ c: Array.from({ length: n }, () => []) });
  const [q, k, v] = ["q", "k", "v"].map((name) => (direct ? inputs[name] : product(inputs.x, inputs[`w_${name}`])));
  for (let head = 0; head < heads; head++) {
    const part = (/** @type {Matrix} */ rows) => rows.map((row) => row.slice(head * width, (head + 1) * width));
    const [queries, keys, values] = [q, k, v].map(part);
    const scores = product(queries, transpose(keys)).map((row, i) =>
      row.map((score, j) => (causal && j > i ? -Infinity : score / Math.sqrt(width))),
    );
    const weights = scores.map(shares),
      result = product(weights, values);
    Object.assign(results, {
      [`q${head}`]: queries,
      [`k${head}`]: keys,
      [`v${head}`]: values,
      [`s${head}`]: scores,
      [`a${head}`]: weights,
      [`z${head}`]: result,
    });
    result.forEach((row, i) => results.c[i].push(...row));
  }
  results.o = product(results.c, inputs.w_o);
  return results;
}

/** Rounded as Python rounds: of two that are as near, the even one. @param {number} value @param {number} decimals */
function roundTo(value, decimals) {
  if (Math.abs(value * 2 ** (decimals + 1)) % 2 !== 1) return value.toFixed(decimals);
  const below = Math.floor(Math.abs(value) * 10 ** decimals),
    even = below + (below % 2);
  return ((Math.sign(value) * even) / 10 ** decimals).toFixed(decimals);
}

/** A number in at most two decimals, fewer where it is large. @param {number} value */
export function formatNumber(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value),
    decimals = size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
  const text = roundTo(value, decimals).replace(/\.0+$/, "");
  return /^-?0$/.test(text) ? "0" : text.replace("-", "−");
}

/**
 * The number that was typed, with two decimals, or null if it is none from -most to most. Full-width digits, a comma
 * for the point and a typographic minus are what some keyboards give.
 *
 * @param {string} text
 * @param {number} most
 */
export function parseNumber(text, most) {
  const plain = text.normalize("NFKC").trim().replace("−", "-").replace(/[,。]/, ".");
  if (!/^[+-]?(\d{1,9}\.?\d*|\.\d+)$/.test(plain)) return null;
  const value = Math.round(100 * Number(plain)) / 100;
  return Math.abs(value) <= most ? value + 0 : null;
}
