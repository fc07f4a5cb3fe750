// @ts-check
// The colour of a number on a coloured cell: the page's own where it can be read, else black or white.
//
// Black on a colour and white on it are 21 : 1 apart together, so one of the two always has the 4.5 : 1 that WCAG asks
// for.

const ENOUGH = 4.5;

/** @typedef {[number, number, number]} Hue red, green and blue, 0 to 255 */

/**
 * A colour as Streamlit and browsers write it: "#0e1117", "#fff", "rgb(14, 17, 23)".
 *
 * @param {string} css
 * @returns {Hue}
 */
export function parts(css) {
  const hex = css
    .match(/^#(?:(\w\w)(\w\w)(\w\w)|(\w)(\w)(\w))/)
    ?.slice(1)
    .filter(Boolean);
  if (hex) return /** @type {Hue} */ (hex.map((part) => parseInt(part.padStart(2, part), 16)));
  return /** @type {Hue} */ ((css.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number));
}

/** @param {Hue} colour */
function luminance(colour) {
  const [red, green, blue] = colour.map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {number} first @param {number} second two luminances */
function contrast(first, second) {
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
}

/**
 * Text colours for cells: a function of a cell's hue and its opacity over the page (0 to 1).
 *
 * @param {{text: string, background: string}} theme
 * @returns {(hue: Hue, opacity?: number) => string}
 */
export function inks({ text, background }) {
  const page = parts(background),
    textLuminance = luminance(parts(text));
  return (hue, opacity = 1) => {
    const mixed = hue.map((part, i) => opacity * part + (1 - opacity) * page[i]);
    const cell = luminance(/** @type {Hue} */ (mixed));
    if (contrast(textLuminance, cell) >= ENOUGH) return text;
    return contrast(0, cell) >= contrast(1, cell) ? "#000" : "#fff";
  };
}

/** A pixel of viz/components/client/lib/colour.js as hue and opacity. @param {number} pixel @returns {[Hue, number]} */
export function ofPixel(pixel) {
  return [[pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255], (pixel >>> 24) / 255];
}
