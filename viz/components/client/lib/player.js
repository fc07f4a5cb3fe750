// Something that happens step by step: play it, stop it, or drag to a step. Users who ask for less motion go on by
// hand.

import { element, fill } from "./dom.js";

const STEP_MS = 450;

/** The step that is shown at first: in the middle, and in front of a class the first, on paper the last. */
export function firstOf(root, n) {
  const style = getComputedStyle(root);
  if (style.getPropertyValue("--paper")) return n;
  return style.getPropertyValue("--present") ? 1 : Math.ceil(n / 2);
}

export class Player {
  n;
  words;
  show;

  /** Steps 1 to `n`; `show` is called with each. `words` has play, pause, next, scrub and place. */
  constructor(n, words, show) {
    Object.assign(this, { n, words, show, at: 1 });
    this.element = element("div", "bar");
    this.button = element("button", "play", { type: "button" });
    this.byHand = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.byHand.onchange = () => this.pause();
    this.button.addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    this.range = element("input", "", { type: "range", min: 1, max: n, step: 1, "aria-label": words.scrub });
    this.range.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.range.value));
    });
    this.place = element("span", "place", { "aria-live": "polite" });
    this.element.append(this.button, this.range, this.place);
    this.#label();
  }

  go(at) {
    this.at = Math.min(this.n, Math.max(1, at));
    this.range.value = this.at;
    this.place.textContent = fill(this.words.place, { at: this.at, n: this.n });
    this.range.setAttribute("aria-valuetext", this.place.textContent);
    this.show(this.at);
  }

  /** Go on by so many steps; says whether there are as many. */
  walk(places) {
    const to = this.at + places;
    if (to < 1 || to > this.n) return false;
    this.pause();
    this.go(to);
    return true;
  }

  play() {
    if (this.byHand.matches) return this.go((this.at % this.n) + 1);
    if (this.at === this.n) this.go(1);
    this.timer = setInterval(() => {
      if (this.at < this.n) this.go(this.at + 1);
      if (this.at === this.n) this.pause();
    }, STEP_MS);
    this.#label();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.#label();
  }

  #label() {
    this.button.textContent = this.timer
      ? `❚❚ ${this.words.pause}`
      : `▶ ${this.byHand.matches ? this.words.next : this.words.play}`;
    // Every half a second is too often to be read out.
    this.place.setAttribute("aria-live", this.timer ? "off" : "polite");
  }
}
