// A mask painted with a finger, the mouse or the keyboard, and the weights that the softmax gives under it.
// The weights follow at once; the mask is sent to Python when a stroke ends.

import { LiveView, mount, spoken } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image } from "../lib/canvas.js";
import { moveCell } from "../lib/clamp.js";
import { coveredCells } from "../lib/covers.js";
import { css, theme, weightColour, weightTable } from "../lib/colour.js";
import { nameToken } from "../lib/direction.js";
import { ARROWS, clickable, element, fill } from "../lib/dom.js";
import { placeOf } from "../lib/fit.js";
import { softmax } from "../lib/numbers.js";
import { Debouncer, strokes } from "../lib/strokes.js";
import { places, toCode } from "./painted.js";
import { digits } from "../lib/describe.js";
import { fourDigits } from "../maps/digits.js";
import { place } from "../lib/place.js";
import { mapTable } from "../plot/tables.js";
import { begin, finish } from "./square.js";

const STROKES = 50; // of which the last can be taken back
const STRIPES = 5; // pixels

export default mount((parent) => new Painter(parent), unpack);

class Painter extends LiveView {
  count;
  says;
  maskCanvas;
  weightsCanvas;

  constructor(parent) {
    super(parent, "painter", { of: placeOf });
    this.rest = new Debouncer(() => this.#tell());
  }

  close() {
    super.close();
    this.rest.stop();
    this.strokes?.stop();
  }

  /** An answer to an older stroke than the last one made here is out of date. */
  receive(data) {
    const isNew = this.hasChanged("labels", data.labels),
      hasMoved = data.query !== this.data?.query;
    this.data = data;
    const isPainting = this.rest.timer || this.strokes?.isOn; // what is painted now is not told yet
    const isNewest = data.sent >= this.sent && !isPainting;
    if (isNew || isNewest) [this.cells, this.sent] = [Uint8Array.from(data.allowed), data.sent];
    if (isNew) this.past = [];
    const [query, key] = data.covers?.asked ?? [data.query, data.query];
    if (isNew || hasMoved)
      [this.focus, this.isPointed] = [{ query, key: Math.max(0, key) }, Boolean(data.covers?.asked)];
    this.covered = coveredCells(data.covers);
    this.table = weightTable(data.hues.positive);
    if (this.hasChanged("words", data.words)) this.#build(data.words);
    this.titles.weights.textContent = data.words.weights;
    delete this.root.dataset.drawn; // what it says was drawn of older data
    this.now();
  }

  #build(words) {
    const bar = element("div", "tools");
    const tool = (name, how) => {
      const button = clickable("", words[name], how, { "data-tool": name });
      bar.append(button);
      return button;
    };
    tool("open", () => this.#stroke(() => this.cells.fill(1)));
    tool("close", () => this.#stroke(() => this.cells.fill(0)));
    tool("turn", () => this.#stroke(() => this.cells.forEach((open, at) => (this.cells[at] = 1 - open))));
    this.back = tool("undo", () => this.undo());
    this.titles = {};
    const pane = (name, note, attributes) => {
      const box = element("div", "pane"),
        canvas = element("canvas", name, attributes);
      this.titles[name] = element("p", "name", {}, words[name]);
      box.append(this.titles[name], canvas, element("p", "note", {}, note));
      if (name === "mask") box.append(element("p", "note touch", {}, words.mask_touch));
      this[`${name}Canvas`] = canvas;
      return box;
    };
    const panes = element("div", "panes");
    panes.append(
      pane("mask", words.mask_note, { tabindex: 0, role: "application", "aria-label": words.mask_alt }),
      pane("weights", words.weights_note, { role: "img", "aria-label": words.weights_alt }),
    );
    [this.count, this.says] = [element("p", "count"), spoken()];
    this.row = element("div", "row", { tabindex: 0 }); // it scrolls
    this.root.replaceChildren(panes, this.says, bar, this.count, this.row);
    this.#listen();
  }

  #listen() {
    const mask = this.maskCanvas,
      weights = this.weightsCanvas;
    const under = (canvas, event) => this.square.underWithNames(place(canvas, event));
    this.strokes = strokes(mask, {
      at: (event) => under(mask, event),
      begin: (at) => this.#begin(at),
      end: () => this.#tell(),
      look: (at) => this.#look(at),
      over: (cell) => this.#paint(places(cell, this.data.n), this.ink),
      scrolls: true,
    });
    mask.addEventListener("keydown", (event) => this.#key(event));
    mask.addEventListener("blur", () => this.rest.now());
    weights.addEventListener("pointermove", (event) => this.#look(under(weights, event)));
  }

  #begin(at) {
    this.#remember();
    const line = places(at, this.data.n);
    this.ink = line.every((place) => this.cells[place]) ? 0 : 1;
    this.#paint(line, this.ink);
    this.#look(at);
  }

  #key(event) {
    const { n } = this.data,
      step = ARROWS[event.key],
      { query, key } = this.focus;
    const line = { " ": { query, key }, Enter: { query, key }, r: { query, key: null }, c: { query: null, key } }[
      event.key.length > 1 ? event.key : event.key.toLowerCase()
    ];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) {
      const [row, column] = moveCell([query ?? 0, key ?? 0], step, [n, n]);
      this.#look({ query: row, key: column });
    } else if (line) this.#toggle(places(line, n));
    else return;
    event.preventDefault();
    event.stopPropagation(); // to Streamlit R means to run the page again
  }

  /** From the keyboard: Python is told when the keys rest. */
  #toggle(line) {
    this.#remember();
    this.#paint(line, line.every((place) => this.cells[place]) ? 0 : 1);
    this.rest.later();
  }

  #paint(line, value) {
    for (const place of line) this.cells[place] = value;
    this.later();
  }

  #remember() {
    this.past = [...this.past.slice(-STROKES), this.cells.slice()];
  }

  #stroke(how) {
    this.#remember();
    how();
    this.later();
    this.#tell();
  }

  undo() {
    if (!this.past.length) return;
    this.cells = this.past.pop();
    this.later();
    this.#tell();
  }

  #tell() {
    this.send("code", toCode(this.cells, this.data.n));
  }

  #look(at) {
    if (!at) return;
    this.focus = { query: at.query ?? this.focus.query, key: at.key ?? this.focus.key };
    this.isPointed = true;
    this.later();
  }

  /** The framed row, of the selected word, and the column under the pointer, if any. */
  pointed() {
    return this.isPointed ? this.focus : { query: this.focus.query, key: null };
  }

  /** True if both the mask and the model let this query look at this key. */
  sees(at) {
    return Boolean(this.cells[at] && this.data.own[at]);
  }

  draw() {
    const { n, scores } = this.data;
    this.maskedScores = Float32Array.from(scores, (score, at) => (this.sees(at) ? score : -Infinity));
    this.weights = softmax(this.maskedScores, n, n, 1, new Float32Array(n * n));
    this.back.disabled = !this.past.length;
    this.colours = theme(this.root);
    this.#maskPicture();
    this.#weightsPicture();
    this.#count();
    this.#say();
    this.#softmaxSees();
    this.root.dataset.drawn = toCode(this.cells, n);
  }

  /** For the menu of the picture: who may look at whom, and the weights that it leaves. */
  asTables() {
    const { labels, words } = this.data;
    return [
      mapTable(labels, labels, (at) => Number(this.sees(at)), words.mask),
      mapTable(labels, labels, (at) => (this.covered.has(at) ? "?" : this.weights[at]), words.weights),
    ];
  }

  #maskPicture() {
    const { labels, own: byModel, hues, words } = this.data;
    this.square = begin(this.maskCanvas, labels, this.colours);
    const ink = css(hues.positive, 0.8);
    this.square.squares((at) => (this.sees(at) ? ink : ""), this.square.w > 6 ? 1 : 0);
    this.square.context.fillStyle = this.colours.text;
    this.square.hatch((at) => byModel[at] && !this.cells[at], 0.35, STRIPES);
    this.square.hatch((at) => !byModel[at], 0.9, STRIPES);
    finish(this.square, labels, this.pointed(), words);
  }

  #weightsPicture() {
    const { n, labels, words } = this.data,
      cells = begin(this.weightsCanvas, labels, this.colours);
    cells.picture(image(n, n, (at) => weightColour(this.table, this.weights[at])));
    cells.hatch((at) => !this.sees(at), 0.2, STRIPES);
    cells.covers(this.covered);
    finish(cells, labels, this.pointed(), words);
  }

  #count() {
    const { n, words } = this.data;
    let [open, blind] = [0, 0];
    for (let row = 0; row < n; row++) {
      const visible = places({ query: row, key: null }, n).filter((at) => this.sees(at)).length;
      open += visible;
      blind += Number(visible === 0);
    }
    this.counts = { open, blind };
    const share = (open / (n * n)).toLocaleString("en", { style: "percent", maximumFractionDigits: 1 });
    this.count.textContent = this.data.covers?.open
      ? ""
      : fill(words.counted, { open: open.toLocaleString("en"), all: (n * n).toLocaleString("en"), share, blind });
  }

  #say() {
    const { n, labels, scores, words } = this.data,
      { query, key } = this.focus,
      at = query * n + key;
    if (this.covered.has(at)) {
      this.says.textContent = `${labels[query]} → ${labels[key]}: ? (${this.data.covers.word})`;
      return;
    }
    const sentence = this.sees(at) ? words.says_open : words.says_closed;
    this.says.textContent = fill(sentence, {
      query: nameToken(labels, query),
      key: nameToken(labels, key),
      score: digits(scores[at], false),
      weight: fourDigits(this.weights[at]),
    });
  }

  /** The row of the query in numbers: its scores, what is left of them, and their shares. */
  #softmaxSees() {
    const { n, labels, words, scores } = this.data,
      from = this.focus.query * n;
    const line = (name, write) => {
      const row = element("tr");
      row.append(element("th", "", { scope: "row" }, name));
      for (let key = 0; key < n; key++) {
        const kind = `${this.sees(from + key) ? "" : "closed"}${key === this.focus.key ? " here" : ""}`;
        row.append(element("td", kind.trim(), {}, write(from + key, key)));
      }
      return row;
    };
    const table = element("table");
    table.append(
      line(words.row_key, (_, key) => labels[key]),
      line(words.row_score, (at) => digits(scores[at], false)),
      line(words.row_masked, (at) => digits(this.maskedScores[at], false)),
      line(words.row_weight, (at) => (this.covered.has(at) ? "?" : this.weights[at].toFixed(3))),
    );
    const scroll = this.row.scrollLeft;
    this.row.replaceChildren(
      element("p", "name", {}, fill(words.row, { query: nameToken(labels, this.focus.query) })),
      table,
    );
    this.row.scrollLeft = scroll;
  }
}
