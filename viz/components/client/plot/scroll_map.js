// The large map: its window of the whole is drawn on a canvas as large as the window, so that any zoom of 512 x 512
// cells costs the same. Labels stay in place while the map scrolls under them.

import { Cells } from "./cells.js";
import { columnNames, LEAN, rowNames } from "./axis_labels.js";
import { scoreColour, weightColour } from "../lib/colour.js";
import { CanvasWindow } from "../lib/canvas_window.js";
import { fitRow } from "../lib/fit.js";
import { poolMax } from "../lib/numbers.js";

const LOPSIDED = 4,
  READABLE = 14,
  RULED = 12;
const WEIGHT = 26,
  SCORE = 33; // cells that have room for .12 and for −12.3
const CELL = 34,
  TALLEST = 600,
  GUTTER = 112,
  HEAD = 96,
  TEXT = 12,
  UNDER = 18; // pixels; the last of a scroll bar and an edge

export class LargeMap extends CanvasWindow {
  colours;
  labels;
  bitmap;
  focus;
  locked;

  zoom = 1;
  measured = null; // labels to leave room for, where maps beside each other are to be alike in size

  /** Take a map {rows, columns, values, masked, winner, limit}, its labels, and how to paint a cell. */
  show(map, rows, columns, colours) {
    Object.assign(this, { map, labels: { rows, columns }, colours });
    this.#bitmap();
    this.fit();
  }

  /** New values in the same map, as fast as frames come. */
  update(map) {
    this.map = map;
    this.#bitmap();
  }

  /** Compute the size of a cell: the whole map in the window, times the zoom. */
  fit() {
    if (!this.map) return;
    const width = this.element.clientWidth;
    if (!width) return;
    const context = this.canvas.getContext("2d");
    context.font = `${TEXT}px ${this.colours.theme.font}`;
    const longest = (labels) => labels.reduce((most, label) => Math.max(most, context.measureText(label).width), 0);
    this.gutter = Math.min(width < 480 ? 76 : GUTTER, longest(this.measured ?? this.labels.rows) + 10);
    this.head = Math.min(HEAD, longest(this.measured ?? this.labels.columns) * 0.87 + 14);
    const { rows, columns } = this.map;
    const fits = [(width - this.gutter - 24) / columns, (TALLEST - this.head) / rows];
    // One word beside five hundred: a strip too thin to hit is scrolled along instead.
    const least = Math.max(rows / columns, columns / rows) > LOPSIDED ? Math.min(READABLE, Math.max(...fits)) : 0;
    const cellHeight = Math.min(CELL, Math.max(least, Math.min(...fits)));
    const rowHeight = fitRow(this.view, { height: cellHeight, rows, around: this.offset + this.head + UNDER });
    const widest = Math.max(cellHeight, fits[0]); // squares grow with the room below them as far as they are all seen
    this.cell = Math.min(48, Math.min(widest, rowHeight) * this.zoom);
    const height = Math.min(TALLEST, this.head + rows * (this.zoom > 1 ? rowHeight : this.cell) + 2);
    this.resize([width, height], [this.gutter + columns * this.cell + 24, this.head + rows * this.cell + 2]);
    this.#bitmap();
    this.draw();
  }

  /** Zoom in or out around the middle, or (0) back to the whole. */
  zoomBy(factor) {
    const { element: box } = this,
      before = this.cell;
    const middle = [
      box.scrollLeft + box.clientWidth / 2 - this.gutter,
      box.scrollTop + box.clientHeight / 2 - this.head,
    ];
    this.zoom = factor ? Math.min(64, Math.max(1, this.zoom * factor)) : 1;
    this.fit();
    const grown = this.cell / before;
    box.scrollLeft += middle[0] * (grown - 1);
    box.scrollTop += middle[1] * (grown - 1);
    this.draw();
  }

  #bitmap() {
    let { values, rows, columns } = this.map;
    const { masked, winner } = this.map;
    // Fewer pixels than cells: show the largest of each block, or single strong weights would vanish.
    const factor = this.cell ? Math.max(1, Math.ceil(1 / (this.cell * devicePixelRatio))) : 1;
    if (factor > 1) ({ values, rows, columns } = poolMax(values, rows, columns, factor));
    this.pooled = factor;
    this.bitmap ??= document.createElement("canvas");
    if (this.bitmap.width !== columns || this.bitmap.height !== rows) {
      [this.bitmap.width, this.bitmap.height] = [columns, rows];
      this.image = this.bitmap.getContext("2d").createImageData(columns, rows);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels, colours } = this,
      { limit } = this.map,
      { hues } = colours,
      byHead = winner && factor === 1;
    for (let at = 0; at < pixels.length; at++) {
      if (limit) pixels[at] = values[at] === -Infinity ? 0 : scoreColour(colours.scores, values[at] / limit);
      else pixels[at] = weightColour(byHead ? hues[winner[at] % hues.length] : colours.weights, values[at]);
    }
    this.bitmap.getContext("2d").putImageData(this.image, 0, 0);
    this.blocked = factor === 1 ? masked : null;
  }

  draw(focus = this.focus, locked = this.locked) {
    Object.assign(this, { focus, locked });
    if (!this.map || !this.size || !focus) return;
    const context = this.fresh(),
      [width, height] = this.size;
    const { gutter, head, cell, colours } = this,
      { rows, columns, values, limit, covered: coverCells, told: answerCells } = this.map;
    this.left = gutter - this.element.scrollLeft;
    this.top = head - this.element.scrollTop;
    const cells = new Cells(context, colours.theme, { left: this.left, top: this.top, rows, columns, w: cell });
    this.cells = cells;
    context.save();
    context.beginPath();
    context.rect(gutter, head, width - gutter, height - head);
    context.clip();
    if (this.blocked) cells.hatch((at) => this.blocked[at], 0.3);
    this.#picture(context);
    if (cell >= RULED) cells.grid(0.1);
    cells.edge(0.35);
    if (cell >= (limit ? SCORE : WEIGHT)) cells.numbers((at) => this.#number(values[at]), this.pixels, TEXT);
    cells.covers(coverCells ?? []);
    cells.mark(locked, colours.theme.primary, 2);
    if (focus.query !== locked.query || focus.key !== locked.key) cells.mark(focus, colours.theme.text);
    if (!limit) cells.answer(answerCells ?? [], values);
    context.restore();
    this.#names(context, focus, locked);
  }

  /** Draw the bitmap; one pixel of it stands for several cells of a pooled map. */
  #picture(context) {
    const side = this.pooled * this.cell;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.bitmap, this.left, this.top, this.bitmap.width * side, this.bitmap.height * side);
  }

  /** A score, or a weight that is not too small for two digits. */
  #number(value) {
    const { limit, decimals } = this.map;
    if (value === -Infinity || (!limit && value < 0.005)) return "";
    return limit
      ? value.toFixed(decimals ?? 1).replace(/^-(0\.0*$)?/, (_, zero) => zero ?? "−")
      : value.toFixed(2).replace(/^0/, "");
  }

  /** Draw the visible labels; those of the pair under the pointer and of the locked pair in boxes. */
  #names(context, focus, locked) {
    const { cell, gutter, head, left, top } = this,
      { theme } = this.colours,
      { rows, columns } = this.labels,
      [width, height] = this.size;
    /** @returns {import("./axis_labels.js").Options} */
    const options = (along, count, from, to) => ({
      boxes: new Map(
        [
          [focus[along], theme.text],
          [locked[along], theme.primary],
        ]
          .filter(([i]) => i !== null)
          .map(([i, box]) => [i, { ink: theme.background, box }]),
      ),
      within: [Math.max(0, Math.floor(from / cell)), Math.min(count, Math.ceil(to / cell))],
    });
    [context.font, context.fillStyle] = [`${TEXT}px ${theme.font}`, theme.text];
    context.save();
    context.beginPath();
    context.rect(0, head - 1, gutter, height);
    context.clip();
    rowNames(context, rows, gutter, cell, top, options("query", rows.length, head - top, height - top));
    context.restore();
    const ofColumns = options("key", columns.length, gutter - left, width - left);
    columnNames(context, columns, left, head, head / Math.sin(LEAN), cell, "above", ofColumns);
  }

  /** The pair, row or column under a point of the canvas: {query, key}, either null; null outside. */
  at(event) {
    return this.map && this.cells ? this.cells.underWithNames(this.place(event), this.gutter, this.head) : null;
  }

  /** Scroll a cell into view. */
  reveal({ query, key }) {
    const { element: box, cell, gutter, head } = this,
      [width, height] = this.size;
    const to = (start, visible, place) => Math.max(Math.min(start, place * cell), (place + 1) * cell - visible);
    if (query !== null) box.scrollTop = to(box.scrollTop, height - head, query);
    if (key !== null) box.scrollLeft = to(box.scrollLeft, width - gutter, key);
  }
}
