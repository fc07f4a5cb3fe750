// A picture cut into patches, and where every head looks from the patch that was clicked: each head beside the
// quadratic window that comes closest to it. Another patch is chosen by a click or the arrow keys; Python is told. The
// maps of all heads are one canvas below the cards, as a browser keeps every canvas apart from the rest of its page.

import { LiveView, mount, spoken } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image, measure, start } from "../lib/canvas.js";
import { grey, theme, weightColour, weightTable } from "../lib/colour.js";
import { element, fill, walkCells } from "../lib/dom.js";
import { place } from "../lib/place.js";
import { Cells } from "../plot/cells.js";
import { mapTable } from "../plot/tables.js";

export default mount((parent) => new PatchHeads(parent), unpack);

class PatchHeads extends LiveView {
  constructor(parent) {
    super(parent, "patches", { of: ({ clientWidth, clientHeight }) => [clientWidth, clientHeight] }); // where cards are
    this.paper = matchMedia("print"); // on paper they stand elsewhere, which no observer of sizes is told
    this.print = () => this.draw();
    this.paper.addEventListener("change", this.print);
  }

  close() {
    this.paper.removeEventListener("change", this.print);
    super.close();
  }

  receive(data) {
    this.take(data);
    this.table = weightTable(data.hues.positive);
    this.#build();
    this.now();
  }

  #build() {
    const { words, heads, title, rows: down, columns: across } = this.data;
    if (this.hasChanged("cards", [words, heads.map(({ layer }) => layer)])) {
      this.picture = element("canvas", "whole", { tabindex: "0", role: "application" });
      this.picture.ariaLabel = words.picture_alt;
      this.asks = spoken();
      this.name = element("p", "name");
      this.right = element("div", "right");
      this.maps = element("canvas", "maps");
      this.right.append(this.maps);
      const left = element("div", "left");
      left.append(this.name, this.picture, this.asks);
      const order = [...new Set(heads.map(({ layer }) => layer))];
      const rows = new Map(order.map((layer) => [layer, element("div", "row")]));
      this.cards = heads.map(({ layer }) => this.#card(rows.get(layer)));
      for (const [layer, row] of rows) this.right.append(element("p", "layer", {}, fill(words.layer, { layer })), row);
      const body = element("div", "body");
      body.append(left, this.right);
      this.root.replaceChildren(body);
      this.#listen();
    }
    this.root.style.setProperty("--shape", `${across} / ${down}`);
    this.name.textContent = title;
    heads.forEach(({ name, share, alt }, i) => {
      const { card, says } = this.cards[i];
      card.setAttribute("aria-label", alt);
      says.replaceChildren(element("b", "", {}, name), element("span", "", {}, share));
    });
  }

  #card(row) {
    const card = element("div", "card", { role: "img" }),
      pair = element("div", "pair"),
      says = element("p", "caption");
    const places = [element("div", "map"), element("div", "map")]; // of what it sees, and of its window
    pair.append(...places);
    card.append(pair, says);
    row.append(card);
    return { card, places, says };
  }

  #listen() {
    this.picture.addEventListener("click", (event) => this.#ask(this.whole.nearest(place(this.picture, event))));
    walkCells(
      this.picture,
      () => ({ at: this.choice.query, size: [this.data.rows, this.data.columns] }),
      (at) => this.#ask(at),
    );
  }

  #ask(query) {
    this.change((choice) => (choice.query = query));
    this.syncedChoice = JSON.stringify(this.choice);
    this.send("patch", query[0] * this.data.columns + query[1]);
  }

  /** For the menu of the picture: where every head looks from the patch, and its window. */
  asTables() {
    const { rows, columns, seen: attention, windows, heads } = this.data,
      n = rows * columns;
    return heads.flatMap(({ layer, name, share }, i) => [
      mapTable(rows, columns, (at) => attention[i * n + at], `${fill(this.data.words.layer, { layer })} · ${name}`),
      mapTable(rows, columns, (at) => windows[i * n + at], share),
    ]);
  }

  draw() {
    const { words, choice: shown } = this.data,
      [row, column] = this.choice.query,
      colours = theme(this.root);
    this.asks.textContent = fill(words.asks, { row, column });
    this.root.classList.toggle("waits", row !== shown.query[0] || column !== shown.query[1]); // until Python answers
    measure([this.picture, this.maps]);
    const places = this.#places();
    this.#drawWhole(colours);
    this.#maps(places, colours);
    this.root.dataset.drawn = `${shown.query.join("-")}`;
  }

  /** The places of each head's two maps on the canvas, in its own pixels: where it is enlarged, the page's differ. */
  #places() {
    const outer = this.right.getBoundingClientRect(),
      scale = this.right.clientWidth / outer.width;
    return this.cards.map(({ places }) =>
      places.map((place) => {
        const { left, top, width, height } = place.getBoundingClientRect();
        return [left - outer.left, top - outer.top, width, height].map((side) => Math.round(side * scale)); // sharp
      }),
    );
  }

  #drawWhole(colours) {
    const { rows, columns, image: pixels, size } = this.data,
      { context, width, height } = start(this.picture, colours);
    this.whole = new Cells(context, colours, { left: 0, rows, columns, w: width / columns, h: height / rows });
    this.whole.picture(image(size[0], size[1], (at) => grey(pixels[at])));
    this.whole.frame(this.choice.query, colours.primary, 3);
  }

  /** The cells of all heads are one bitmap: on the left the weights, on the right the windows, a head below the other. */
  #maps(places, colours) {
    const { rows, columns, seen: attention, windows, heads, choice } = this.data;
    const weights = image(heads.length * rows, 2 * columns, (at) => {
      const down = Math.floor(at / (2 * columns)),
        across = at % (2 * columns);
      return weightColour(this.table, (across < columns ? attention : windows)[down * columns + (across % columns)]);
    });
    const { context } = start(this.maps, colours);
    places.forEach((pair, i) =>
      pair.forEach(([left, top, width, height], side) => {
        const cells = new Cells(context, colours, { left, top, rows, columns, w: width / columns, h: height / rows });
        cells.picture(weights, [side * columns, i * rows]);
        cells.edge(0.35);
        cells.frame(choice.query, colours.primary);
      }),
    );
  }
}
