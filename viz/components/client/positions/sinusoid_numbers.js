// @ts-check
// The numbers of the sinusoid explorer, as viz/core/positions.py defines them; a browser test holds the two together.

/**
 * The angle by which each pair of dimensions turns from one position to the next, in radians.
 *
 * @param {number} width
 * @param {number} base
 */
export function frequencies(width, base) {
  return Float64Array.from({ length: width / 2 }, (_, j) => base ** ((-2 * j) / width));
}

/** Row i, columns 2j and 2j + 1: sin and cos of i times the pair's frequency. Row-major.
 *
 * Each row is the one before it, turned: p(i + 1) = R p(i). Two sines a pair in place of two a cell; in float64 512
 * steps change the 13th digit, of which float32 keeps 7.
 *
 * @param {number} n
 * @param {number} width
 * @param {Float64Array} omega
 */
export function table(n, width, omega) {
  const rows = new Float32Array(n * width),
    half = omega.length;
  const sine = new Float64Array(half),
    cosine = new Float64Array(half).fill(1);
  const stepSine = omega.map(Math.sin),
    stepCosine = omega.map(Math.cos);
  for (let i = 0, at = 0; i < n; i++) {
    for (let j = 0; j < half; j++) {
      const s = sine[j],
        c = cosine[j];
      rows[at++] = s;
      rows[at++] = c;
      sine[j] = s * stepCosine[j] + c * stepSine[j];
      cosine[j] = c * stepCosine[j] - s * stepSine[j];
    }
  }
  return rows;
}

/**
 * The dot product of two rows k positions apart, 1 at k = 0: the mean of cos(k omega), row k's own cosines.
 *
 * @param {number} n
 * @param {number} width
 * @param {Float32Array} rows
 */
export function kernel(n, width, rows) {
  const common = new Float64Array(n);
  for (let k = 0, at = 1; k < n; k++) {
    let sum = 0;
    for (let j = 0; j < width; j += 2, at += 2) sum += rows[at];
    common[k] = (2 * sum) / width;
  }
  return common;
}

/**
 * The pairs whose wavelengths come closest to doubling from one to the next, starting with the shortest.
 *
 * @param {Float64Array} omega
 * @param {number} most
 * @returns {number[]}
 */
export function doubling(omega, most) {
  /** @type {number[]} */
  const pairs = [];
  for (let step = 0; pairs.length < most; step++) {
    const target = omega[0] / 2 ** step;
    if (target < omega[omega.length - 1] / Math.SQRT2) break;
    let best = 0;
    for (let j = 1; j < omega.length; j++) {
      if (Math.abs(Math.log(omega[j] / target)) < Math.abs(Math.log(omega[best] / target))) best = j;
    }
    if (!pairs.includes(best)) pairs.push(best);
  }
  return pairs;
}
