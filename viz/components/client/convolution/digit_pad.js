// A digit drawn with the mouse, a finger or the keys, as the digits of the data set were made: strokes on 32 x 32 dots,
// of which every pixel counts its 4 x 4. The digit is sent to Python when a stroke ends, or the keys rest.

import { LiveView, mount, spoken } from "../lib/view.js";
import { start } from "../lib/canvas.js";
import { moveCell } from "../lib/clamp.js";
import { css, theme } from "../lib/colour.js";
import { ARROWS, element, fill } from "../lib/dom.js";
import { Debouncer, strokes } from "../lib/strokes.js";
import { mapTable } from "../plot/tables.js";
import { SIDE, dots, levelsOf, toCode } from "./ink_code.js";

const BRUSH = 2.2,
  WIPE = 4,
  FULL = 16; // dots; pixels have up to 16 of them

export default mount((parent) => new DigitPad(parent));

class DigitPad extends LiveView {
  base;
  ink;
  note;
  says;

  constructor(parent) {
    super(parent, "pad");
    this.focus = [0, 0];
    this.code = null;
    this.rest = new Debouncer(() => this.#finish());
  }

  close() {
    super.close();
    this.rest.stop();
  }

  /** An answer to an older stroke than the last one made here is out of date. */
  receive(data) {
    this.data = data;
    if (data.sent >= this.sent) {
      this.sent = data.sent;
      if (data.code !== this.code) [this.code, this.base, this.ink] = [data.code, levelsOf(data.code), dots()];
    }
    if (this.hasChanged("words", data.words)) this.#build(data.words);
    this.now();
  }

  #build(words) {
    this.canvas = element("canvas", "digit", { tabindex: "0", role: "application", "aria-label": words.alt });
    const tools = element("div", "tools");
    this.wipe = element("button", "", { type: "button", "aria-pressed": "false" }, words.wipe);
    const clear = element("button", "", { type: "button" }, words.clear);
    this.wipe.addEventListener("click", () => this.wipe.setAttribute("aria-pressed", String(!this.#wipes())));
    clear.addEventListener("click", () => {
      [this.base, this.ink] = [levelsOf(""), dots()];
      this.#finish();
    });
    tools.append(this.wipe, clear);
    [this.note, this.says] = [element("p", "note", {}, words.note), spoken()];
    this.root.replaceChildren(element("p", "name", {}, words.title), this.canvas, tools, this.note, this.says);
    this.#listen();
  }

  #wipes() {
    return this.wipe.getAttribute("aria-pressed") === "true";
  }

  #listen() {
    const { canvas } = this;
    const touch = (dot) => this.#touch(dot);
    strokes(canvas, { at: (event) => this.#dot(event), begin: touch, over: touch, end: () => this.#finish() });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("blur", () => this.rest.now());
    canvas.addEventListener("focus", () => this.later());
  }

  /** The dot under the pointer as {query: row, key: column}. */
  #dot(event) {
    const box = this.canvas.getBoundingClientRect(),
      scale = (4 * SIDE) / box.width;
    return {
      query: Math.floor((event.clientY - box.top) * scale),
      key: Math.floor((event.clientX - box.left) * scale),
    };
  }

  #touch({ query: row, key: column }) {
    const wipes = this.#wipes(),
      radius = wipes ? WIPE : BRUSH,
      n = 4 * SIDE;
    for (let y = Math.max(0, Math.ceil(row - radius)); y <= Math.min(n - 1, row + radius); y++) {
      for (let x = Math.max(0, Math.ceil(column - radius)); x <= Math.min(n - 1, column + radius); x++) {
        if (Math.hypot(y - row, x - column) > radius) continue;
        this.ink[y * n + x] = wipes ? 0 : 1;
        if (wipes) this.base[Math.floor(y / 4) * SIDE + Math.floor(x / 4)] = 0;
      }
    }
    this.later();
  }

  #key(event) {
    const step = ARROWS[event.key],
      [row, column] = this.focus;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) this.focus = moveCell(this.focus, step, [SIDE, SIDE]);
    else if (event.key === " " || event.key === "Enter") this.#toggle(row * SIDE + column);
    else return;
    event.preventDefault();
    event.stopPropagation();
    const [down, right] = this.focus;
    this.says.textContent = fill(this.data.words.says, {
      row: down,
      column: right,
      ink: this.levels()[down * SIDE + right],
    });
    this.later();
  }

  #toggle(cell) {
    const hasInk = this.levels()[cell] > 0,
      n = 4 * SIDE;
    this.base[cell] = hasInk ? 0 : FULL;
    for (let dot = 0; dot < 16; dot++)
      this.ink[(4 * Math.floor(cell / SIDE) + (dot >> 2)) * n + 4 * (cell % SIDE) + (dot & 3)] = 0;
    this.rest.later();
  }

  levels() {
    return levelsOf(this.code === null ? "" : toCode(this.base, this.ink));
  }

  /** For the menu of the picture: the ink, and how much of it each pixel has. */
  asPictures() {
    return [this.canvas];
  }

  asTables() {
    const levels = this.levels();
    return [mapTable(SIDE, SIDE, (at) => levels[at])];
  }

  #finish() {
    this.code = toCode(this.base, this.ink);
    this.later();
    this.send("code", this.code);
  }

  draw() {
    const colours = theme(this.root),
      { context, width } = start(this.canvas, colours),
      cell = width / SIDE,
      levels = this.levels();
    context.fillStyle = "#fff"; // paper and ink, whatever the theme
    context.fillRect(0, 0, width, width);
    context.fillStyle = context.strokeStyle = "#000";
    levels.forEach((level, at) => {
      context.globalAlpha = level / FULL;
      context.fillRect((at % SIDE) * cell, Math.floor(at / SIDE) * cell, cell, cell);
    });
    context.globalAlpha = 0.25;
    for (let i = 0; i <= SIDE; i++) {
      context.strokeRect(0, 0, i * cell, width);
      context.strokeRect(0, 0, width, i * cell);
    }
    if (this.canvas.matches(":focus-visible")) {
      context.globalAlpha = 1;
      [context.lineWidth, context.strokeStyle] = [3, css(this.data.hues.positive)];
      context.strokeRect(this.focus[1] * cell, this.focus[0] * cell, cell, cell);
    }
    this.root.dataset.drawn = toCode(this.base, this.ink);
  }
}
