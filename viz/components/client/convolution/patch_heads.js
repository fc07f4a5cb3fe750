// A picture cut into patches, and where every head looks from the patch that was clicked: each head beside the quadratic
// window that comes closest to it. Another patch is chosen by a click or the arrow keys; Python is told.

import { mount } from "../lib/mount.js";
import { unpack } from "../lib/bytes.js";
import { image, measure, start } from "../lib/canvas.js";
import { theme, weightColour, weightTable } from "../lib/colour.js";
import { element, fill, walkCells } from "../lib/dom.js";
import { LiveView } from "../lib/live_view.js";

export default mount((parent) => new PatchHeads(parent), unpack);

class PatchHeads extends LiveView {
  constructor(parent) {
    super(parent, "patches", "patches");
  }

  receive(data, setStateValue) {
    this.take(data, setStateValue);
    this.table = weightTable(data.hues.positive);
    this.#build();
    this.now();
  }

  #build() {
    const { words, heads, title } = this.data, kind = JSON.stringify([words, heads.map(({ layer }) => layer)]);
    if (kind !== this.written) {
      this.written = kind;
      this.picture = element("canvas", "whole", { tabindex: "0", role: "application", "aria-label": words.picture_alt });
      this.asks = element("p", "says", { "aria-live": "polite" });
      this.name = element("p", "name");
      const left = element("div", "left"), right = element("div", "right");
      left.append(this.name, this.picture, this.asks);
      const order = [...new Set(heads.map(({ layer }) => layer))];
      const rows = new Map(order.map((layer) => [layer, element("div", "row")]));
      this.cards = heads.map(({ layer }) => this.#card(rows.get(layer)));
      for (const [layer, row] of rows) right.append(element("p", "layer", {}, fill(words.layer, { layer })), row);
      const body = element("div", "body");
      body.append(left, right);
      this.root.replaceChildren(body);
      this.#listen();
    }
    this.name.textContent = title;
    heads.forEach(({ name, share, alt }, i) => {
      const { card, says } = this.cards[i];
      card.setAttribute("aria-label", alt);
      says.replaceChildren(element("b", "", {}, name), element("span", "", {}, share));
    });
  }

  #card(row) {
    const card = element("div", "card", { role: "img" }), pair = element("div", "pair"), says = element("p", "caption");
    const [seen, window] = [element("canvas"), element("canvas")];
    pair.append(seen, window);
    card.append(pair, says);
    row.append(card);
    return { card, seen, window, says };
  }

  #listen() {
    this.picture.addEventListener("click", (event) => {
      const box = this.picture.getBoundingClientRect(), { rows, columns } = this.data, within = (at, last) => Math.max(0, Math.min(last, Math.floor(at)));
      this.#ask([
        within(((event.clientY - box.top) / box.height) * rows, rows - 1),
        within(((event.clientX - box.left) / box.width) * columns, columns - 1),
      ]);
    });
    walkCells(this.picture, () => ({ at: this.choice.query, size: [this.data.rows, this.data.columns] }), (at) => this.#ask(at));
  }

  #ask(query) {
    this.change((choice) => (choice.query = query));
    this.tell({ patch: query[0] * this.data.columns + query[1] });
  }

  /** For the menu of the picture: where every head looks from the patch, and its window. */
  asTables() {
    const { rows, columns, seen, windows, heads } = this.data, n = rows * columns, places = Array.from({ length: columns }, (_, i) => i);
    const table = (title, cells) => ({
      title, columns: ["", ...places], rows: Array.from({ length: rows }, (_, i) => [i, ...cells.subarray(i * columns, (i + 1) * columns)]),
    });
    return heads.flatMap(({ layer, name, share }, i) => [
      table(`${fill(this.data.words.layer, { layer })} · ${name}`, seen.subarray(i * n, (i + 1) * n)), table(share, windows.subarray(i * n, (i + 1) * n)),
    ]);
  }

  draw() {
    const { rows, columns, seen, windows, heads, words, choice: shown } = this.data, [row, column] = this.choice.query, colours = theme(this.root);
    const canvases = [this.picture, ...this.cards.flatMap((card) => [card.seen, card.window])];
    for (const canvas of canvases) canvas.style.aspectRatio = `${columns} / ${rows}`;
    measure(canvases);
    this.#whole(colours);
    this.asks.textContent = fill(words.asks, { row, column });
    const n = rows * columns, stale = row !== shown.query[0] || column !== shown.query[1]; // until Python answers
    this.root.classList.toggle("waits", stale);
    heads.forEach((_, i) => {
      this.#map(this.cards[i].seen, seen.subarray(i * n, (i + 1) * n), colours);
      this.#map(this.cards[i].window, windows.subarray(i * n, (i + 1) * n), colours);
    });
    this.root.dataset.drawn = `${shown.query.join("-")}`;
  }

  #whole(colours) {
    const { rows, columns, image: pixels, size } = this.data, [height, width] = size, [row, column] = this.choice.query;
    const { context, width: wide, height: high } = start(this.picture, colours);
    context.imageSmoothingEnabled = false;
    const dark = (at) => {
      const level = Math.round(255 * Math.min(1, Math.max(0, pixels[at])));
      return ((255 << 24) | (level << 16) | (level << 8) | level) >>> 0;
    };
    context.drawImage(image(height, width, dark), 0, 0, wide, high);
    context.lineWidth = 3;
    context.strokeStyle = colours.primary;
    context.strokeRect((column * wide) / columns, (row * high) / rows, wide / columns, high / rows);
  }

  #map(canvas, weights, colours) {
    const { rows, columns } = this.data, [row, column] = this.data.choice.query;
    const { context, width, height } = start(canvas, colours);
    context.imageSmoothingEnabled = false;
    context.drawImage(image(rows, columns, (at) => weightColour(this.table, weights[at])), 0, 0, width, height);
    context.globalAlpha = 0.35;
    context.strokeRect(0.5, 0.5, width - 1, height - 1);
    context.globalAlpha = 1;
    context.strokeStyle = colours.primary;
    context.strokeRect((column * width) / columns, (row * height) / rows, width / columns, height / rows);
  }
}
