// The large head as lines: queries on one side, keys on the other, a line as strong as the weight between them.

import { isolateAll } from "../lib/direction.js";
import { css } from "../lib/colour.js";
import { CanvasWindow } from "../lib/canvas_window.js";
import { shorten } from "../lib/shorten.js";

export const FAINT = 0.01,
  MOST = 3000;
const TEXT = 12,
  TALLEST = 600;

export class Lines extends CanvasWindow {
  labels;
  colours;
  across;
  focus;
  locked;

  show(map, rows, columns, colours, across) {
    Object.assign(this, { map, labels: { rows, columns }, colours, across });
    this.#strongest();
    this.fit();
  }

  update(map) {
    this.map = map;
    this.#strongest();
  }

  /** All lines from FAINT up, weakest first; of very many only the strongest. */
  #strongest() {
    const { values, columns } = this.map;
    const cells = [];
    for (let at = 0; at < values.length; at++) if (values[at] >= FAINT) cells.push(at);
    cells.sort((a, b) => values[a] - values[b]);
    this.drawn = cells.slice(-MOST).map((at) => ({ at, query: Math.floor(at / columns), key: at % columns }));
  }

  /** Place the tokens: down two sides, or along two lines as wide as their words. */
  fit() {
    if (!this.map) return;
    const width = this.element.clientWidth;
    if (!width) return;
    const context = this.canvas.getContext("2d"),
      { rows, columns } = this.labels;
    context.font = `${TEXT}px ${this.colours.theme.font}`;
    const most = Math.max(rows.length, columns.length);
    if (this.across) {
      const place = (labels) => {
        let at = 8;
        return labels.map((label) => {
          const wide = Math.min(120, context.measureText(label).width) + 10;
          at += wide;
          return at - wide / 2;
        });
      };
      this.places = { query: place(rows), key: place(columns) };
      this.whole = [Math.max(...this.places.query, ...this.places.key) + 70, 280];
    } else {
      const step = Math.min(26, Math.max(15, (TALLEST - 20) / most));
      const place = (labels) => labels.map((_, i) => 14 + (i + 0.5) * step);
      this.places = { query: place(rows), key: place(columns) };
      this.whole = [width, 28 + most * step];
      const longest = Math.max(...[...rows, ...columns].map((label) => context.measureText(label).width));
      this.side = Math.min(longest + 14, 140, width * 0.3);
    }
    this.resize([width, Math.min(TALLEST, this.whole[1])], this.whole);
    this.draw();
  }

  #point(along, i) {
    const place = this.places[along][i];
    if (this.across) return [place - this.element.scrollLeft, along === "query" ? 34 : this.whole[1] - 34];
    return [along === "query" ? this.side + 8 : this.size[0] - this.side - 8, place - this.element.scrollTop];
  }

  draw(focus = this.focus, locked = this.locked) {
    Object.assign(this, { focus, locked });
    if (!this.map || !this.size || !focus) return;
    const context = this.fresh();
    const hasFocus = focus.query !== null || focus.key !== null;
    const meets = (along, pair) => focus[along] === null || pair[along] === focus[along];
    const belongs = (pair) => meets("query", pair) && meets("key", pair);
    for (const pair of this.drawn) if (!hasFocus || !belongs(pair)) this.#line(context, pair, hasFocus ? 0.12 : 1);
    if (hasFocus) for (const pair of this.drawn) if (belongs(pair)) this.#line(context, pair, 1);
    isolateAll(this.labels.rows).forEach((label, i) => this.#label(context, label, "query", i));
    isolateAll(this.labels.columns).forEach((label, i) => this.#label(context, label, "key", i));
  }

  #line(context, { at, query, key }, strength) {
    const { values, winner } = this.map,
      weight = values[at],
      { list, blue } = this.colours;
    const [x0, y0] = this.#point("query", query),
      [x1, y1] = this.#point("key", key);
    const [from, to, end] = this.across ? [x0, x1, this.size[0]] : [y0, y1, this.size[1]];
    if (Math.max(from, to) < 0 || Math.min(from, to) > end) return;
    context.strokeStyle = css(winner ? list[winner[at] % list.length] : blue, Math.sqrt(weight) * strength);
    context.lineWidth = 0.75 + 3 * weight;
    context.beginPath();
    context.moveTo(x0, y0);
    if (this.across) context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    else context.bezierCurveTo((x0 + x1) / 2, y0, (x0 + x1) / 2, y1, x1, y1);
    context.stroke();
  }

  #label(context, label, along, i) {
    const [x, y] = this.#point(along, i),
      [width, height] = this.size;
    if (x < -80 || x > width + 80 || y < -20 || y > height + 20) return;
    const { theme } = this.colours,
      { focus, locked } = this;
    const state = locked[along] === i ? "locked" : focus[along] === i ? "focus" : "";
    context.font = `${state ? "bold " : ""}${TEXT}px ${theme.font}`;
    const text = shorten(context, label, this.across ? 120 : this.side - 4),
      wide = context.measureText(text).width;
    const left = this.across ? x - wide / 2 : along === "query" ? x - 6 - wide : x + 6;
    const down = this.across ? y + (along === "query" ? -12 : 12) : y;
    if (state) {
      context.fillStyle = state === "locked" ? theme.primary : theme.text;
      context.fillRect(left - 3, down - 8, wide + 6, 16);
    } else if (this.focus.query !== null && along === "key") {
      // The selected query's weight on this key.
      const weight = this.map.values[this.focus.query * this.map.columns + i];
      context.fillStyle = css(this.colours.blue, 0.55 * Math.sqrt(weight));
      context.fillRect(left - 3, down - 8, wide + 6, 16);
    }
    [context.textAlign, context.textBaseline] = ["left", "middle"];
    context.fillStyle = state ? theme.background : theme.text;
    context.fillText(text, left, down);
  }

  /** The token under the pointer; its line's other end stays what it was. */
  at(event) {
    if (!this.size) return null;
    const [x, y] = this.place(event);
    const [across, along] = this.across ? [y, x + this.element.scrollLeft] : [x, y + this.element.scrollTop];
    const end = this.across ? this.whole[1] : this.size[0],
      reach = this.across ? 50 : this.side + 20;
    const side = across < reach ? "query" : across > end - reach ? "key" : null;
    if (!side) return null;
    const places = this.places[side];
    let best = 0;
    for (let i = 1; i < places.length; i++) if (Math.abs(places[i] - along) < Math.abs(places[best] - along)) best = i;
    if (Math.abs(places[best] - along) > 60) return null;
    return side === "query" ? { query: best, key: null } : { query: null, key: best };
  }

  reveal({ query, key }) {
    const [along, i] = key !== null ? ["key", key] : ["query", query];
    if (i === null) return;
    const place = this.places[along][i],
      box = this.element;
    if (this.across) box.scrollLeft = Math.max(Math.min(box.scrollLeft, place - 40), place + 40 - this.size[0]);
    else box.scrollTop = Math.max(Math.min(box.scrollTop, place - 20), place + 20 - this.size[1]);
  }

  zoomBy() {}
}
