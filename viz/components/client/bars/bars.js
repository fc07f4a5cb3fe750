// Bars: a number for each name, of one series or several side by side. Pointing at a place, or going to it by the arrow
// keys, reads it off.

import { unpack } from "../lib/bytes.js";
import { line, start } from "../lib/canvas.js";
import { css, theme } from "../lib/colour.js";
import { element, walkCells } from "../lib/dom.js";
import { mount } from "../lib/mount.js";
import { columnNames } from "../lib/names.js";
import { place } from "../lib/place.js";

const TEXT = 12, AWAY = 6, TITLE = 20, NAMES = 90; // pixels: of letters, and of what stands around the bars
const GAP = 0.2, STEPS = 5; // the share of a place that is left free, and about how many lines there are
const LEAST = 0.001; // what is smaller has too few digits behind the point

export default mount((parent) => new Bars(parent), unpack);

/** Round numbers from the lowest to the highest, about five of them. */
export function ticks(low, high) {
  const rough = (high - low) / STEPS, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((times) => times * power >= rough * 0.999) * power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + step * 1e-6; i++) found.push(Number((i * step).toPrecision(9)));
  return found;
}

class Bars {
  constructor(parent) {
    this.root = element("div", "bars");
    this.root.bars = this; // for the browser's tests: they read the numbers back
    this.legend = element("div", "legend");
    this.picture = element("div", "picture", { role: "application", tabindex: "0" });
    this.canvas = element("canvas");
    this.tip = element("div", "tip", { hidden: "" });
    this.live = element("p", "live", { "aria-live": "polite" });
    this.picture.append(this.canvas);
    this.root.append(this.legend, this.picture, this.tip, this.live);
    parent.append(this.root);
    this.picture.addEventListener("pointermove", (event) => this.look(this.#under(event)));
    this.picture.addEventListener("pointerdown", (event) => this.look(this.#under(event)));
    for (const name of ["pointerleave", "blur"]) this.picture.addEventListener(name, () => this.look(null));
    const from = () => ({ at: this.at === null ? null : [0, this.at], size: [1, this.data.labels.length] });
    walkCells(this.picture, from, ([, at]) => {
      this.look(at);
      this.live.textContent = this.tip.textContent;
    });
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
    this.at = null;
  }

  close() {
    this.watch.disconnect();
    this.root.remove();
  }

  receive(data) {
    this.data = data;
    this.areCounts = data.values.every((value) => Number.isInteger(value) || Number.isNaN(value));
    this.picture.setAttribute("aria-label", data.words.alt);
    this.legend.replaceChildren(...(data.series.length > 1 ? data.series.map((name, i) => this.#key(name, i)) : []));
    this.look(null);
  }

  #key(name, i) {
    const made = element("span", "keyed"), swatch = element("span", "swatch");
    swatch.style.backgroundColor = this.#hue(i, 0);
    made.append(swatch, name);
    return made;
  }

  #hue(series, at) {
    const { hues, colours } = this.data;
    return css(colours ? colours[at] : hues[series % hues.length], 0.9);
  }

  #value(series, at) {
    return this.data.values[series * this.data.labels.length + at];
  }

  /** For the menu of the picture. */
  asTables() {
    const { labels, series, title } = this.data;
    return [{ columns: [title, ...series], rows: labels.map((label, at) => [label, ...series.map((_, i) => this.#value(i, at))]) }];
  }

  /** Where everything stands in a picture of this width. */
  #measure(context, width) {
    const { labels, values, top: most, height, title, value_title: upright } = this.data, known = values.filter(Number.isFinite);
    const low = Math.min(0, ...known), above = most ?? Math.max(0, ...known), high = above > low ? above : 1, marks = ticks(low, high);
    const wide = (text) => context.measureText(text).width;
    const left = Math.max(...marks.map((mark) => wide(written(mark)))) + 2 * AWAY + (upright ? TITLE : 0), w = (width - left - AWAY) / labels.length;
    const longest = labels.reduce((longest, label) => Math.max(longest, wide(label)), 0), level = longest + AWAY <= w;
    const room = level ? TEXT + 2 * AWAY : Math.min(longest + 3 * AWAY, NAMES), bottom = height - room - (title ? TITLE : 0);
    return { left, w, low, high, marks, level, room, bottom, wide: w * labels.length, y: (value) => TEXT + ((high - value) / (high - low)) * (bottom - TEXT) };
  }

  draw() {
    const width = this.root.clientWidth;
    if (!width || !this.data) return;
    this.canvas.style.height = `${this.data.height}px`;
    const colours = theme(this.root), { context } = start(this.canvas, colours);
    this.place = this.#measure(context, width);
    if (this.at !== null) this.#light(context);
    this.#lines(context);
    this.#bars(context);
    this.#names(context, colours);
  }

  #light(context) {
    const { left, w, bottom } = this.place;
    context.globalAlpha = 0.1;
    context.fillRect(left + this.at * w, TEXT, w, bottom - TEXT);
    context.globalAlpha = 1;
  }

  #lines(context) {
    const { left, wide, marks, y } = this.place;
    [context.textAlign, context.textBaseline] = ["right", "middle"];
    for (const mark of marks) {
      context.globalAlpha = mark === 0 ? 0.5 : 0.15;
      line(context, left, y(mark), left + wide, y(mark));
      context.globalAlpha = 1;
      context.fillText(written(mark), left - AWAY, y(mark));
    }
  }

  #bars(context) {
    const { left, w, y } = this.place, { labels, series } = this.data, thick = ((1 - GAP) * w) / series.length;
    series.forEach((_, i) => labels.forEach((_, at) => {
      const value = this.#value(i, at);
      if (!Number.isFinite(value)) return;
      context.fillStyle = this.#hue(i, at);
      context.fillRect(left + (at + GAP / 2) * w + i * thick, Math.min(y(0), y(value)), thick, Math.abs(y(value) - y(0)));
    }));
  }

  #names(context, colours) {
    const { left, w, wide, bottom, room, level } = this.place, { labels, title, value_title: upright, height } = this.data;
    context.fillStyle = context.strokeStyle = colours.text;
    if (level) {
      [context.textAlign, context.textBaseline] = ["center", "top"];
      labels.forEach((label, at) => context.fillText(label, left + (at + 0.5) * w, bottom + AWAY));
    } else columnNames(context, labels, left, bottom, room, w, "below");
    [context.textAlign, context.textBaseline] = ["center", "alphabetic"];
    context.fillText(title, left + wide / 2, height - AWAY);
    context.save();
    context.translate(TEXT, (TEXT + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(upright, 0, 0, bottom);
    context.restore();
  }

  /** A value as it is read off: four digits behind the point, or, of what is smaller than these show, four in all. */
  #read(series, at) {
    const value = this.#value(series, at), isSmall = value !== 0 && Math.abs(value) < LEAST;
    if (!Number.isFinite(value)) return "–";
    return written(this.areCounts || isSmall ? Number(value.toPrecision(4)) : value.toFixed(4));
  }

  /** The place under the pointer; null beside the bars. */
  #under(event) {
    if (!this.place) return null;
    const { left, w, bottom } = this.place, [x, y] = place(this.canvas, event), at = Math.floor((x - left) / w);
    return at >= 0 && at < this.data.labels.length && y <= bottom ? at : null;
  }

  /** Read a place off, or none. */
  look(at) {
    const { labels, series } = this.data;
    this.at = at;
    this.draw();
    this.tip.hidden = at === null;
    if (at === null || !this.place) return;
    const values = series.map((name, i) => (series.length > 1 ? `${name} ${this.#read(i, at)}` : this.#read(i, at)));
    this.tip.textContent = `${labels[at]}: ${values.join(" · ")}`;
    const { left, w, y } = this.place, free = this.root.clientWidth - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(free, left + (at + 0.5) * w - this.tip.offsetWidth / 2))}px`;
    const heights = series.map((_, i) => y(this.#value(i, at) || 0)), above = this.picture.offsetTop + Math.min(...heights) - this.tip.offsetHeight - AWAY;
    this.tip.style.top = `${Math.max(0, above)}px`;
  }
}

function written(value) {
  return String(value).replaceAll("-", "−");
}
