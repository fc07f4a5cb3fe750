// The numbers of the sinusoid explorer, as viz/core/positions.py defines them; a browser test holds the two together.

/** How far each pair of dimensions turns from one position to the next, in radians. */
export function frequencies(width, base) {
  return Float64Array.from({ length: width / 2 }, (_, j) => base ** ((-2 * j) / width));
}

/** Row i, columns 2j and 2j + 1: sin and cos of i times the pair's frequency. Row-major. */
export function table(n, width, omega) {
  const rows = new Float32Array(n * width);
  for (let i = 0, at = 0; i < n; i++) {
    for (let j = 0; j < omega.length; j++) {
      rows[at++] = Math.sin(i * omega[j]);
      rows[at++] = Math.cos(i * omega[j]);
    }
  }
  return rows;
}

/** What two rows k positions apart have in common, 1 at k = 0. */
export function kernel(n, omega) {
  const common = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    let sum = 0;
    for (let j = 0; j < omega.length; j++) sum += Math.cos(k * omega[j]);
    common[k] = sum / omega.length;
  }
  return common;
}

/** The pairs whose wavelengths come closest to doubling from one to the next, starting with the shortest. */
export function doubling(omega, most) {
  const pairs = [];
  for (let step = 0; pairs.length < most; step++) {
    const wanted = omega[0] / 2 ** step;
    if (wanted < omega[omega.length - 1] / Math.SQRT2) break;
    let best = 0;
    for (let j = 1; j < omega.length; j++) {
      if (Math.abs(Math.log(omega[j] / wanted)) < Math.abs(Math.log(omega[best] / wanted))) best = j;
    }
    if (!pairs.includes(best)) pairs.push(best);
  }
  return pairs;
}
