// The large map: its window of the whole is drawn on a canvas as large as the window, so that any zoom of 512 x 512
// cells costs the same. Labels stay in place while the map scrolls under them.

import { isolateAll } from "./direction.js";
import { shorten } from "./shorten.js";
import { scoreColour, weightColour } from "./colour.js";
import { drawCover, drawTold } from "./covers.js";
import { CanvasWindow } from "./canvas_window.js";
import { fitRow } from "./fit.js";
import { inks, ofPixel } from "./ink.js";
import { poolMax } from "./numbers.js";

const LOPSIDED = 4,
  READABLE = 14;
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
  ink;

  zoom = 1;
  measured = null; // labels to leave room for, where maps beside each other are to be alike in size

  /** Take a map {rows, columns, values, masked, winner, limit}, its labels, and how to paint a cell. */
  show(map, rows, columns, colours) {
    Object.assign(this, { map, labels: { rows, columns }, colours, ink: inks(colours.theme) });
    this.#bitmap();
    this.fit();
  }

  /** New values in the same map, as fast as frames come. */
  update(map) {
    this.map = map;
    this.#bitmap();
  }

  /** Choose the size of a cell: all of the map in the window, times the zoom. */
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
    const usual = Math.min(CELL, Math.max(least, Math.min(...fits)));
    const whole = fitRow(this.view, { usual, rows, around: this.offset + this.head + UNDER });
    this.cell = Math.min(48, whole * this.zoom);
    const height = Math.min(TALLEST, this.head + rows * (this.zoom > 1 ? whole : this.cell) + 2);
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
    this.hatch = masked && factor === 1 ? this.#hatch(masked, rows, columns) : null;
  }

  #hatch(masked, rows, columns) {
    const shape = document.createElement("canvas");
    [shape.width, shape.height] = [columns, rows];
    const context = shape.getContext("2d"),
      image = context.createImageData(columns, rows);
    new Uint32Array(image.data.buffer).set(Uint32Array.from(masked, (cell) => (cell ? 0xff000000 : 0)));
    context.putImageData(image, 0, 0);
    return shape;
  }

  draw(focus = this.focus, locked = this.locked) {
    Object.assign(this, { focus, locked });
    if (!this.map || !this.size || !focus) return;
    const context = this.fresh(),
      [width, height] = this.size;
    this.left = this.gutter - this.element.scrollLeft;
    this.top = this.head - this.element.scrollTop;
    context.save();
    context.beginPath();
    context.rect(this.gutter, this.head, width - this.gutter, height - this.head);
    context.clip();
    this.#cells(context);
    this.#covers(context);
    this.#cross(context, locked, 2, this.colours.theme.primary);
    const other = focus.query !== locked.query || focus.key !== locked.key;
    if (other) this.#cross(context, focus, 1, this.colours.theme.text);
    this.#told(context);
    context.restore();
    this.#labels(context, focus, locked);
  }

  #cells(context) {
    const { rows, columns, values, limit } = this.map,
      { cell, left, top, colours } = this;
    const wide = columns * cell,
      tall = rows * cell;
    const spread = [this.bitmap.width * this.pooled * cell, this.bitmap.height * this.pooled * cell];
    context.imageSmoothingEnabled = false;
    if (this.hatch) drawHatched(context, this.hatch, left, top, wide, tall, this.size, colours.theme.text);
    context.drawImage(this.bitmap, left, top, ...spread);
    context.strokeStyle = colours.theme.text;
    context.globalAlpha = cell >= 12 ? 0.1 : 0;
    context.lineWidth = 1;
    context.beginPath();
    for (let i = 1; cell >= 12 && i < rows; i++) line(context, left, top + i * cell, left + wide, top + i * cell);
    for (let j = 1; cell >= 12 && j < columns; j++) line(context, left + j * cell, top, left + j * cell, top + tall);
    context.stroke();
    context.globalAlpha = 0.35;
    context.strokeRect(left, top, wide, tall);
    context.globalAlpha = 1;
    if (cell < (limit ? SCORE : WEIGHT)) return;
    context.font = `${TEXT}px ${colours.theme.font}`;
    [context.textAlign, context.textBaseline] = ["center", "middle"];
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      if (value === -Infinity || (!limit && value < 0.005)) continue;
      const text = limit
        ? value.toFixed(this.map.decimals ?? 1).replace(/^-(?=0\.0*$)/, "")
        : value.toFixed(2).replace(/^0/, "");
      context.fillStyle = this.ink(...ofPixel(this.pixels[at]));
      context.fillText(text, left + ((at % columns) + 0.5) * cell, top + (Math.floor(at / columns) + 0.5) * cell);
    }
  }

  /** A "?" over each cell that an open question is about. */
  #covers(context) {
    const {
      cell,
      left,
      top,
      map: { columns, covered },
      colours: { theme },
    } = this;
    for (const at of covered ?? [])
      drawCover(context, theme, left + (at % columns) * cell, top + Math.floor(at / columns) * cell, cell, cell);
  }

  /** The number of the cell that was asked for; of a whole row, of its largest. */
  #told(context) {
    const {
      cell,
      left,
      top,
      map: { columns, values, told, limit },
      colours: { theme },
    } = this;
    if (!told?.size || limit) return;
    const [most] = [...told].sort((a, b) => values[b] - values[a]);
    drawTold(
      context,
      theme,
      values[most].toFixed(2),
      left + ((most % columns) + 0.5) * cell,
      top + (Math.floor(most / columns) + 0.5) * cell,
    );
  }

  #cross(context, { query, key }, lineWidth, colour) {
    const { cell, left, top } = this,
      { rows, columns } = this.map;
    [context.strokeStyle, context.lineWidth] = [colour, lineWidth];
    if (query !== null) context.strokeRect(left, top + query * cell, columns * cell, cell);
    if (key !== null) context.strokeRect(left + key * cell, top, cell, rows * cell);
    if (query === null || key === null) return;
    context.lineWidth = lineWidth + 1.5;
    context.strokeRect(left + key * cell, top + query * cell, cell, cell);
  }

  #labels(context, focus, locked) {
    const { rows, columns } = this.labels,
      { cell, gutter, head } = this,
      [width, height] = this.size;
    const write = (names, along, vertical) => {
      const labels = isolateAll(names);
      const step = Math.max(1, Math.ceil((TEXT - 1) / cell));
      const from = Math.max(0, Math.floor((vertical ? head - this.top : gutter - this.left) / cell));
      const to = Math.min(labels.length, Math.ceil((vertical ? height - this.top : width - this.left) / cell));
      const special = [focus[along], locked[along]];
      for (let i = from; i < to; i++) {
        if (i % step === 0 && !special.includes(i)) this.#label(context, labels[i], i, vertical);
      }
      for (const i of special) {
        if (i === null || i < from || i >= to) continue;
        this.#label(context, labels[i], i, vertical, i === locked[along] ? "locked" : "focus");
      }
    };
    context.save();
    context.beginPath();
    context.rect(0, head - 1, gutter, height);
    context.clip();
    write(rows, "query", true);
    context.restore();
    write(columns, "key", false);
  }

  #label(context, label, i, vertical, state) {
    const { theme } = this.colours,
      { cell, gutter, head } = this;
    context.save();
    if (vertical) context.translate(gutter - 5, this.top + (i + 0.5) * cell);
    else {
      context.translate(this.left + (i + 0.5) * cell, head - 5);
      context.rotate(-Math.PI / 3);
    }
    const room = vertical ? gutter - 8 : head / 0.87 - 8;
    [context.textAlign, context.textBaseline] = [vertical ? "right" : "left", "middle"];
    context.font = `${state ? "bold " : ""}${TEXT}px ${theme.font}`;
    const text = shorten(context, label, room);
    if (state) {
      const wide = context.measureText(text).width + 6;
      context.fillStyle = state === "locked" ? theme.primary : theme.text;
      context.fillRect(vertical ? 3 - wide : -3, -8, wide, 16);
    }
    context.fillStyle = state ? theme.background : theme.text;
    context.fillText(text, 0, 0);
    context.restore();
  }

  /** The pair, row or column under a point of the canvas: {query, key}, either null; null outside. */
  at(event) {
    if (!this.map) return null;
    const [x, y] = this.place(event),
      { rows, columns } = this.map;
    const within = (place, count) => (place >= 0 && place < count ? place : null);
    let query = within(Math.floor((y - this.top) / this.cell), rows);
    // A column's label leans to the right: follow it down to its column.
    const lean = y < this.head ? (this.head - 5 - y) / Math.tan(Math.PI / 3) : 0;
    let key = within(Math.floor((x - lean - this.left) / this.cell), columns);
    if (y < this.head) query = null;
    if (x < this.gutter && y >= this.head) key = null;
    if (query === null && y >= this.head) return null;
    if (key === null && x >= this.gutter) return null;
    return query === null && key === null ? null : { query, key };
  }

  /** Scroll just so far that a cell is seen. */
  reveal({ query, key }) {
    const { element: box, cell, gutter, head } = this,
      [width, height] = this.size;
    const to = (start, seen, place) => Math.max(Math.min(start, place * cell), (place + 1) * cell - seen);
    if (query !== null) box.scrollTop = to(box.scrollTop, height - head, query);
    if (key !== null) box.scrollLeft = to(box.scrollLeft, width - gutter, key);
  }
}

function line(context, x0, y0, x1, y1) {
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
}

/** Stripes where the shape is. */
function drawHatched(context, shape, left, top, wide, tall, [width, height], colour) {
  const layer = document.createElement("canvas");
  [layer.width, layer.height] = [Math.ceil(width), Math.ceil(height)];
  const stripes = layer.getContext("2d");
  stripes.imageSmoothingEnabled = false;
  stripes.drawImage(shape, left, top, wide, tall);
  stripes.globalCompositeOperation = "source-in";
  stripes.strokeStyle = colour;
  stripes.globalAlpha = 0.3;
  stripes.beginPath();
  for (let x = -height; x < width; x += 6) line(stripes, x, height, x + height, 0);
  stripes.stroke();
  context.drawImage(layer, 0, 0);
}
