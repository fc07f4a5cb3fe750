// @ts-check
// Another mask, before Python has answered: a row's weights at the cells that stay open, made to add up to 1 again, are
// those of a softmax over these cells alone. The maps without the user's mask are kept for that.

import { decodeScores } from "../lib/numbers.js";

/** @typedef {import("../lib/numbers.js").Wall & {id: string}} Wall */
/** @typedef {import("../lib/numbers.js").Head & {id: string}} Head */
/** @typedef {{wall: Wall, head: Head | null}} Parts */
/**
 * @typedef {{kind: string, own: string, open: Record<string, string>} | null | undefined} Masks as
 *   viz/frame/head_grid/mask_preview.py sends them
 */

const FULL_WEIGHT = 65535; // the code of a weight of 1

export class MaskPreview {
  /**
   * @type {string | null} the name of a mask as the list has it, chosen a moment ago; null: what Python has sent is
   *   shown
   */
  pendingMask = null;
  /**
   * @type {{numbers: string, sent: Parts} | undefined} the maps without any mask of the user's, and which numbers
   *   they are
   */
  base;
  /** @type {{of: string, parts: Parts} | undefined} what was made of them last */
  cache;

  /**
   * Select a mask by its name in the list. Returns true if it differs from the mask shown.
   *
   * @param {string} name
   * @param {{masks: Masks}} data
   */
  choose(name, { masks }) {
    const before = this.pendingMask ?? masks?.kind;
    this.pendingMask = name;
    return name !== before;
  }

  /**
   * The wall and the head to draw, of those that Python has sent last.
   *
   * @param {{masks: Masks, numbers: string}} data
   * @param {Wall} wall
   * @param {Head | null} head
   * @returns {Parts}
   */
  preview({ masks, numbers }, wall, head) {
    const parts = { wall, head };
    if (!masks) return parts;
    if (masks.kind === masks.own) this.base = { numbers, sent: parts };
    const mask = this.pendingMask ?? masks.kind,
      cells = masks.open[mask],
      { base } = this;
    if (cells === undefined || mask === masks.kind || base?.numbers !== numbers || base.sent.wall.pool > 1)
      return parts;
    if (cells === "") return base.sent;
    const of = [cells, base.sent.wall.id, base.sent.head?.id].join(" ");
    if (this.cache?.of !== of) this.cache = { of, parts: applyMask(base.sent, decodeMask(cells)) };
    return this.cache.parts;
  }
}

/** A bit for each cell, as bytes in base64: whether it is open. @param {string} cells */
function decodeMask(cells) {
  const bytes = Uint8Array.from(atob(cells), (letter) => letter.charCodeAt(0));
  return (/** @type {number} */ at) => (bytes[at >> 3] >> (7 - (at & 7))) & 1;
}

/** @param {Parts} parts @param {(at: number) => number} isOpen @returns {Parts} */
function applyMask({ wall, head }, isOpen) {
  const size = wall.rows * wall.columns,
    values = new Uint16Array(wall.values.length);
  for (let row = 0; row < values.length; row += wall.columns) {
    let total = 0;
    for (let at = row; at < row + wall.columns; at++) if (isOpen(at % size)) total += wall.values[at];
    for (let at = row; total && at < row + wall.columns; at++)
      if (isOpen(at % size)) values[at] = Math.round((wall.values[at] / total) * FULL_WEIGHT);
  }
  const wallAhead = { ...wall, id: `${wall.id} ahead`, values, isAhead: true };
  if (!head) return { wall: wallAhead, head };
  const scores = decodeScores(head).map((score, at) => (isOpen(at) ? score : -Infinity));
  return { wall: wallAhead, head: { ...head, codec: "float32", scores } };
}
