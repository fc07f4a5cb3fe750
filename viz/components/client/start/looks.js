// @ts-check
// Sentences about a word's attention: to the other words, and the rest for itself and the special tokens.

import { nameToken } from "../lib/direction.js";
import { fill } from "../lib/dom.js";
import { partDigits } from "../lib/describe.js";

/** Weights below this are drawn as no arc, and named by no number. */
export const LEAST = 0.03;

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
  const { labels, weights } = sentence,
    row = weights[query],
    [key, second] = otherWords(sentence, query);
  const isMost = row[key] === Math.max(...row),
    sentences = [];
  if (key !== undefined)
    sentences.push(
      fill(words[isMost ? "most" : "most_word"], {
        query: nameToken(labels, query),
        key: nameToken(labels, key),
        weight: partDigits(row[key]),
      }),
    );
  if (row[second] >= LEAST)
    sentences.push(fill(words.next, { key: nameToken(labels, second), weight: partDigits(row[second]) }));
  const rest = otherWords(sentence, query).reduce((left, word) => left - row[word], 1);
  const marks = labels.filter((_, at) => sentence.special[at]),
    list = joinedNames(marks);
  const values = { query: nameToken(labels, query), rest: partDigits(rest), marks: marks.length, names: list };
  if (rest >= LEAST) sentences.push(fill(words[marks.length ? "rest" : "rest_itself"], values));
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
