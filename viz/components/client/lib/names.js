// The tokens' names on the sides of a map, as many as have room.

import { shorten } from "./shorten.js";

const TEXT = 12, AWAY = 4; // pixels: of a name, and between it and the cells

/** Names to the left of rows that begin at `room`, of which each is `cell` high. */
export function rowNames(context, labels, room, cell) {
  [context.textAlign, context.textBaseline] = ["right", "middle"];
  for (let i = 0; i < labels.length; i += Math.ceil(TEXT / cell)) {
    context.fillText(shorten(context, labels[i], room - 2 * AWAY), room - AWAY, room + (i + 0.5) * cell);
  }
}

/** Names above columns that begin at `left`, or below them, read upwards; `edge` is where the cells end. */
export function columnNames(context, labels, left, edge, room, cell, side = "above") {
  [context.textAlign, context.textBaseline] = [side === "above" ? "left" : "right", "middle"];
  for (let i = 0; i < labels.length; i += Math.ceil(TEXT / cell)) {
    context.save();
    context.translate(left + (i + 0.5) * cell, side === "above" ? edge - AWAY : edge + AWAY);
    context.rotate(-Math.PI / 2);
    context.fillText(shorten(context, labels[i], room - 2 * AWAY), 0, 0);
    context.restore();
  }
}
