// @ts-check
// Search without a server: entries of an index by how well their names and sentences answer a few words, typos allowed.
// MiniSearch finds and weighs words; this makes words of texts (Chinese has no spaces) and puts exact names first.

import { default as MiniSearch } from "../vendor/minisearch/minisearch.js";

/**
 * @typedef {{id: number, kind: string, to: string, names: string[], en: string[], zh: string[], more: string}} Entry
 */

const LONGEST = 80; // characters of a query
const MOST = 8; // words of a query
const WORD = /[\p{L}\p{N}]+/gu,
  HAN = /\p{Script=Han}+/gu;
const HAN_WORD = /\p{Script=Han}/u;
const WEIGHTS = { names: 6, brief: 2, more: 1 };

/** A text without signs that notations differ in, as in "W_Q", "W^Q" and "W_{Q}". @param {string} text */
const plain = (text) =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[_^{}’'`]/g, "");

/** A name as it is compared as a whole. @param {string} name */
const key = (name) => (plain(name).match(WORD) ?? []).join("");

/** Pairs of neighbouring signs, and the last one alone: each sign begins one of them. @param {string} signs */
const pairs = (signs) => Array.from(signs, (sign, at) => sign + (Array.from(signs)[at + 1] ?? ""));

/** The words of a text in an index. @param {string} text @returns {string[]} */
function wordsOf(text) {
  return (plain(text).match(WORD) ?? []).flatMap((word) => [
    ...(word.match(HAN) ?? []).flatMap(pairs),
    ...word.replace(HAN, " ").split(" ").filter(Boolean),
  ]);
}

/** The words of a name: also two of them as one, as in "multihead". @param {string} name */
function wordsOfName(name) {
  const words = plain(name).replace(HAN, " ").match(WORD) ?? [];
  return [...wordsOf(name), ...words.slice(1).map((word, at) => words[at] + word)];
}

/** The words of a query: of Chinese signs only the pairs. @param {string} query */
function wordsOfQuery(query) {
  const words = wordsOf(query.slice(0, LONGEST));
  const isEnd = (/** @type {string} */ word, /** @type {number} */ at) => {
    const before = words[at - 1] ?? "";
    return word.length === 1 && HAN_WORD.test(word) && before.length > 1 && before.endsWith(word);
  };
  return [...new Set(words.filter((word, at) => !isEnd(word, at)))].slice(0, MOST);
}

/** The largest edit distance of a match: 0 to 2 by the word's length. @param {string} word */
const tolerance = (word) => (HAN_WORD.test(word) || word.length < 4 ? 0 : word.length < 7 ? 1 : 2);

/** The edit distance of two words (Damerau, Levenshtein). @param {string} a @param {string} b */
function mistakes(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}

export class Ranking {
  /** @param {Omit<Entry, "id">[]} entries */
  constructor(entries) {
    /** @type {Entry[]} */
    this.entries = entries.map((entry, id) => ({ ...entry, id }));
    this.keys = entries.map(({ names }) => names.map(key));
    /** @type {Set<string>} */
    this.vocabulary = new Set();
    this.mini = new MiniSearch({
      fields: ["names", "brief", "more"],
      extractField: (/** @type {any} */ entry, /** @type {string} */ name) =>
        name === "brief"
          ? [...entry.en.slice(1), ...entry.zh.slice(1)].join("\n")
          : Array.isArray(entry[name])
            ? entry[name].join("\n")
            : entry[name],
      tokenize: (/** @type {string} */ text, /** @type {string} */ name) =>
        name === "names" ? text.split("\n").flatMap(wordsOfName) : wordsOf(text),
      processTerm: (/** @type {string} */ word) => {
        this.vocabulary.add(word);
        return word;
      },
    });
    this.mini.addAll(this.entries);
    this.vocabulary = new Set(this.vocabulary); // a query adds none
  }

  /** The entries that answer a query, the best first. @param {string} query @param {number} most @returns {Entry[]} */
  find(query, most) {
    const words = wordsOfQuery(query);
    if (!words.length) return [];
    const compound = words.length > 1 ? [this.#meant(words.join(""))] : [];
    const together = {
      combineWith: "OR",
      queries: [{ combineWith: "AND", queries: words.map((word) => this.#meant(word)) }, ...compound],
    };
    const matches = this.#ask(together);
    const long = words.filter((word) => tolerance(word) || HAN_WORD.test(word));
    const some = matches.length
      ? matches
      : this.#ask({ combineWith: "OR", queries: long.map((word) => this.#meant(word)) });
    return some
      .map(({ id, score, terms }) => ({ id, score: score * this.#likeness(id, key(query), terms) }))
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, most)
      .map(({ id }) => this.entries[id]);
  }

  /** @param {any} query @returns {{id: number, score: number, terms: string[]}[]} */
  #ask(query) {
    return this.mini.search(query, {
      boost: WEIGHTS,
      tokenize: (/** @type {string} */ text) => [text],
      processTerm: (/** @type {string} */ word) => word,
    });
  }

  /**
   * A word and the words that begin with it; without any, similar words.
   *
   * @param {string} word
   */
  #meant(word) {
    const most = tolerance(word),
      terms = [...this.vocabulary];
    const isNear = (/** @type {string} */ term) =>
      (Math.abs(term.length - word.length) <= most && mistakes(word, term) <= most) ||
      (term.length > word.length && mistakes(word, term.slice(0, word.length)) <= most);
    const meant = most && !terms.some((term) => term.startsWith(word)) ? terms.filter(isNear) : [];
    return { combineWith: "OR", queries: [word, ...meant], prefix: true, weights: { prefix: 0.4, fuzzy: 0.4 } };
  }

  /**
   * The factor for a match with the entry's title: largest if they are equal.
   *
   * @param {number} id
   * @param {string} query
   * @param {string[]} terms
   */
  #likeness(id, query, terms) {
    const matched = new Set(terms);
    const ofName = (/** @type {string} */ name, /** @type {number} */ at) => {
      const same = this.keys[id][at],
        words = wordsOf(name);
      const alike = 1 - mistakes(query, same) / Math.max(query.length, same.length, 1);
      const share = words.filter((word) => matched.has(word)).length / Math.max(1, words.length);
      return 1 + Math.max(20 * alike ** 4, 3 * share * share + (same.startsWith(query) ? 2 : 0));
    };
    return Math.max(...this.entries[id].names.map(ofName));
  }
}
