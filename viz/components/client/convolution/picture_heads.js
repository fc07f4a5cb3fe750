// A head for each cell of a kernel, on a picture: centres are dragged on a plane, or chosen by a click or their number
// and sent to a place by a click or the arrow keys; the picture's pixels are asked by clicking, and the layer's output
// follows. Python gets one message, on release.

import { image, line, start } from "../lib/canvas.js";
import { css, grey, theme } from "../lib/colour.js";
import { ARROWS, clickable, element, fill, walkCells } from "../lib/dom.js";
import { inks } from "../lib/contrast.js";
import { LiveView, spoken } from "../lib/view.js";
import { place } from "../lib/place.js";
import { Cells } from "../plot/cells.js";
import { mapTable } from "../plot/tables.js";
import { convolve, windowWeights } from "./quadratic.js";
import { ALPHA, minus, slider } from "./slider.js";

const REACH = 4,
  NEAR = 24; // cells each way; pixels that count as a hit

function short(value) {
  return minus(Number(value.toFixed(2)) + 0); // + 0: there is no -0
}

export class PictureHeads extends LiveView {
  frames;
  saysPlane;
  saysSeen;
  saysMade;

  constructor(parent) {
    super(parent, "quadratic", { handle: "heads" });
    [this.frames, this.dragged] = [0, null];
  }

  receive(data) {
    this.take(data);
    const { choice } = this;
    choice.head = Math.min(choice.head, choice.offsets.length - 1);
    choice.query = [Math.min(choice.query[0], data.rows - 1), Math.min(choice.query[1], data.columns - 1)];
    if (this.hasChanged("words", data.words)) this.#build(data.words);
    this.now();
  }

  #build(words) {
    const tell = () => this.tell();
    this.alpha = slider("alpha", words.alpha, ALPHA.range, {
      ...ALPHA,
      change: tell,
      input: (value) =>
        this.change(({ alphas, head, shared }) => alphas.fill(value, ...(shared ? [] : [head, head + 1]))),
    });
    this.shared = element("input", "", { type: "checkbox" });
    this.shared.addEventListener("change", () => {
      this.change((choice) => {
        choice.shared = this.shared.checked;
        if (choice.shared) choice.alphas.fill(choice.alphas[choice.head]);
      });
      this.tell();
    });
    const check = element("label", "check"),
      back = clickable("plain", words.back, () => {
        this.change((choice) => (choice.offsets = structuredClone(this.data.cells)));
        this.tell();
      });
    check.append(this.shared, element("span", "", {}, words.shared));
    const bar = element("div", "controls"),
      body = element("div", "panes");
    bar.append(this.alpha.element, check, back);
    const pane = (title, canvas, says) => {
      const box = element("div", "pane");
      box.append(element("p", "name", {}, title), canvas, says);
      body.append(box);
    };
    this.plane = element("canvas", "plane", { tabindex: "0", role: "application", "aria-label": words.plane_title });
    this.inputCanvas = element("canvas", "picture asks", {
      tabindex: "0",
      role: "application",
      "aria-label": words.seen_title,
    });
    this.outputCanvas = element("canvas", "picture", { role: "img", "aria-label": words.made_title });
    [this.saysPlane, this.saysSeen, this.saysMade] = [0, 0, 0].map(() => spoken());
    pane(words.plane_title, this.plane, this.saysPlane);
    pane(words.seen_title, this.inputCanvas, this.saysSeen);
    pane(words.made_title, this.outputCanvas, this.saysMade);
    this.root.replaceChildren(bar, body);
    this.#listen();
  }

  #listen() {
    this.#listenToPlane();
    const { inputCanvas: canvas } = this;
    canvas.addEventListener("click", (event) => this.#ask(this.input.nearest(place(canvas, event))));
    walkCells(
      canvas,
      () => ({ at: this.choice.query, size: [this.data.rows, this.data.columns] }),
      (cell) => this.#ask(cell),
    );
  }

  #listenToPlane() {
    this.plane.addEventListener("pointerdown", (event) => {
      const near = this.#near(event);
      if (near === null) return;
      this.dragged = near;
      this.plane.setPointerCapture(event.pointerId);
      this.change((choice) => (choice.head = near));
    });
    // A finger that takes a centre drags it; any other scrolls the page.
    this.plane.addEventListener(
      "touchstart",
      (event) => {
        if (this.#near(event.touches[0]) !== null) event.preventDefault();
      },
      { passive: false },
    );
    // A tap or click beside all centres: the chosen one goes there, as if it had been dragged.
    this.plane.addEventListener("click", (event) => {
      if (this.#near(event) !== null) return;
      this.move(this.choice.head, this.#offset(place(this.plane, event)));
      this.tell();
    });
    this.plane.addEventListener("pointermove", (event) => {
      if (this.dragged !== null) this.move(this.dragged, this.#offset(place(this.plane, event)));
    });
    for (const end of ["pointerup", "pointercancel"]) {
      this.plane.addEventListener(end, () => {
        if (this.dragged !== null) this.tell();
        this.dragged = null;
      });
    }
    this.plane.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key],
        { head, offsets } = this.choice;
      if (event.key in offsets) this.change((choice) => (choice.head = Number(event.key)));
      else if (step) this.move(head, [offsets[head][0] + 0.1 * step[0], offsets[head][1] + 0.1 * step[1]]);
      else return;
      event.preventDefault();
      this.tell();
    });
  }

  /** The centre under the pointer, if there is one. */
  #near(event) {
    const [x, y] = place(this.plane, event),
      away = this.choice.offsets.map((offset) => {
        const at = this.#place(offset);
        return Math.hypot(at[0] - x, at[1] - y);
      });
    const best = away.indexOf(Math.min(...away));
    return away[best] > NEAR ? null : best;
  }

  /** Select another query pixel. */
  #ask(cell) {
    this.change((choice) => (choice.query = cell));
    this.tell();
  }

  #place([row, column]) {
    const scale = this.plane.clientWidth / (2 * REACH + 1),
      middle = this.plane.clientWidth / 2;
    return [middle + column * scale, middle + row * scale];
  }

  #offset([x, y]) {
    const scale = this.plane.clientWidth / (2 * REACH + 1),
      middle = this.plane.clientWidth / 2;
    return [(y - middle) / scale, (x - middle) / scale];
  }

  move(head, offset) {
    this.change((choice) => {
      choice.offsets[head] = offset.map((shift) => Math.round(Math.min(REACH, Math.max(-REACH, shift)) * 100) / 100);
    });
  }

  draw() {
    const { rows, columns, image: pixels, kernel } = this.data,
      { offsets, alphas, head, shared } = this.choice;
    const heads = offsets.map((offset, h) => ({ offset, alpha: alphas[h], weight: kernel[h] }));
    this.output = convolve(pixels, rows, columns, heads);
    for (const canvas of [this.inputCanvas, this.outputCanvas]) canvas.style.aspectRatio = `${columns} / ${rows}`;
    this.alpha.show(alphas[head]);
    this.shared.checked = shared;
    const colours = theme(this.root);
    this.#plane(heads, colours);
    this.#drawInput(heads, colours);
    this.#drawOutput(colours);
    this.frames++;
  }

  /** For the menu of the picture: where the heads look, the picture's pixels, and what the layer makes of them. */
  asTables() {
    const { rows, columns, image: pixels, kernel, words } = this.data,
      { offsets, alphas } = this.choice;
    const heads = offsets.map(([row, column], head) => [head, row, column, alphas[head], kernel[head]]);
    return [
      { title: words.plane_title, columns: ["", "Δ ↓", "Δ →", "α", "w"], rows: heads },
      mapTable(rows, columns, (at) => pixels[at], words.seen_title),
      mapTable(rows, columns, (at) => this.output[at], words.made_title),
    ];
  }

  hue(head, opacity = 1) {
    const { heads } = this.data.hues;
    return css(heads[head % heads.length], opacity);
  }

  #plane(heads, colours) {
    const { context, width } = start(this.plane, colours),
      scale = width / (2 * REACH + 1),
      { words } = this.data,
      ink = inks(colours);
    context.textAlign = "center";
    context.globalAlpha = 0.25;
    for (let shift = -REACH; shift <= REACH; shift++) {
      const at = width / 2 + shift * scale;
      line(context, at, 0, at, width);
      line(context, 0, at, width, at);
    }
    context.globalAlpha = 1;
    for (let shift = -REACH; shift <= REACH; shift++) {
      context.fillText(minus(shift), width / 2 + shift * scale, width - 3);
      context.fillText(minus(shift), 10, width / 2 + shift * scale + 4);
    }
    context.strokeRect(width / 2 - scale / 2, width / 2 - scale / 2, scale, scale); // the pixel that asks
    heads.forEach(({ offset, alpha }, h) => {
      const [x, y] = this.#place(offset),
        spread = Math.min(3 * width, scale / Math.sqrt(2 * Math.max(alpha, 1e-3)));
      context.fillStyle = this.hue(h, 0.18);
      context.beginPath();
      context.arc(x, y, spread, 0, 7);
      context.fill();
      context.fillStyle = this.hue(h);
      context.beginPath();
      context.arc(x, y, h === this.choice.head ? 11 : 8, 0, 7);
      context.fill();
      context.fillStyle = ink(this.data.hues.heads[h % this.data.hues.heads.length]);
      context.textBaseline = "middle";
      context.fillText(String(h), x, y);
      context.textBaseline = "alphabetic";
    });
    const { head } = this.choice,
      { offset, alpha, weight } = heads[head];
    this.saysPlane.textContent = fill(words.plane_says, {
      head,
      row: minus(offset[0]),
      column: minus(offset[1]),
      alpha,
      weight: minus(Number(weight.toPrecision(3))),
    });
  }

  /** The picture, and over it where each head looks from the pixel that asks, in the head's colour. */
  #drawInput(heads, colours) {
    const { rows, columns, image: pixels, words } = this.data,
      [row, column] = this.choice.query;
    const cells = this.#cells(this.inputCanvas, colours),
      { context } = cells;
    this.input = cells;
    context.globalAlpha = 0.55;
    cells.picture(image(rows, columns, (at) => grey(pixels[at])));
    context.globalAlpha = 1;
    heads.forEach(({ offset, alpha }, h) => {
      const down = windowWeights(rows, alpha, offset[0]).subarray(row * rows, (row + 1) * rows);
      const across = windowWeights(columns, alpha, offset[1]).subarray(column * columns, (column + 1) * columns);
      const most = Math.max(...down) * Math.max(...across);
      context.fillStyle = this.hue(h);
      down.forEach((share, i) =>
        across.forEach((columnShare, j) => {
          const weight = share * columnShare;
          if (weight < 0.004) return;
          context.globalAlpha = Math.sqrt(weight) * (weight === most ? 0.9 : 0.8);
          context.fillRect(j * cells.w, i * cells.w, cells.w, cells.w);
        }),
      );
    });
    context.globalAlpha = 1;
    cells.frame([row, column], colours.text, 2);
    this.saysSeen.textContent = fill(words.seen_says, { row, column });
  }

  /** The picture's pixels on a canvas. */
  #cells(canvas, colours) {
    const { rows, columns } = this.data,
      { context, width, height } = start(canvas, colours);
    return new Cells(context, colours, { left: 0, rows, columns, w: Math.min(width / columns, height / rows) });
  }

  #drawOutput(colours) {
    const { columns, words } = this.data,
      [row, column] = this.choice.query;
    const low = Math.min(...this.output),
      high = Math.max(...this.output),
      range = high - low || 1;
    const cells = this.#cells(this.outputCanvas, colours);
    cells.picture(image(this.data.rows, columns, (at) => grey((this.output[at] - low) / range)));
    cells.frame([row, column], colours.primary, 2);
    this.saysMade.textContent = fill(words.made_says, {
      low: short(low),
      high: short(high),
      value: short(this.output[row * columns + column]),
    });
  }
}
