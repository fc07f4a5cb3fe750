// A square map of the same tokens with their names on two sides: queries down the left, keys along the top.

import { isolateAll } from "../lib/direction.js";
import { start } from "../lib/canvas.js";
import { fitRow } from "../lib/fit.js";
import { everyColumn, LEAN, overhang } from "../lib/names.js";
import { place, zoomOf } from "../lib/place.js";
import { shorten } from "../lib/shorten.js";

const STRIPES = 5,
  LARGEST = 64,
  AWAY = 5; // pixels

/** Begin a picture of these tokens, with so many pixels free on its right; what it gives says where the cells are. */
export function begin(canvas, labels, colours, right = 0) {
  const room = canvas.clientWidth < 330 ? 56 : 76,
    wide = canvas.clientWidth - room - 1,
    n = labels.length;
  const context = canvas.getContext("2d");
  context.font = `bold 12px ${colours.font}`;
  const most = Math.min(
    wide - Math.max(right, overhang(context, labels, room, Math.min(wide - right, n * LARGEST))),
    n * LARGEST,
  );
  const side = n * Math.min(most / n, fitRow(canvas, { usual: most / n, rows: n, around: room + 1 + below(canvas) }));
  canvas.style.height = `${room + side + 1}px`;
  return { context: start(canvas, colours).context, n, room, side, cell: side / n };
}

/** In front of a class the sentence below the picture is on the screen, too: how high what stands below it is. */
function below(canvas) {
  const { host } = canvas.getRootNode();
  if (!host || !getComputedStyle(canvas).getPropertyValue("--present")) return 0;
  return (host.getBoundingClientRect().bottom - canvas.getBoundingClientRect().bottom) / zoomOf(canvas);
}

/** The cell under the pointer: {query, key}, of which one is null on a label, or null outside. */
export function cellAt(square, canvas, event) {
  const { n, room, cell, side } = square,
    [pointed, y] = place(canvas, event);
  const at = (where) => (where < room ? null : Math.min(n - 1, Math.floor((where - room) / cell)));
  const x = pointed - Math.max(0, room - AWAY - y) / Math.tan(LEAN); // down a name to its column
  if (Math.min(x, y) < 0 || Math.max(x, y) > room + side) return null;
  const [query, key] = [at(y), at(x)];
  return query === null && key === null ? null : { query, key };
}

/** Every token's name on both sides, or every second where they would overlap; those of the pair are bold. */
export function names({ context, room, cell, n }, tokens, bold, words) {
  const labels = isolateAll(tokens);
  const steps = { query: Math.ceil(11 / cell), key: everyColumn(cell) },
    font = context.font;
  const write = (along, i, x, y, turn, align) => {
    const away = bold[along] === null ? Infinity : Math.abs(i - bold[along]),
      step = steps[along];
    if (away && (i % step || away < step)) return;
    context.save();
    context.translate(x, y);
    context.rotate(turn);
    context.textAlign = align;
    context.font = away ? font : `bold ${font}`;
    context.fillText(shorten(context, labels[i], room - 8), 0, 0);
    context.restore();
  };
  context.textBaseline = "middle";
  for (let i = 0; i < n; i++) {
    const at = room + (i + 0.5) * cell;
    write("query", i, room - AWAY, at, 0, "right");
    write("key", i, at, room - AWAY, -LEAN, "left");
  }
  context.globalAlpha = 0.75;
  context.textAlign = "right";
  // Where there is little room they are condensed: more room for them would be taken from the cells.
  context.fillText(words.answers, room - 3, room - 26, room - 3);
  context.fillText(words.asks, room - 3, room - 10, room - 3);
  context.globalAlpha = 1;
}

/** Stripes over the cells that `blocked` says; `strength` tells two kinds of them apart. */
export function stripe({ context, room, cell, n, side }, blocked, strength) {
  context.save();
  context.beginPath();
  for (let at = 0; at < n * n; at++) {
    if (blocked(at)) context.rect(room + (at % n) * cell, room + Math.floor(at / n) * cell, cell, cell);
  }
  context.clip();
  context.globalAlpha = strength;
  context.beginPath();
  for (let x = -side; x < side; x += STRIPES) {
    context.moveTo(room + x, room + side);
    context.lineTo(room + x + side, room);
  }
  context.stroke();
  context.restore();
}

/** Lines between the cells, where there is room, and around them all. */
export function rule({ context, room, cell, n, side }) {
  context.globalAlpha = cell >= 7 ? 0.18 : 0;
  context.beginPath();
  for (let i = 1; i < n; i++) {
    context.moveTo(room + i * cell, room);
    context.lineTo(room + i * cell, room + side);
    context.moveTo(room, room + i * cell);
    context.lineTo(room + side, room + i * cell);
  }
  context.stroke();
  context.globalAlpha = 0.4;
  context.strokeRect(room, room, side, side);
  context.globalAlpha = 1;
}

/** The row and column of a pair, and the pair. */
export function mark({ context, room, cell, side }, { query, key }, colour) {
  context.save();
  context.strokeStyle = colour;
  context.globalAlpha = 0.55;
  if (query !== null) context.strokeRect(room, room + query * cell, side, cell);
  if (key !== null) context.strokeRect(room + key * cell, room, cell, side);
  context.globalAlpha = 1;
  context.lineWidth = 2.5;
  if (query !== null && key !== null) context.strokeRect(room + key * cell, room + query * cell, cell, cell);
  context.restore();
}
