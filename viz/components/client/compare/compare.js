// Two texts side by side: a head's map on either and their difference, under one crosshair; one row as paired bars; and
// every head's difference as a small map, those that change most first.
//
// Python mounts this module three times (pages/heads/compare/picture.py): with the small maps, with one head's two
// maps, and with words and choices, which is what is seen. So choosing a head does not send the small maps again.

import { unpack } from "../lib/bytes.js";
import { mapColours, scoreColour } from "../lib/colour.js";
import { moveCell } from "../lib/clamp.js";
import { ARROWS, element, fill, segments } from "../lib/dom.js";
import { placeOf } from "../lib/fit.js";
import { LargeMap } from "../plot/scroll_map.js";
import { View, mount, spoken } from "../lib/view.js";
import { wallValue } from "../lib/numbers.js";
import { Channels } from "../lib/channels.js";
import { place } from "../lib/place.js";
import { Bars } from "../plot/bars.js";
import { colourStrip, legendKey } from "../plot/legend.js";
import { Wall } from "../head_grid/wall.js";
import { mapsOf, say, signed } from "./two.js";
import { mapTable } from "../plot/tables.js";

const channels = new Channels(); // of each: wall, two, view
const NOTHING = Object.freeze({ query: null, key: null });
const SIDES = ["a", "b", "difference"];

const show = mount((parent, data) => new Comparison(parent, data.channel));

export default (message) => (message.data instanceof Uint8Array ? channels.keep(unpack(message.data)) : show(message));

class Comparison extends View {
  choice;
  wall;
  two;

  constructor(parent, channel) {
    super(parent, "comparison", { of: (root) => [root.clientHeight, placeOf(root)] });
    this.channel = channel;
    channels.of(channel).view = this;
    this.hover = this.cursor = null;
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.point(null));
  }

  close() {
    super.close();
    this.panel?.bars.close();
    const parts = channels.of(this.channel);
    if (parts.view === this) parts.view = null;
  }

  /** Receive words and choices; an answer to an older choice is ignored. */
  receive(data) {
    this.next = data;
    if (data.sent >= this.sent) [this.choice, this.sent] = [{ ...data.choice }, data.sent];
    this.refresh();
  }

  change(values) {
    Object.assign(this.choice, values);
    this.send("choice", { ...this.choice });
    this.refresh();
  }

  // --- from data to pictures ------------------------------------------------------------------------------------

  refresh() {
    const { wall, two } = channels.of(this.channel);
    if (this.next && wall?.id === this.next.wall && two?.id === this.next.two)
      [this.data, this.wall, this.two] = [this.next, wall, two];
    if (!this.data) return;
    const { words, labels, titles } = this.data,
      spelled = JSON.stringify([words, labels, titles, this.wall.order]);
    if (spelled !== this.spelled) this.#build();
    this.spelled = spelled;
    this.palette = mapColours(this.root, this.data.hues, this.palette);
    this.panel.title.textContent = fill(words[this.data.fixed ? "heads_of" : "layer_head"], {
      ...this.choice,
      ...this.data.models,
    });
    this.panel.maps.classList.toggle("waiting", this.data !== this.next || !this.#isShown());
    this.panel.what.show(this.choice.compared);
    this.maps = mapsOf(this.two);
    SIDES.forEach((side) => {
      const view = this.views[side];
      [view.focus, view.locked, view.measured] = [this.focus, this.locked, labels.difference];
      view.show(this.maps[side], labels[side], labels[side], this.palette);
    });
    this.#wall();
    this.#legend();
    this.light();
  }

  /** True if the maps belong to the head selected last. */
  #isShown() {
    const { choice, two } = this;
    return (
      two.what === choice.compared &&
      JSON.stringify(two.heads) === JSON.stringify([[choice.layer, choice.head], this.#second()])
    );
  }

  #second() {
    const { choice } = this;
    return this.data.fixed ? [choice.layer_b, choice.head_b] : [choice.layer, choice.head];
  }

  #build() {
    this.panel?.bars.close();
    const { words, titles } = this.data,
      panel = {
        what: segments(
          words.compared,
          [
            ["weights", words.weights],
            ["arrives", words.arrives],
          ],
          (compared) => this.change({ compared }),
        ),
        title: element("h3", "title"),
        says: element("p", "says"),
        maps: element("div", "three"),
        bars: new Bars(this.root, "bars"),
        legend: element("div", "legend", { "aria-hidden": "true" }),
        wall: element("div"),
        order: element("p", "order", {}, words[this.wall.order[0]]),
        note: element("p", "note keys", {}, words.keys_help),
        live: spoken("live", "div"),
      };
    this.panel = panel;
    this.views = Object.fromEntries(
      SIDES.map((side, i) => {
        const figure = element("figure", "side"),
          large = element("div", "large", { tabindex: "0", role: "application", "aria-roledescription": words.map });
        const name = element("figcaption", "name", {}, titles[i]);
        name.dir = "auto";
        large.setAttribute("aria-label", titles[i]);
        figure.append(name, large);
        panel.maps.append(figure);
        const view = new LargeMap(large);
        this.#listen(view.element, (event) => view.at(event));
        large.addEventListener("keydown", (event) => this.#walk(event));
        return [side, view];
      }),
    );
    this.#listen(panel.bars.picture, (event) => this.#overBars(event));
    const wall = new Wall(panel.wall);
    this.thumbs = wall;
    wall.element.addEventListener("pointermove", (event) => this.point(this.#overWall(event)));
    wall.element.addEventListener("pointerleave", () => this.point(null));
    wall.element.addEventListener("click", (event) => this.#choose(event.target.closest?.(".thumb")));
    this.root.replaceChildren(
      panel.maps,
      panel.legend,
      panel.title,
      panel.says,
      panel.what.element,
      panel.bars.root,
      panel.note,
      panel.order,
      panel.wall,
      panel.live,
    );
    this.hover = this.cursor = null;
  }

  #listen(element, at) {
    element.addEventListener("pointermove", (event) => this.point(at(event)));
    element.addEventListener("pointerleave", () => this.point(null));
    element.addEventListener("click", (event) => this.lock(at(event)));
  }

  #wall() {
    const { wall, thumbs, palette, data } = this,
      [layer, head] = this.#second();
    thumbs.show(wall, { sort: wall.order[0], show: "all" }, { ...data.words }, palette, null);
    thumbs.mark({ layer, head, combine: "one" }, [], []);
  }

  #legend() {
    const { two, data } = this,
      { words } = data,
      limit = this.maps.difference.limit;
    const end = two.what === "weights" ? "1" : limit.toPrecision(2),
      pixel = (share) => scoreColour(this.palette.scores, 2 * share - 1);
    this.panel.legend.replaceChildren(
      ...colourStrip([`−${end}`, `+${end}`], pixel, words.legend),
      ...(this.maps.difference.masked ? [legendKey(words.legend_missing)] : []),
    );
  }

  resized() {
    requestAnimationFrame(() => this.#fit());
  }

  #fit() {
    if (!this.views || !this.root.clientWidth) return;
    if (!SIDES.filter((side) => this.views[side].refit()).length) return;
    this.light();
  }

  /** For the menu of the picture: both maps and their difference; nothing where a text has no such cell. */
  asTables() {
    const { labels, titles } = this.data,
      { limit } = this.two;
    return SIDES.map((side, which) => {
      const { values, masked } = this.maps[side],
        scale = side === "difference" ? 1 : limit;
      const cell = (at) => (masked?.[at] ? null : values[at] * scale);
      return mapTable(labels[side], labels[side], cell, titles[which]);
    });
  }

  /** The elements that the menu saves: without the small maps. */
  asPictures() {
    const { title, says: sentence, maps, legend, bars } = this.panel;
    return [title, sentence, maps, legend, bars.root];
  }

  // --- what is pointed at ---------------------------------------------------------------------------------------

  /** The row that is locked: the slot of a token of the first text. */
  get locked() {
    const slot = this.data.of[this.choice.query] ?? -1;
    return slot < 0 ? NOTHING : { query: slot, key: null };
  }

  get focus() {
    return this.hover ? { query: this.hover.query ?? this.locked.query, key: this.hover.key } : this.locked;
  }

  /** Follow the pointer, at most once a frame. */
  point(hover) {
    this.hover = hover;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.light();
    });
  }

  light() {
    if (!this.maps || !this.root.clientWidth) return;
    const { focus, locked, hover, panel, data, wall } = this,
      { words, labels } = data;
    for (const side of SIDES) this.views[side].draw(focus, locked);
    this.thumbs.light(focus, wall);
    this.#showRow(focus.query ?? 0, focus.key);
    const spelled = { ...labels, both: labels.difference };
    const sentence = say(words, this.maps, this.two, spelled, focus);
    panel.says.textContent = hover?.index === undefined ? sentence : this.#sayThumb(hover, spelled);
  }

  /** One row of both maps as paired bars, hatched where a text has no such token; `key` is the slot that is looked at. */
  #showRow(row, key) {
    const { data, maps, panel, two } = this,
      { bars } = panel,
      { words, labels, hues, titles } = data,
      n = maps.a.columns;
    if (this.barsOf !== maps || this.barsRow !== row)
      bars.receive({
        labels: labels.difference,
        series: titles.slice(0, 2),
        values: Float32Array.from({ length: 2 * n }, (_, at) => {
          const { values, masked } = at < n ? maps.a : maps.b,
            cell = row * n + (at % n);
          return masked?.[cell] ? NaN : values[cell] * two.limit;
        }),
        hues: [hues.grey, hues.heads[2]],
        hatches: true,
        title: "",
        value_title: "",
        height: 230,
        words: { alt: fill(words.bars_alt, { q: labels.difference[row] }) },
      });
    this.barsOf = maps;
    this.barsRow = row;
    if (bars.at === key) return;
    [bars.at, bars.tip.hidden] = [key, true]; // the sentence above says what is pointed at in a map
    bars.draw();
  }

  #sayThumb({ query, key, index, button }, labels) {
    const { wall, data } = this,
      { pool } = wall,
      row = Math.floor(query / pool),
      column = Math.floor(key / pool);
    const value = wallValue(wall, index, wall.values[(index * wall.rows + row) * wall.columns + column]);
    const name = fill(data.words.layer_head, { layer: button.layer, head: button.head }),
      [q, k] = [labels.both[query], labels.both[key]];
    // The code of a number is right to two decimals.
    const d = value === -Infinity ? "–" : signed(value).slice(0, -2);
    return `${name}: ${fill(pool > 1 ? data.words.says_near : data.words.says_thumb, { q, k, d })}`;
  }

  say() {
    this.panel.live.textContent = this.panel.says.textContent;
  }

  #overWall(event) {
    const at = this.thumbs.at(event, this.wall);
    return at && { ...at, index: at.button.index };
  }

  #overBars(event) {
    const { bars } = this.panel,
      key = bars.under(place(bars.canvas, event));
    return key === null ? null : { query: this.locked.query ?? 0, key };
  }

  // --- what is chosen -------------------------------------------------------------------------------------------

  /** Lock the row that was pointed at; a row of the second text alone can be pointed at only. */
  lock(hit) {
    this.hover = hit;
    const token = hit?.query === null || !hit ? -1 : this.data.of.indexOf(hit.query);
    if (token >= 0 && this.data.of[this.choice.query] !== hit.query) this.change({ query: token });
    else this.light();
    this.say();
  }

  #choose(button) {
    if (!button) return;
    const { layer, head } = button;
    this.change(this.data.fixed ? { layer_b: layer, head_b: head } : { layer, head });
    this.panel.live.textContent = this.panel.title.textContent;
  }

  #walk(event) {
    const step = ARROWS[event.key],
      n = this.maps.a.columns;
    if (step) {
      const from = this.cursor ?? { query: this.locked.query ?? 0, key: this.focus.key ?? 0 };
      const [query, key] = moveCell([from.query, from.key], step, [n, n]);
      this.cursor = this.hover = { query, key };
      for (const side of SIDES) this.views[side].reveal(this.cursor);
      this.light();
      this.say();
    } else if ((event.key === "Enter" || event.key === " ") && this.hover) this.lock(this.hover);
    else return;
    event.preventDefault();
  }
}
