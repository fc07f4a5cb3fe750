// The tokens' names on the sides of a map, as many as have room. Those above columns lean as in every other picture.

import { isolateAll } from "./direction.js";
import { shorten } from "./shorten.js";

const TEXT = 12,
  AWAY = 4; // pixels: of a name, and between it and the cells
export const LEAN = Math.PI / 3; // of the names above columns

/** Names to the left of rows that begin at `room`, and at `top`, of which each is `cell` high. */
export function rowNames(context, names, room, cell, top = room) {
  const labels = isolateAll(names);
  [context.textAlign, context.textBaseline] = ["right", "middle"];
  for (let i = 0; i < labels.length; i += Math.ceil((TEXT - 1) / cell)) {
    context.fillText(shorten(context, labels[i], room - 2 * AWAY), room - AWAY, top + (i + 0.5) * cell);
  }
}

/** Names above columns that begin at `left`, leaning to the right, or upright below them; `edge` is where the cells end. */
export function columnNames(context, names, left, edge, room, cell, side = "above") {
  const labels = isolateAll(names);
  const above = side === "above";
  [context.textAlign, context.textBaseline] = [above ? "left" : "right", "middle"];
  for (let i = 0; i < labels.length; i += above ? everyColumn(cell) : Math.ceil(TEXT / cell)) {
    context.save();
    context.translate(left + (i + 0.5) * cell, above ? edge - AWAY : edge + AWAY);
    context.rotate(above ? -LEAN : -Math.PI / 2);
    context.fillText(shorten(context, labels[i], room - 2 * AWAY), 0, 0);
    context.restore();
  }
}

/** Which columns have room for a name: each, or every so many. */
export function everyColumn(cell) {
  return Math.ceil(TEXT / (cell * Math.sin(LEAN)));
}

/** How far the names above columns lean out beyond the last of them, if the map may be `width` wide. */
export function overhang(context, labels, room, width) {
  const cell = width / labels.length,
    n = labels.length;
  return labels.reduce((most, label, i) => {
    const long = Math.min(room - 2 * AWAY, context.measureText(label).width) + TEXT / 2;
    return Math.max(most, Math.ceil(long * Math.cos(LEAN) - (n - i - 0.5) * cell));
  }, 0);
}
