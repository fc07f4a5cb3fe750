// The tokens' names on the sides of a map, as many as have room. Those above columns lean to the right.

import { isolateAll } from "../lib/direction.js";
import { shorten } from "../lib/shorten.js";

const TEXT = 12,
  BOX = 16; // pixels: of a name, and of the box around it
export const AWAY = 4; // pixels between a name and the cells
export const LEAN = Math.PI / 3; // of the names above columns

/**
 * @typedef {object} Options
 * @property {number | null | number[]} [bold] names that stand out
 * @property {Map<number, {ink: string, box: string}>} [boxes] names that stand out in a box of their own, with their colours
 * @property {[number, number]} [within] the first name that may be seen, and the one after the last
 */

/** Names to the left of rows that begin at `room`, and at `top`, of which each is `cell` high. */
export function rowNames(context, names, room, cell, top = room, /** @type {Options} */ options = {}) {
  const end = names.length - (TEXT / 2 - 1) / cell, // a name lower down would be cut
    place = (i) => ({ x: room - AWAY, y: top + Math.min(i + 0.5, end) * cell, turn: 0 });
  write(context, names, { ...options, align: "right", step: Math.ceil((TEXT - 1) / cell), room, place, end });
}

/**
 * Names of columns that begin at `left`: above them, leaning to the right, upright below them, or leaning below ("under");
 * `edge` is where the cells end.
 */
export function columnNames(
  context,
  names,
  left,
  edge,
  room,
  cell,
  side = "above",
  /** @type {Options} */ options = {},
) {
  const isUpright = side === "below",
    step = isUpright ? Math.ceil(TEXT / cell) : everyColumn(cell),
    y = edge + (side === "above" ? -AWAY : AWAY),
    turn = { above: -LEAN, below: -Math.PI / 2, under: LEAN }[side];
  const place = (i) => ({ x: left + (i + 0.5) * cell, y, turn });
  write(context, names, { ...options, align: isUpright ? "right" : "left", step, room, place });
}

/** Every `step`-th name, and those that stand out; these come last, and no other lies below them. */
function write(
  context,
  names,
  { align, step, room, place, end = names.length, bold = null, boxes = new Map(), within = [0, names.length] },
) {
  const labels = isolateAll(names),
    first = Math.ceil(within[0] / step) * step;
  const required = [...boxes.keys(), ...[bold].flat()].filter((i) => i !== null && i >= within[0] && i < within[1]);
  const regular = Array.from(
    { length: Math.max(0, Math.ceil((Math.min(within[1], Math.floor(end + 0.5)) - first) / step)) },
    (_, i) => first + i * step,
  );
  for (const i of [...regular.filter((i) => required.every((at) => Math.abs(i - at) >= step)), ...required]) {
    const { x, y, turn } = place(i);
    context.save();
    context.translate(x, y);
    context.rotate(turn);
    [context.textAlign, context.textBaseline] = [align, "middle"];
    if (required.includes(i)) context.font = `bold ${context.font}`;
    const text = shorten(context, labels[i], room - 2 * AWAY);
    if (boxes.has(i)) drawBox(context, text, boxes.get(i));
    context.fillText(text, 0, 0);
    context.restore();
  }
}

function drawBox(context, text, { ink, box }) {
  const wide = context.measureText(text).width + 6;
  context.fillStyle = box;
  context.fillRect(context.textAlign === "right" ? 3 - wide : -3, -BOX / 2, wide, BOX);
  context.fillStyle = ink;
}

/** The step between columns that have room for a name. */
function everyColumn(cell) {
  return Math.ceil(TEXT / (cell * Math.sin(LEAN)));
}

/** The width by which slanted column names extend beyond the last column of a map `width` wide. */
export function overhang(context, labels, room, width) {
  const cell = width / labels.length,
    n = labels.length;
  return labels.reduce((most, label, i) => {
    const long = Math.min(room - 2 * AWAY, context.measureText(label).width) + TEXT / 2;
    return Math.max(most, Math.ceil(long * Math.cos(LEAN) - (n - i - 0.5) * cell));
  }, 0);
}
