// Something that happens step by step: play it, stop it, or drag to a step. Users who ask for less motion go on by
// hand.

import { clickable, element, fill } from "./dom.js";

const STEP_MS = 450;
const SPEEDS = [1, 2, 4, 0.5]; // in the order in which the button goes through them
const TAKES_SPACE = "input:not([type=range]), textarea, select, button, a, summary, [role], [contenteditable]";

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
  onStop;
  speed = SPEEDS[0];

  /**
   * Steps 1 to `n`; `show` is called with each, `onStop` when it stands still, and with whether that is the end. `words`
   * has play, pause, next, scrub, place and speed.
   */
  constructor(n, words, show, onStop = (_isEnd) => {}) {
    Object.assign(this, { n, words, show, onStop, at: 1 });
    this.element = element("div", "bar");
    this.button = clickable("play", "", () => this.#toggle());
    this.byHand = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.byHand.onchange = () => this.pause();
    this.faster = clickable("speed", "", () =>
      this.#setSpeed(SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length]),
    );
    document.addEventListener("keydown", this.#key);
    this.range = element("input", "", { type: "range", min: 1, max: n, step: 1, "aria-label": words.scrub });
    this.range.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.range.value));
    });
    this.place = element("span", "place", { "aria-live": "polite" });
    this.element.append(this.button, this.faster, this.range, this.place);
    this.#setSpeed(this.speed);
  }

  #toggle() {
    this.timer ? this.pause() : this.play();
  }

  #setSpeed(speed) {
    this.speed = speed;
    this.faster.textContent = `${speed}×`;
    this.faster.setAttribute("aria-label", `${this.words.speed}: ${speed}×`);
    this.timer ? this.#run() : this.#label();
  }

  /** Space plays and pauses, except in what takes it itself, and in front of a class. */
  #key = (event) => {
    if (!this.element.isConnected) return document.removeEventListener("keydown", this.#key);
    const isTaken = event.composedPath()[0].closest?.(TAKES_SPACE);
    if (event.key !== " " || isTaken || getComputedStyle(this.element).getPropertyValue("--present")) return;
    event.preventDefault();
    this.#toggle();
  };

  go(at) {
    this.hasBegun = true;
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
    if (this.byHand.matches && this.hasBegun && this.at === this.n && this.onStop(true)) return;
    if (this.byHand.matches) return this.go((this.at % this.n) + 1);
    this.#run();
    this.go((this.at % this.n) + 1);
  }

  /** Go on at this speed from the first step, where another player has ended; by hand from there. */
  goOn(speed) {
    this.#setSpeed(speed);
    if (!this.byHand.matches) this.#run();
    this.go(1);
  }

  #run() {
    clearInterval(this.timer);
    this.timer = setInterval(() => (this.at < this.n ? this.go(this.at + 1) : this.pause(true)), STEP_MS / this.speed);
    this.#label();
  }

  pause(isEnd = false) {
    const hasRun = Boolean(this.timer);
    clearInterval(this.timer);
    this.timer = null;
    this.#label();
    if (hasRun) this.onStop(isEnd);
  }

  #label() {
    this.button.textContent = this.timer
      ? `❚❚ ${this.words.pause}`
      : `▶ ${this.byHand.matches ? this.words.next : this.words.play}`;
    // Every half a second is too often to be read out.
    this.place.setAttribute("aria-live", this.timer ? "off" : "polite");
  }
}
