// @ts-check
// Sentences about a word's attention: to the other words, and the rest for itself and the special tokens.

import { nameToken } from "../lib/direction.js";
import { fill } from "../lib/dom.js";
import { partDigits } from "../lib/describe.js";

/** Weights below this are drawn as no arc, and named by no number. */
export const LEAST = 0.03;
/** The event of a chosen word: its text, and its place as `query`. */
export const WORD_EVENT = "headlight-word";

/**
 * @typedef {object} Sentence one text as one head reads it
 * @property {string[]} labels
 * @property {boolean[]} special
 * @property {number[][]} weights rows of queries
 */

/** The other words, the one looked at most first. @param {Sentence} sentence @param {number} query */
export function otherWords({ labels, special, weights }, query) {
  return labels
    .map((_, key) => key)
    .filter((key) => key !== query && !special[key])
    .sort((a, b) => weights[query][b] - weights[query][a]);
}

/**
 * @param {Record<string, string>} words sentences with {places} to be filled
 * @param {Sentence} sentence
 * @param {number} query
 */
export function describe(words, sentence, query) {
  const { labels, special, weights } = sentence,
    row = weights[query],
    others = otherWords(sentence, query),
    marks = labels.filter((_, at) => special[at]);
  const sum = (/** @type {number[]} */ keys) => keys.reduce((total, key) => total + row[key], 0);
  const [key, second] = others,
    named = row[second] >= LEAST ? 2 : 1,
    more = sum(others.slice(named)),
    rest = 1 - sum(others);
  /** @type {string[]} */
  const sentences = [];
  let left = 1; // of the row, in numbers as they are printed
  const say = (/** @type {string} */ text, /** @type {number} */ weight, at = query) => {
    const values = { query: nameToken(labels, query), key: nameToken(labels, at), weight: partDigits(weight) };
    sentences.push(fill(words[text], { ...values, marks: marks.length, names: joinedNames(marks) }));
    left -= Number(weight.toFixed(2));
  };
  if (key !== undefined) say(row[key] === Math.max(...row) ? "most" : "most_word", row[key], key);
  if (named === 2) say("next", row[second], second);
  if (Number(more.toFixed(2))) say("others", more);
  if (rest >= LEAST) say(marks.length ? "rest" : "rest_itself", left < 1 ? left : rest);
  return sentences;
}

/** The names of the marks, each once. @param {string[]} names */
function joinedNames(names) {
  return [...new Set(names)].join(", ");
}

/** Sentences, one after the other; Chinese signs bring their own space. @param {string[]} sentences */
export function joinSentences(sentences) {
  return sentences.reduce((before, sentence) => before + (/[。！？]$/.test(before) ? "" : " ") + sentence);
}
