// A text that grows by one token at a time, with the causal mask and without it: which rows stay as they were.

import { View, mount, spoken } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image } from "../lib/canvas.js";
import { css, theme, weightColour, weightTable } from "../lib/colour.js";
import { nameToken } from "../lib/direction.js";
import { element, fill, sentenceOf } from "../lib/dom.js";
import { softmax } from "../lib/numbers.js";
import { firstOf, Player } from "../lib/player.js";
import { partDigits } from "../lib/describe.js";
import { placeOf } from "../lib/fit.js";
import { mapTable } from "../plot/tables.js";
import { begin, finish } from "./square.js";

const MARGIN = 60;

export default mount((parent) => new Growing(parent), unpack);

/** The weights of the first `count` tokens when the others have not come yet; rows of n, 0 where nobody is. */
function rowsWhen(scores, n, count, causal) {
  const masked = Float32Array.from(scores, (score, at) => {
    const query = Math.floor(at / n),
      key = at % n;
    return query < count && key < count && (!causal || key <= query) ? score : -Infinity;
  });
  return softmax(masked, n, n, 1, new Float64Array(n * n));
}

/** The change of each row: half the sum of absolute differences, 0 to 1. */
function rowChanges(before, after, n) {
  return Array.from({ length: n }, (_, query) => {
    let total = 0;
    for (let at = query * n; at < (query + 1) * n; at++) total += Math.abs(after[at] - before[at]);
    return total / 2;
  });
}

class Growing extends View {
  constructor(parent) {
    super(parent, "growing", { of: placeOf });
  }

  close() {
    this.player.pause();
    super.close();
  }

  receive(data) {
    const isNew = this.hasChanged("labels", data.labels),
      at = this.player?.at;
    this.data = data;
    this.table = weightTable(data.hues.positive);
    this.#build();
    this.size.hold();
    this.player.go(isNew ? firstOf(this.root, data.n) : at);
  }

  /** In front of a class the arrow keys go from token to token. */
  walk(places) {
    return this.player.walk(places);
  }

  #build() {
    const { n, words, labels } = this.data;
    this.player?.pause();
    this.player = new Player(n, words, () => this.step());
    this.text = element("p", "text");
    const panes = element("div", "panes", { tabindex: "0" }); // on a phone it is swiped, or moved by the arrow keys
    this.panels = ["causal", "open"].map((kind) => {
      const box = element("div", "pane"),
        canvas = element("canvas", kind, { role: "img", "aria-label": words[kind] });
      const sentence = spoken("found");
      box.append(element("p", "name", {}, words[kind]), canvas, sentence);
      panes.append(box);
      return { kind, canvas, found: sentence };
    });
    this.root.replaceChildren(this.player.element, panes, this.text, element("p", "note", {}, words.note));
    this.labels = labels;
  }

  step() {
    const { n, scores, words } = this.data,
      { at } = this.player;
    sentenceOf(this.text, this.labels.slice(0, at), at - 1);
    this.found = {};
    for (const { kind, found } of this.panels) {
      const causal = kind === "causal";
      const after = rowsWhen(scores, n, at, causal);
      const before = rowsWhen(scores, n, at - 1, causal);
      const change = rowChanges(before, after, n).slice(0, at - 1),
        most = Math.max(0, ...change);
      this.found[kind] = { weights: after, change, most };
      found.setAttribute("aria-live", this.player.timer ? "off" : "polite");
      found.textContent = fill(most === 0 ? words.same : words.changed, {
        new: nameToken(this.labels, at - 1),
        n: at - 1,
        most: partDigits(most),
        changed: change.filter((size) => size > 0).length,
      });
    }
    this.draw();
  }

  draw() {
    const { n, words } = this.data,
      { at } = this.player,
      colours = theme(this.root);
    for (const { kind, canvas } of this.panels) {
      if (!canvas.clientWidth) return;
      const { weights, change } = this.found[kind],
        cells = begin(canvas, this.labels, colours, MARGIN);
      cells.picture(image(n, n, (place) => weightColour(this.table, weights[place])));
      finish(
        cells,
        this.labels.map((label, i) => (i < at ? label : "")),
        { query: at - 1, key: null },
        words,
        { query: at - 1, key: at - 1 },
      );
      this.#bars(cells, change);
    }
  }

  /** For the menu of the picture: the weights with the mask and without it. */
  asTables() {
    const { n, words } = this.data,
      names = this.labels.slice(0, this.player.at);
    const cell = (at) => Math.floor(at / names.length) * n + (at % names.length);
    return this.panels.map(({ kind }) =>
      mapTable(names, names, (at) => this.found[kind].weights[cell(at)], words[kind]),
    );
  }

  /** Draw each row's last change as a bar beside it; a row that is all new fills the margin. */
  #bars({ context, colours, left, top, w, wide }, change) {
    context.fillStyle = css(this.data.hues.negative);
    change.forEach((size, row) =>
      context.fillRect(left + wide + 4, top + (row + 0.2) * w, size * (MARGIN - 6), w * 0.6),
    );
    context.fillStyle = colours.text;
    context.textAlign = "right";
    context.fillText(this.data.words.moved, left + wide + MARGIN, top - 8);
  }
}
