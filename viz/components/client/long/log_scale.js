// @ts-check
// Weights over six powers of ten: as codes of their logarithm, as pages/long_text/pack.py writes them, and as colours.

import { weightColour } from "../lib/colour.js";

const TOP = 65535,
  DARKEST = -5; // a weight of 10^-5 or less has no colour

/** A weight from its code. @param {number} code @param {number} lowest */
export function decodeWeight(code, lowest) {
  return code ? 10 ** ((1 - (code - 1) / (TOP - 1)) * Math.log10(lowest)) : 0;
}

/** Strength of a weight's colour: 1 for 1, and a fifth less for every tenth. @param {number} weight */
function strength(weight) {
  return weight > 0 ? Math.max(0, 1 - Math.log10(weight) / DARKEST) : 0;
}

/**
 * A weight's pixel, of a table of lib/colour.js, which takes the square root.
 *
 * @param {Uint32Array} table
 * @param {number} weight
 */
export function logColour(table, weight) {
  return weightColour(table, Math.min(1, strength(weight)) ** 2);
}

/** @type {{table: Uint32Array, lowest: number, pixels: Uint32Array}} */
// Those of the last table and lowest weight.
let cache = { table: new Uint32Array(), lowest: 0, pixels: new Uint32Array() };

/**
 * The pixel of every code: a map has a quarter of a million cells.
 *
 * @param {Uint32Array} table
 * @param {number} lowest
 */
export function codePixels(table, lowest) {
  if (cache.table === table && cache.lowest === lowest) return cache.pixels;
  const pixels = Uint32Array.from({ length: TOP + 1 }, (_, code) => logColour(table, decodeWeight(code, lowest)));
  cache = { table, lowest, pixels };
  return pixels;
}

/** A weight as a person reads it. @param {number} weight */
export function formatWeight(weight) {
  if (weight === 0) return "0";
  return weight >= 0.001
    ? weight.toFixed(3)
    : weight
        .toExponential(1)
        .replace("e-", " · 10⁻")
        .replace(/\d$/, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);
}

/** The powers of ten that have colours of their own, the lowest first, each as [power, how strong its colour is]. */
export function steps() {
  return Array.from({ length: 1 - DARKEST }, (_, i) => [i + DARKEST, -(i / DARKEST)]);
}
