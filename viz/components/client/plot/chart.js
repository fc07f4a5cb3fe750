// Base class of charts over an axis: a legend whose names toggle their series, a picture, and a tooltip for the place
// under the pointer or reached with the arrow keys.

import { start } from "../lib/canvas.js";
import { theme } from "../lib/colour.js";
import { clickable, element } from "../lib/dom.js";
import { fitHeight } from "../lib/fit.js";
import { View, spoken } from "../lib/view.js";
import { AWAY, TEXT } from "./axes.js";
import { readable, showTip } from "./pointer.js";

export const TITLE = 20; // pixels of an axis's title

/** The parts that all charts share. A chart has its own methods from `series` to `read`. */
export class Chart extends View {
  away;
  fullHeight;

  constructor(parent, name) {
    const of = ({ clientWidth }) => [clientWidth, this.data && this.#height()];
    super(parent, `chart ${name}`, { handle: name, of });
    this.legend = element("div", "legend");
    this.tip = element("div", "tip", { hidden: "" });
    this.live = spoken("live");
    const cellOf = (at) => (at === null ? null : [0, at]); // places stand in one row
    const { picture, canvas } = readable({
      under: (point) => this.place && cellOf(this.under(point)),
      from: () => ({ at: cellOf(this.at), size: [1, this.count()] }),
      look: (cell) => this.look(cell?.[1] ?? null),
      say: () => (this.live.textContent = this.tip.textContent),
    });
    this.picture = picture;
    this.canvas = canvas;
    this.root.append(this.legend, picture, this.tip, this.live);
    [this.at, this.away] = [null, new Set()]; // what is read off, and the series that are not shown
  }

  /** @returns {string[]} the names that have a key in the legend */
  series() {
    return [];
  }

  /** The number of places that can be read. */
  count() {
    return 0;
  }

  /** Draw the key of a series. */
  drawLegendKey(_context, _i, _size) {}

  /** Lay out a picture of this width. @returns {any} */
  measure(_context, _width) {}

  paint(_context, _colours) {}

  /** The place at a point, or null. @returns {number | null} */
  under(_point) {
    return null;
  }

  /** The text of a place's tooltip, and its anchor. */
  read(_at) {
    return { text: "", x: 0, y: 0 };
  }

  receive(data) {
    [this.data, this.fullHeight] = [{ ...data }, data.height];
    this.picture.setAttribute("aria-label", data.words.alt);
    this.legend.replaceChildren(...this.series().map((name) => this.#key(name)));
    this.size.hold();
    this.choose();
  }

  /** Update what depends on the visible series, once and not for each place that is read. */
  choose() {
    this.look(null);
  }

  #key(name) {
    const press = () => button.setAttribute("aria-pressed", String(!this.away.has(name)));
    const button = clickable("", "", () => {
      if (!this.away.delete(name)) this.away.add(name);
      press();
      this.choose();
    });
    press();
    button.append(element("canvas"), name);
    return button;
  }

  #height() {
    return fitHeight(this.picture, { height: this.fullHeight });
  }

  draw() {
    const width = this.root.clientWidth;
    if (!width || !this.data) return;
    this.data.height = this.#height();
    this.canvas.style.height = `${this.data.height}px`;
    const colours = theme(this.root),
      { context } = start(this.canvas, colours);
    this.place = this.measure(context, width);
    this.paint(context, colours);
    this.legend.querySelectorAll("canvas").forEach((drawLegendKey, i) => {
      const { context, ...size } = start(drawLegendKey, colours);
      this.drawLegendKey(context, i, size);
    });
  }

  /** Draw the axis titles: below the picture, and upright beside it. */
  titles(context, across, upright) {
    const { left, bottom, wide, top } = this.place;
    [context.textAlign, context.textBaseline] = ["center", "alphabetic"];
    context.fillText(across, left + wide / 2, this.data.height - AWAY, wide);
    context.save();
    context.translate(TEXT, (top + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(upright, 0, 0, bottom);
    context.restore();
  }

  /** Read a place off, or none. */
  look(at) {
    this.at = at !== null && at < this.count() ? at : null;
    this.draw();
    if (this.at === null || !this.place) return showTip(this.tip, "", null);
    const { text, x, y } = this.read(this.at);
    showTip(this.tip, text, { x, top: this.picture.offsetTop + y });
  }
}
