// @ts-check
// One hue with opacity over the page's own background, as in viz/figures/palette.py, whose colours Python sends.

/** @typedef {[number, number, number]} Hue red, green and blue, 0 to 255 */

const LEVELS = 4096;
const MASKED_PIXEL = rgba([128, 132, 140], 0.22);

/** A pixel. @param {Hue} hue @param {number} opacity */
export function rgba([red, green, blue], opacity) {
  return ((Math.round(opacity * 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0; // little-endian pixels
}

// A page has a few hues, and asks for them with every change.
const tables = /** @type {Map<string, Uint32Array>} */ (new Map());

/** @param {Hue[]} hues @param {number} length @param {(level: number) => number} pixel */
function table(hues, length, pixel) {
  const name = JSON.stringify(hues),
    table = tables.get(name) ?? Uint32Array.from({ length }, (_, level) => pixel(level));
  tables.set(name, table);
  return table;
}

/** Opacity is the square root of a weight, so that small shares are still seen. @param {Hue} hue */
export function weightTable(hue) {
  return table([hue], LEVELS + 1, (level) => rgba(hue, Math.sqrt(level / LEVELS)));
}

/** @param {Uint32Array} table @param {number} weight */
export function weightColour(table, weight) {
  return table[(weight * LEVELS + 0.5) | 0];
}

/**
 * From -1 to 1: orange below zero, blue above, nothing at zero; the same square root, for the size.
 *
 * @param {Hue} negative
 * @param {Hue} positive
 */
export function scoreTable(negative, positive) {
  return table([negative, positive], 2 * LEVELS + 1, (level) => {
    const share = level / LEVELS - 1;
    return rgba(share < 0 ? negative : positive, Math.sqrt(Math.abs(share)));
  });
}

/** @param {Uint32Array} table @param {number} share */
export function scoreColour(table, share) {
  return table[((Math.min(1, Math.max(-1, share)) + 1) * LEVELS + 0.5) | 0];
}

/** From black at 0 to white at 1. @param {number} share */
export function grey(share) {
  const level = Math.round(255 * Math.min(1, Math.max(0, share)));
  return rgba([level, level, level], 1);
}

/** @param {Hue} hue */
export function css([red, green, blue], opacity = 1) {
  return `rgba(${red},${green},${blue},${opacity})`;
}

/**
 * The page's own colours, which Streamlit sets as CSS variables; they change with the theme.
 *
 * @param {Element} element
 */
export function theme(element) {
  const style = getComputedStyle(element),
    probe = hasContrastTheme() ? element.appendChild(document.createElement("i")) : null;
  const read = (/** @type {string} */ name) => resolveColour(style.getPropertyValue(`--st-${name}`).trim(), probe);
  const colours = {
    text: read("text-color"),
    background: read("background-color"),
    border: read("border-color"),
    primary: read("primary-color"),
    font: style.getPropertyValue("--st-font").trim() || "sans-serif",
  };
  probe?.remove();
  return colours;
}

/**
 * The colours of labelled maps: the page's, and a table of pixels for weights, scores, and each head; those of `before`
 * as long as the page has the same.
 *
 * @param {Element} element
 * @param {{positive: Hue, negative: Hue, heads: Hue[]}} hues
 * @param {any} before
 */
export function mapColours(element, hues, before) {
  const now = theme(element);
  if (JSON.stringify(now) === JSON.stringify(before?.theme)) return before;
  return {
    theme: now,
    list: hues.heads,
    blue: hues.positive,
    weights: weightTable(hues.positive),
    scores: scoreTable(hues.negative, hues.positive),
    hues: hues.heads.map(weightTable),
    masked: MASKED_PIXEL,
  };
}

/** Under a contrast theme the colours are names of the system's (viz/components/bundle.py). */
function hasContrastTheme() {
  return matchMedia("(forced-colors: active)").matches;
}

/**
 * A colour as a canvas and `contrast.js` take it.
 *
 * @param {string} colour
 * @param {HTMLElement | null} probe a place to ask at
 */
function resolveColour(colour, probe) {
  if (!probe) return colour;
  probe.style.color = colour;
  return getComputedStyle(probe).color;
}
