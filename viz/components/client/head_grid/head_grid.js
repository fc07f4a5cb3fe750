// The head grid: every head at once, one of them large, everything alive under the pointer.
//
// Python mounts this module three times (viz/frame/head_grid/grid.py): twice with bytes, which are only kept (the wall,
// the head), and once with words and choices, which is what is seen. Streamlit calls the function again with every
// change and keeps the page's elements; so the grid lives in a map, with its scroll, zoom and what is under the
// pointer.

import { View, mount } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { css, mapColours } from "../lib/colour.js";
import { LargeMapModel } from "./large_map_model.js";
import { fill } from "../lib/dom.js";
import { walkMap } from "./keys.js";
import { placeOf } from "../lib/fit.js";
import { LargeMap } from "../plot/scroll_map.js";
import { FAINT, Lines, MOST } from "./lines.js";
import { numberOf, wallValue } from "../lib/numbers.js";
import { answerCells, coveredCells } from "../lib/covers.js";
import { Channels } from "../lib/channels.js";
import { buildPanel, showLegend, showLock } from "./panel.js";
import { mapTable } from "../plot/tables.js";
import { savePng, saveSvg } from "../figure/canvas.js";
import { sayLarge, sayThumb, describeMap } from "../lib/describe.js";
import { Tokens } from "./tokens.js";
import { Wall } from "./wall.js";

const channels = new Channels(); // of each: wall, head, view
const NOTHING = Object.freeze({ query: null, key: null });

/** The first token of each row, or column, that is shown. */
function firstTokens({ labels, of }) {
  const first = labels.map(() => -1);
  of.forEach((place, token) => {
    if (place >= 0 && first[place] < 0) first[place] = token;
  });
  return first;
}

const show = mount((parent, data) => new Grid(parent, data.channel));

/** Numbers come as bytes, or taken apart already (take_away.js); words and choices as an object of their own. */
export default (props) => {
  const { data } = props;
  if (data instanceof Uint8Array) return channels.keep(unpack(data));
  return data.kind ? channels.keep(data) : show(props);
};

class Grid extends View {
  choice;
  syncedChoice;
  wall;
  spelled;
  labels;
  head;

  constructor(parent, name) {
    super(parent, "head-grid", { handle: "headGrid", of: (root) => [root.clientHeight, placeOf(root)] });
    this.channel = name;
    channels.of(name).view = this;
    this.current = new LargeMapModel();
    this.hover = null;
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.unlock());
  }

  close() {
    super.close();
    clearTimeout(this.timer);
    const parts = channels.of(this.channel);
    if (parts.view === this) parts.view = null; // the bytes stay: another page's grid may be waiting for them already
  }

  /**
   * Receive words and choices from Python; an answer to an older choice is ignored, which Python repeats with every
   * run.
   */
  receive(data) {
    this.next = data;
    const message = JSON.stringify([data.choice, data.sent]);
    if (data.sent >= this.sent && message !== this.syncedChoice)
      [this.choice, this.sent, this.syncedChoice] = [{ ...data.choice }, data.sent, message];
    this.refresh();
  }

  tell(delay = 0) {
    clearTimeout(this.timer);
    const number = ++this.sent;
    this.timer = setTimeout(() => this.send("choice", { ...this.choice }, number), delay);
  }

  change(values, delay = 0) {
    Object.assign(this.choice, values);
    this.tell(delay);
    this.refresh();
  }

  // --- from data to pictures ------------------------------------------------------------------------------------

  refresh(part) {
    if (part?.kind === "head" && part.id !== this.next?.head) return; // what says that it is to be drawn comes next
    const { wall, head } = channels.of(this.channel);
    if (this.next && wall?.id === this.next.wall) this.data = this.next;
    if (!this.data || wall?.id !== this.data.wall) return;
    Object.assign(this, { wall, head: head?.id === this.data.head ? head : null });
    const { axes, words } = this.data;
    const numbers = { rows: firstTokens(axes.queries), columns: firstTokens(axes.keys) };
    const labels = { rows: axes.queries.labels, columns: axes.keys.labels, numbers },
      spelled = JSON.stringify(labels);
    const isNew = spelled !== this.spelled;
    if (isNew) this.hover = this.cursor = this.written = null; // other tokens: nothing is pointed at
    const box = isNew && this.panel?.large.getBoundingClientRect(),
      isOffScreen = box && box.top + box.bottom < 0;
    [this.labels, this.spelled] = [labels, spelled];
    this.locked = this.#locked();
    if (this.words !== JSON.stringify(words)) this.#build();
    this.palette = mapColours(this.root, this.data.hues, this.palette);
    this.#wall();
    this.#large();
    this.light();
    // From a sentence to try below it: that sentence is what is looked for.
    if (isOffScreen) this.panel.name.scrollIntoView();
  }

  #build() {
    const { words, axes } = this.data;
    this.words = JSON.stringify(words);
    const panel = buildPanel(this.root, words, this.wall.order, {
      sort: (sort) => this.change({ sort }),
      show: (show) => this.change({ show }),
      look: (look) => this.change({ look }),
      combine: (how) => this.change({ combine: how }),
      zoom: (factor) => this.large.zoomBy(factor),
      save: (kind) => this.save(kind),
      temperature: (value, isFinal) => this.heat(value, isFinal),
    });
    this.panel = panel;
    const wall = new Wall(panel.wall);
    this.thumbs = wall;
    this.maps = new LargeMap(panel.large);
    this.lines = new Lines(panel.large);
    this.texts = axes.same
      ? [new Tokens(panel.tokens, "both", words.tokens)]
      : [new Tokens(panel.tokens, "query", words.queries), new Tokens(panel.tokens, "key", words.keys)];
    this.written = this.palette = this.lockShown = null;
    this.#listen(
      wall.element,
      (event) => this.#overWall(event),
      (event) => this.#clickWall(event),
    );
    for (const view of [this.maps, this.lines]) {
      this.#listen(
        view.element,
        (event) => view.at(event),
        (event) => this.lock(view.at(event)),
      );
    }
    for (const text of this.texts) {
      const at = (event) => text.at(event, this.locked);
      this.#listen(text.element, at, (event) => this.lock(at(event)));
    }
    panel.large.addEventListener("keydown", (event) => walkMap(this, event));
  }

  #listen(place, at, click) {
    place.addEventListener("pointermove", (event) => this.point(at(event)));
    place.addEventListener("pointerleave", () => {
      this.pressed = null;
      this.point(null);
    });
    place.addEventListener("click", (event) => {
      this.cursor = null;
      click(event);
    });
  }

  #wall() {
    const { wall, choice, thumbs, panel } = this,
      { words, links } = this.data;
    const pair = this.pair(links);
    const sort = choice.sort === "link" && !pair ? "model" : choice.sort;
    thumbs.show(wall, { ...choice, sort }, words, this.palette, pair, coveredCells(this.data.covers));
    thumbs.mark(choice, choice.combine === "one" ? [] : this.together(), this.data.hues.heads);
    panel.sort.list.value = choice.sort;
    if (panel.sort.list.selectedIndex < 0) panel.sort.list.value = "model"; // this wall has no such number
    panel.show.show(choice.show);
    const notes = [],
      { n_queries, n_keys } = wall;
    const sizes = n_queries === n_keys ? n_keys : `${n_queries} × ${n_keys}`;
    if (wall.pool > 1) notes.push(fill(words.pooled, { p: wall.pool, n: sizes }));
    if (choice.sort === "link" && !pair) notes.push(words.sort_link_hint);
    if (sort !== "model") notes.push(words[`sorted_${sort}`]);
    panel.note.textContent = notes.join(" ");
  }

  /** The value of the locked pair in every head, or null; a pooled wall cannot tell, then Python does. */
  pair(links) {
    const { wall } = this,
      { query, key } = this.locked;
    if (query === null || key === null) return null;
    if (wall.pool > 1) return links;
    if (coveredCells(this.data.covers).has(query * wall.columns + key)) return null;
    const size = wall.rows * wall.columns,
      at = query * wall.columns + key;
    const heads = { length: wall.n_layers * wall.n_heads };
    return Array.from(heads, (_, i) => wallValue(wall, i, wall.values[i * size + at]));
  }

  /** Heads taken together, counted over all layers: those chosen, else the layer's. */
  together() {
    const { several, layer } = this.choice,
      { n_heads } = this.wall;
    return several.length ? several : Array.from({ length: n_heads }, (_, head) => layer * n_heads + head);
  }

  #large() {
    const { panel, choice, labels, palette, wall } = this,
      { words } = this.data;
    const scores = wall.what === "scores",
      lines = choice.look !== "map" && !scores;
    const map = this.current.map(this.wall, this.head, this.choice, this.data.axes, this.together());
    panel.large.classList.toggle("waiting", !map);
    this.large = lines ? this.lines : this.maps;
    this.maps.element.hidden = lines;
    this.lines.element.hidden = !lines;
    panel.look.element.hidden = panel.combine.element.hidden = scores;
    panel.zoom.element.hidden = lines;
    panel.hint.hidden = scores || choice.combine === "one";
    panel.look.show(choice.look);
    panel.axes.textContent = fill(words[lines ? `axes_${choice.look}` : "axes"], { least: FAINT, most: MOST });
    panel.combine.show(choice.combine);
    panel.temperature.element.hidden = scores;
    panel.temperature.show(choice, choice.combine !== "one" || Boolean(this.data.covers?.open || map?.pooled));
    if (!map) return; // on its way: what is drawn stays, dimmed
    this.map = this.#withCovers(map);
    [this.large.focus, this.large.locked] = [this.focus, this.locked];
    this.large.show(this.map, labels.rows, labels.columns, palette, choice.look === "across");
    for (const text of this.written ? [] : this.texts) text.show(text.along === "key" ? labels.columns : labels.rows);
    this.written = true;
    panel.name.textContent = this.name();
    panel.large.setAttribute(
      "aria-label",
      map.pooled ? this.name() : describeMap(words, this.map, labels, this.name()),
    );
    const byHead = choice.combine === "max" && map.winner ? this.together().slice(0, this.palette.list.length) : [];
    const hues = byHead.map((index, i) => ({ name: this.place(index), colour: css(this.palette.list[i]) }));
    showLegend(panel, words, palette, map.limit, map.masked, hues);
  }

  /** The map with the cells that a lesson's open question covers and those of its answer. */
  #withCovers(map) {
    const { covers } = this.data;
    return { ...map, covered: coveredCells(covers), told: answerCells(covers), word: covers?.word };
  }

  /** For the menu of the picture: every head, and the large map with its name and what is said of it. */
  asPictures() {
    const { wall, legend, name, says: sentence, large } = this.panel;
    return [wall, legend, name, sentence, large];
  }

  draw() {
    this.thumbs.draw();
    this.light();
  }

  /** The numbers of the large map. */
  asTables() {
    if (this.map.pooled) return [];
    const { values, covered } = this.map,
      { rows, columns } = this.labels;
    return [mapTable(rows, columns, (at) => (covered.has(at) ? "?" : values[at]), this.name())];
  }

  save(kind) {
    const { layer, head } = this.choice;
    const name = `headlight-layer${numberOf(this.wall, layer)}-head${head}`;
    const { large } = this,
      { background } = this.palette.theme;
    if (kind === "svg") saveSvg(large.canvas, () => large.draw(), background, name);
    else savePng(large.canvas, background, name);
  }

  name() {
    const { words } = this.data,
      { layer, head, combine: how } = this.choice;
    if (how === "one" || this.wall.what === "scores") return this.headName(layer, head);
    return fill(words[`name_${how}`], { n: this.together().length });
  }

  /** A head by its layer's number in the model. */
  headName(layer, head) {
    return fill(this.data.words.layer_head, { layer: numberOf(this.wall, layer), head });
  }

  place(index) {
    return `${numberOf(this.wall, Math.floor(index / this.wall.n_heads))}·${index % this.wall.n_heads}`;
  }

  // --- what is pointed at ---------------------------------------------------------------------------------------

  get locked() {
    return this._locked ?? NOTHING;
  }

  set locked(value) {
    this._locked = value;
  }

  #locked() {
    const { queries, keys } = this.data.axes,
      { query, key } = this.choice;
    const of = (axis, token) => ((axis.of[token] ?? -1) < 0 ? null : axis.of[token]);
    return { query: of(queries, query), key: of(keys, key) };
  }

  get focus() {
    const { hover, locked } = this;
    return hover ? { query: hover.query ?? locked.query, key: hover.key ?? locked.key } : locked;
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
    if (!this.map) return;
    const { panel, map, labels, hover } = this,
      { words } = this.data;
    this.locked = this.#locked();
    const { focus, locked } = this;
    this.thumbs.light(focus, this.wall);
    this.large.draw(focus, locked);
    const from = focus.query * map.columns,
      asks = focus.query !== null && !map.limit;
    const row = asks ? map.values.subarray(from, from + map.columns) : null;
    for (const text of this.texts) text.light(focus, locked, text.along === "query" ? null : row, this.palette.blue);
    const name = hover?.index === undefined ? "" : this.headName(hover.layer, hover.head);
    panel.name.textContent = name || this.name(); // of the head that the sentence below it is about
    panel.says.textContent = name
      ? sayThumb(words, this.wall, labels, hover, name, map)
      : map.pooled
        ? this.#sayBlock(focus)
        : sayLarge(words, map, labels, focus, (place) => this.headName(...this.#apart(this.together()[place])));
    panel.says.toggleAttribute("data-asks", !name && focus.query === null && focus.key === null);
    const spelled = JSON.stringify([locked, labels.rows[locked.query], labels.columns[locked.key]]);
    if (spelled !== this.lockShown) showLock(panel, words, locked, labels, { unlock: (along) => this.unlock(along) });
    this.lockShown = spelled;
  }

  /** Of a head whose small map alone is at hand: the block under the pointer. */
  #sayBlock({ query, key }) {
    const { layer, head, combine: how } = this.choice,
      index = layer * this.wall.n_heads + head;
    const isBlock = query !== null && key !== null && how === "one";
    return isBlock ? sayThumb(this.data.words, this.wall, this.labels, { query, key, index }, this.name()) : "";
  }

  #apart(index) {
    return [Math.floor(index / this.wall.n_heads), index % this.wall.n_heads];
  }

  say() {
    this.panel.live.textContent = this.panel.says.textContent;
  }

  // --- what is chosen -------------------------------------------------------------------------------------------

  /** Lock a pair, a row or a column; what is locked already is unlocked. Tokens are counted as the text has them. */
  lock(hit) {
    if (!hit) return;
    const { queries, keys } = this.data.axes,
      { locked } = this,
      { query, key } = hit;
    const token = (axis, place) => axis.of.indexOf(place);
    if (query !== null && key !== null) {
      const same = locked.query === query && locked.key === key;
      this.change(same ? { query: -1, key: -1 } : { query: token(queries, query), key: token(keys, key) });
    } else if (query !== null) this.change({ query: locked.query === query ? -1 : token(queries, query) });
    else this.change({ key: locked.key === key ? -1 : token(keys, key) });
    this.say();
  }

  resized() {
    requestAnimationFrame(() => this.large?.refit());
  }

  unlock(along) {
    if (this.choice.query < 0 && this.choice.key < 0) return;
    this.hover = null;
    this.change(along ? { [along]: -1 } : { query: -1, key: -1 });
    this.say();
  }

  choose(layer, head, delay) {
    const { n_layers, n_heads } = this.wall;
    if (layer < 0 || head < 0 || layer >= n_layers || head >= n_heads) return;
    this.hover = null; // the sentence is of the head that was chosen
    this.change({ layer, head }, delay);
    this.panel.live.textContent = `${this.name()}. ${this.panel.says.textContent}`;
  }

  heat(temperature, isFinal) {
    this.choice.temperature = temperature;
    if (isFinal) this.tell();
    this.heating ??= requestAnimationFrame(() => {
      this.heating = null;
      this.warm();
    });
  }

  /** One frame of a dragged temperature. */
  warm() {
    this.panel.temperature.show(this.choice, false);
    const map = this.current.map(this.wall, this.head, this.choice, this.data.axes, this.together());
    if (!map) return;
    this.map = this.#withCovers(map);
    this.large.update(this.map);
    this.light();
  }

  #overWall(event) {
    const at = this.thumbs.at(event, this.wall);
    if (at?.button !== this.pressed) this.pressed = null;
    return (
      at &&
      !this.pressed && {
        query: at.query,
        key: at.key,
        index: at.button.index,
        layer: at.button.layer,
        head: at.button.head,
      }
    );
  }

  #clickWall(event) {
    const button = event.target.closest?.(".thumb");
    if (!button) return;
    this.pressed = button; // it is pointed at once more when the pointer has left it
    if (this.choice.combine === "one" || this.wall.what === "scores") this.choose(button.layer, button.head);
    else {
      const now = this.together();
      const rest = now.filter((index) => index !== button.index);
      const several = rest.length < now.length ? rest : [...now, button.index];
      this.hover = null; // name and sentence are of the heads together
      this.change({ several });
    }
  }
}
