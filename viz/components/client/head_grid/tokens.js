// The text itself: the token that asks is framed, the others are shaded by what it gives them.

import { css } from "../lib/colour.js";
import { readingDirection } from "../lib/direction.js";
import { element, wordOf } from "../lib/dom.js";

export class Tokens {
  constructor(root, along, title) {
    this.along = along;
    this.element = element("div", "tokens", { "aria-hidden": "true" });
    this.title = element("span", "name", {}, title);
    root.append(this.element);
    this.spans = [];
  }

  show(labels) {
    const base = readingDirection(labels);
    this.element.dir = base;
    this.spans = labels.map((label, index) => {
      const span = wordOf("span", "token", {}, label, base);
      span.index = index;
      return span;
    });
    this.element.replaceChildren(this.title, ...this.spans);
  }

  /** Shade by `weights` (null: not at all) and mark the pair. */
  light(focus, locked, weights, hue) {
    this.spans.forEach((span, i) => {
      span.style.backgroundColor = weights && weights[i] > 0.001 ? css(hue, Math.sqrt(weights[i]) * 0.75) : "";
      const asks = (pair) => this.along !== "key" && pair.query === i;
      const answers = (pair) => this.along !== "query" && pair.key === i;
      span.classList.toggle("query", asks(focus));
      span.classList.toggle("key", answers(focus));
      span.classList.toggle("locked", asks(locked) || answers(locked));
    });
  }

  /** The token under the pointer. Where queries and keys are the same text, a second choice is the key. */
  at(event, locked) {
    const span = event.target.closest?.(".token");
    if (!span) return null;
    const key = this.along === "key" || (this.along === "both" && locked.query !== null && locked.query !== span.index);
    return key ? { query: locked.query, key: span.index } : { query: span.index, key: null };
  }
}
