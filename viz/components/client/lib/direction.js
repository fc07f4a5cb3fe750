// @ts-check
// Words that are written from right to left, among words that are not: each is set apart (isolated), so that its marks
// and its punctuation stay on its own side, and nothing around it moves. viz/text/__init__.py does the same.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const MARK = /^[[<⟨].*[\]>⟩]$/u; // what a tokenizer adds, such as [CLS]
const OPEN = { ltr: "\u2066", rtl: "\u2067" },
  CLOSE = "\u2069";

/** The text without its isolated parts. @param {string} text */
const bare = (text) => text.replace(/[\u2066-\u2068][^\u2069]*\u2069/gu, "");

/** The direction of a text's first letter, "" without one. @param {string} text @returns {"" | "ltr" | "rtl"} */
export function direction(text) {
  const letter = bare(text).match(/\p{L}/u)?.[0];
  return letter ? (RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr") : "";
}

/** The direction that a text is read in, from its words. @param {string[]} labels */
export function readingDirection(labels) {
  for (const label of labels) if (!MARK.test(label) && direction(label)) return direction(label);
  return "ltr";
}

/**
 * A word for a sentence or a picture; one from left to right stays as it is.
 *
 * @param {string} text
 * @param {string} base of a word without letters
 */
export function isolate(text, base = "ltr") {
  const way = direction(text) || base;
  return way === "rtl" || RIGHT_TO_LEFT.test(bare(text))
    ? `${way === "rtl" ? OPEN.rtl : OPEN.ltr}${text}${CLOSE}`
    : text;
}

/**
 * A token's label for a sentence; where others have the same, with its place before it, as lists of tokens have it.
 * viz/text/naming.py does the same.
 *
 * @param {string[]} labels
 * @param {number} place
 * @param {number[]} [numbers] of the first token of each, where pieces are merged or tokens hidden
 */
export function nameToken(labels, place, numbers) {
  const label = labels[place];
  return labels.indexOf(label) === labels.lastIndexOf(label)
    ? label
    : `${numbers?.[place] ?? place} · ${isolate(label)}`;
}

/** The words of a text for a picture. @template {string[]} Labels @param {Labels} labels @returns {string[]} */
export function isolateAll(labels) {
  if (!labels.some((label) => RIGHT_TO_LEFT.test(label))) return labels;
  const base = readingDirection(labels);
  return labels.map((label) => isolate(label, MARK.test(label) ? "ltr" : base));
}
