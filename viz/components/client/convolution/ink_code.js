// @ts-check
// A drawn digit: how much ink each of 8 x 8 pixels has, 0 to 16, and how a link writes it
// (pages/convolution/vision/ink.py).

export const SIDE = 8;
const SIGNS = "0123456789abcdefg",
  DOTS = 4;

/** No ink on any dot. */
export function dots() {
  return new Uint8Array((DOTS * SIDE) ** 2);
}

/** The ink of each pixel; of no code, none. @param {string} code */
export function levelsOf(code) {
  return Uint8Array.from({ length: SIDE * SIDE }, (_, at) => Math.max(0, SIGNS.indexOf(code[at] ?? "0")));
}

/**
 * Encode the base picture and the dots drawn on it: a sign for each pixel.
 *
 * @param {Uint8Array} base ink of each pixel
 * @param {Uint8Array} ink 1 where there is a dot
 */
export function toCode(base, ink) {
  const levels = Uint8Array.from(base),
    n = DOTS * SIDE;
  ink.forEach((dot, at) => {
    const cell = Math.floor(at / n / DOTS) * SIDE + Math.floor((at % n) / DOTS);
    levels[cell] = Math.min(DOTS * DOTS, levels[cell] + dot);
  });
  return Array.from(levels, (level) => SIGNS[level]).join("");
}
