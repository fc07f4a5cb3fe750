// The head grid away from the app: in a notebook's cell, or in a file. Every head is here, compressed; what Python does
// for the grid in the app (the scores of the chosen head, several heads of a large wall together) is done here.
//
// `data` is the model of a widget, as anywidget has it: get, set, save_changes, on and off. A file brings one that
// keeps.

import { element, fill, segments } from "../lib/dom.js";
import { regroup } from "../lib/numbers.js";
import { default as showGrid } from "../head_grid/head_grid.js";
import { Answers } from "./answers.js";
import { codes, inflate, logarithms, open, wallOf } from "./decode.js";
import { dress, watchTheme } from "./theme.js";

const NUMBERS = ["layer", "head", "query", "key", "temperature"];
const NAMES = [...NUMBERS, "sort", "show", "look", "combine", "several"];
const TOP = 65535;
let views = 0; // two in one notebook have nothing in common

export default (props) => {
  const away = new Away(props.parentElement, props.data);
  return () => away.close();
};

/** Heads counted over all layers, as pairs of layer and head in the model's order. */
function pairsOf(heads, n_heads) {
  return [...heads].sort((a, b) => a - b).map((i) => [Math.floor(i / n_heads), i % n_heads]);
}

class Away {
  header;
  body;

  constructor(parent, model) {
    this.model = model;
    this.channel = `away-${++views}`;
    this.root = element("div", "take-away");
    this.root.away = this; // for the browser's tests
    this.bar = element("div", "stacks");
    this.note = element("p", "pooled", { role: "status" });
    this.place = element("div");
    this.root.append(this.bar, this.note, this.place);
    parent.append(this.root);
    const bytes = model.get("data"); // a DataView in a notebook
    const { header, body } = open(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    Object.assign(this, { header, body });
    this.answers = new Answers(model);
    this.follow = () => this.#follow();
    for (const name of [...NAMES, "stack"]) model.on(`change:${name}`, this.follow);
    const dressed = (paper) => {
      dress(this.root, parent, paper === true);
      this.#show();
    };
    dressed();
    this.unwatch = watchTheme(dressed);
    // A notebook makes a view before it has a place for it: only there are colours around.
    this.observer = new ResizeObserver(
      ([
        {
          contentRect: { width },
        },
      ]) => {
        if (width > 0 && !this.width) dressed();
        this.width = width;
      },
    );
    this.observer.observe(this.root);
    // Keys are the grid's: in a notebook 0 0 would start the kernel again.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    if (header.stacks.length > 1) this.#bar();
    this.ready = this.#open(this.#asked());
  }

  close() {
    for (const name of [...NAMES, "stack"]) this.model.off(`change:${name}`, this.follow);
    this.answers.close();
    this.unwatch();
    this.observer.disconnect();
    this.closeGrid?.();
    this.root.remove();
  }

  #bar() {
    const { around } = this.model.get("words");
    const options = this.header.stacks.map(({ name }) => [name, around[`stack_${name}`]]);
    this.stacks = segments(around.stacks, options, (name) => {
      this.#tell({ stack: name, query: null, key: null, several: [] });
      this.#open(this.#stack(name));
    });
    this.bar.append(this.stacks.element);
  }

  #stack(name) {
    return this.header.stacks.find((stack) => stack.name === name) ?? this.header.stacks[0];
  }

  #asked() {
    return this.#stack(this.model.get("stack"));
  }

  // --- what is chosen: -1 to the grid, nothing to Python --------------------------------------------------------

  /** The model's current selection, limited to what this stack has. */
  #choice() {
    const { n_layers, n_heads, numbers, axes } = this.stack,
      read = (name) => this.model.get(name);
    const at = numbers.indexOf(read("layer"));
    const within = (name, count) => ((read(name) ?? -1) < count ? (read(name) ?? -1) : -1);
    return {
      ...Object.fromEntries(NAMES.map((name) => [name, read(name)])),
      layer: at < 0 ? Math.min(read("layer"), n_layers - 1) : at,
      head: Math.min(read("head"), n_heads - 1),
      query: within("query", axes.queries.of.length),
      key: within("key", axes.keys.of.length),
      several: read("several").filter((index) => index < n_layers * n_heads),
    };
  }

  #tell(values) {
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    this.model.save_changes();
  }

  /** Python has chosen, or another view of the same widget. */
  #follow() {
    clearTimeout(this.soon); // several at once are one change
    this.soon = setTimeout(() => {
      if (this.#asked() !== this.stack) return this.#open(this.#asked());
      const choice = this.#choice();
      if (NAMES.some((name) => JSON.stringify(choice[name]) !== JSON.stringify(this.choice[name])))
        this.#answer(choice);
    });
  }

  // --- from bytes to what the grid is shown ---------------------------------------------------------------------

  async #open(stack) {
    this.stack = stack;
    this.stacks?.show(stack.name);
    const wall = await this.#wall(stack);
    if (this.stack !== stack) return; // another was chosen meanwhile
    this.closeGrid?.();
    this.n = 0; // a new grid has told nothing yet
    this.#keep(wall);
    this.wall = wall;
    [this.head, this.links] = [null, null];
    this.choice = this.#choice();
    this.#show();
    await this.#answer(this.choice);
  }

  #part([at, length]) {
    return inflate(this.body.subarray(at, at + length));
  }

  async #wall(stack) {
    const { n_layers, n_heads, rows, columns } = stack,
      size = rows * columns,
      n = n_layers * n_heads,
      id = stack.name;
    if (stack.wall) return wallOf(stack, codes(await this.#part(stack.wall), n * size), id);
    const values = new Uint16Array(n * size);
    const heads = stack.heads.map(async (head, i) => values.set(codes(await this.#part(head), size), i * size));
    await Promise.all(heads);
    return wallOf(stack, values, id);
  }

  #keep(packed) {
    showGrid({ data: Object.assign(packed, { channel: this.channel }) });
    return packed;
  }

  #sizes() {
    const { queries, keys } = this.stack.axes;
    return { rows: queries.of.length, columns: keys.of.length };
  }

  async #weights(index) {
    const { rows, columns } = this.#sizes(),
      { queries, keys, renormalise, plain } = this.stack.axes;
    const weights = Float32Array.from(
      codes(await this.#part(this.stack.heads[index]), rows * columns),
      (code) => code / TOP,
    );
    return plain ? weights : regroup(weights, queries, keys, renormalise);
  }

  async #scores(layer, head) {
    const { rows, columns } = this.#sizes(),
      place = this.stack.heads[layer * this.stack.n_heads + head];
    const { packed, low, high } = place ? this.#packed(place) : await this.#fetchHead(layer, head);
    const scores = logarithms(await inflate(packed), rows * columns, low, high);
    const id = `${this.stack.name} ${layer} ${head}`;
    return { kind: "head", id, codec: "float32", coarse: true, layer, head, rows, columns, scores };
  }

  #packed([at, length, low, high]) {
    return { packed: this.body.subarray(at, at + length), low, high };
  }

  async #fetchHead(layer, head) {
    const { answer, bytes } = await this.answers.ask({
      stack: this.stack.name,
      head: layer * this.stack.n_heads + head,
    });
    return { packed: bytes, low: answer.low, high: answer.high };
  }

  /** The heads that a choice shows large, counted over all layers. */
  #headsOf({ combine, several, layer, head }) {
    const { n_heads } = this.stack;
    if (combine === "one") return [layer * n_heads + head];
    return several.length ? several : Array.from({ length: n_heads }, (_, i) => layer * n_heads + i);
  }

  /** The blocks of the small maps in the place of cells that are not there, or not yet. */
  #blocks({ combine, layer, head }, heads) {
    const { rows, columns } = this.#sizes(),
      { wall } = this,
      { pool } = wall,
      size = wall.rows * wall.columns;
    const values = new Float32Array(size);
    for (const index of heads) {
      for (let at = 0; at < size; at++) {
        const value = wall.values[index * size + at];
        values[at] = combine === "mean" ? values[at] + value / heads.length : Math.max(values[at], value);
      }
    }
    const codes = Uint16Array.from(
      { length: rows * columns },
      (_, at) => values[Math.floor(Math.floor(at / columns) / pool) * wall.columns + Math.floor((at % columns) / pool)],
    );
    const of = combine === "one" ? { layer, head } : { combined: combine, heads: pairsOf(heads, this.stack.n_heads) };
    return {
      kind: "head",
      id: `blocks ${JSON.stringify(of)}`,
      codec: "weights",
      pooled: true,
      rows,
      columns,
      codes,
      ...of,
    };
  }

  /** Several heads of a wall that is too coarse for it. */
  async #together(how, heads) {
    if (heads.some((index) => !this.stack.heads[index])) {
      const pairs = pairsOf(heads, this.stack.n_heads),
        id = JSON.stringify([how, pairs]);
      const { bytes } = await this.answers.ask({ stack: this.stack.name, combine: how, heads });
      const codes = new Uint16Array(bytes.slice().buffer);
      return { kind: "head", id, codec: "weights", combined: how, heads: pairs, codes };
    }
    const { queries, keys } = this.stack.axes,
      { n_heads } = this.stack,
      { length } = heads;
    const values = new Float32Array(queries.count * keys.count);
    for (const index of heads) {
      const weights = await this.#weights(index);
      for (let at = 0; at < values.length; at++) {
        values[at] = how === "mean" ? values[at] + weights[at] / length : Math.max(values[at], weights[at]);
      }
    }
    const pairs = pairsOf(heads, n_heads);
    const packed = Uint16Array.from(values, (value) => Math.round(value * TOP)),
      id = JSON.stringify([how, pairs]);
    return { kind: "head", id, codec: "weights", combined: how, heads: pairs, codes: packed };
  }

  async #headOf(choice) {
    if (!this.stack.heads.length) return null; // scores: the wall has them all
    if (choice.combine === "one" || this.wall.pool === 1) return this.#scores(choice.layer, choice.head);
    return this.#together(choice.combine, this.#headsOf(choice));
  }

  /** Every head's weight for the locked pair, if the wall alone does not hold it. */
  async #linksOf({ sort, query, key }) {
    if (sort !== "link" || this.wall.pool === 1 || query < 0 || key < 0) return null;
    const { queries, keys } = this.stack.axes,
      at = queries.of[query] * keys.count + keys.of[key];
    if (this.stack.heads.includes(null)) {
      if (!this.answers.canAsk) return null;
      return (await this.answers.ask({ stack: this.stack.name, pair: [query, key] })).answer.values;
    }
    const values = [];
    for (let i = 0; i < this.stack.heads.length; i++) values.push((await this.#weights(i))[at]);
    return values;
  }

  async #answer(choice) {
    this.choice = choice;
    const heads = this.stack.heads.length && this.wall.pool > 1 ? this.#headsOf(choice) : [];
    const isMissing = heads.some((index) => !this.stack.heads[index]),
      { around } = this.model.get("words");
    this.note.textContent = isMissing
      ? fill(around[this.answers.canAsk ? "coming" : "blocks"], { p: this.wall.pool })
      : "";
    if (isMissing) {
      this.head = this.#keep(this.#blocks(choice, heads));
      this.links = null;
      this.#show();
      if (!this.answers.canAsk) return;
    }
    const [head, links] = [await this.#headOf(choice), await this.#linksOf(choice)];
    if (this.choice !== choice) return; // a later one is on its way
    this.note.textContent = "";
    this.head = head && this.#keep(head);
    this.links = links;
    this.#show();
  }

  /** The grid's words; of maps that are not all at hand it is not said that the large one is whole. */
  #words() {
    const { grid, around } = this.model.get("words");
    return this.stack.heads.includes(null) ? { ...grid, pooled: around.pooled_small } : grid;
  }

  #show() {
    if (!this.choice) return;
    const { channel, wall, head, links, n, choice, stack, header } = this;
    this.closeGrid = showGrid({
      parentElement: this.place,
      data: {
        channel,
        sent: n,
        choice,
        links,
        wall: wall.id,
        head: head?.id,
        axes: stack.axes,
        hues: header.colours,
        words: this.#words(),
      },
      setStateValue: (_, { value: choice, sent: number }) => {
        const open = (token) => (token < 0 ? null : token);
        [this.choice, this.n] = [choice, number];
        this.#tell({ ...choice, layer: stack.numbers[choice.layer], query: open(choice.query), key: open(choice.key) });
        this.#answer(choice);
      },
    });
  }
}
