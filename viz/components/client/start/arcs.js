// A sentence in large words, with arcs from one of them to the words it looks at; its twin, which differs in one word;
// and a box for a sentence of one's own. The weights of one head came with the page.

import { readingDirection } from "../lib/direction.js";
import { clickable, element, fill, segments, svgElement, wordOf } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { zoomOf } from "../lib/place.js";
import { partDigits } from "../lib/describe.js";
import { WORD_EVENT, describe, joinSentences, LEAST, otherWords } from "./looks.js";

const WIDEST = 10; // px, of an arc of weight 1
const FILM = 4000; // ms: the words look one after another, then one word of the sentence changes
const INTERRUPTIONS = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"];
let isFilmOver = matchMedia("(prefers-reduced-motion: reduce)").matches; // it runs once in a visit

export default mount((parent) => new Arcs(parent));

class Arcs extends View {
  constructor(parent) {
    super(parent, "start", { tag: "section" });
    this.sentence = element("div", "sentence", { role: "group" });
    this.status = element("p", "says", { role: "status", "aria-live": "polite" });
    this.row = element("div", "row");
    this.form = element("form");
    this.root.append(this.sentence, this.status, this.row, this.form);
    this.watch = new ResizeObserver(() => this.#draw());
    this.#listen();
  }

  close() {
    this.watch.disconnect();
    this.endFilm?.();
    super.close();
  }

  receive(data) {
    if (JSON.stringify(data.sentences) + data.lang !== this.drawnData) {
      this.endFilm?.();
      this.#begin(data);
      if (!isFilmOver && data.longest && this.twins) this.#film();
    }
    if (data.asks && !this.asked) {
      this.asked = true; // when this has been painted, there is time for what comes next
      requestAnimationFrame(() => setTimeout(() => this.send("painted", true)));
    }
  }

  #begin(data) {
    this.data = data;
    this.drawnData = JSON.stringify(data.sentences) + data.lang;
    this.sentences = data.sentences.map((sentence) => ({
      ...sentence,
      weights: sentence.weights.map((row) => row.map((weight) => weight && weight / data.whole)), // null is covered
    }));
    this.selected = data.at ?? this.sentences[0].labels.indexOf(data.query);
    this.opened = this.selected;
    this.at = undefined; // another sentence is shown, and stands in the box
    this.sentence.setAttribute("aria-label", data.words.sentence);
    this.#row();
    if (data.longest) this.#box();
    this.#open(0);
  }

  /** Play the film, until it ends or anything is pressed or moved; then the picture is what it was. */
  #film() {
    isFilmOver = true;
    const last = this.words.findIndex(({ key }) => key === this.selected),
      walk = this.words.slice(0, last + 1).map(({ key }) => key),
      began = performance.now();
    this.status.removeAttribute("aria-live"); // nobody is told what only passes by
    const timer = setInterval(() => {
      const part = (performance.now() - began) / FILM;
      if (part >= 1) return this.endFilm();
      const at = part > 0.65 ? 1 : 0;
      if (at !== this.at) this.#open(at);
      this.#show(walk[Math.min(walk.length - 1, Math.floor((part / 0.45) * walk.length))]);
    }, 100);
    this.endFilm = () => {
      clearInterval(timer);
      for (const kind of INTERRUPTIONS) document.removeEventListener(kind, this.endFilm);
      this.endFilm = null;
      this.status.setAttribute("aria-live", "polite");
      this.#open(0);
    };
    for (const kind of INTERRUPTIONS) document.addEventListener(kind, this.endFilm);
  }

  #row() {
    const { words, model, layer, head, made } = this.data;
    const from = element("span", "from", {}, fill(made ? words.from : words.from_now, { model, layer, head, made }));
    this.twins = undefined;
    if (this.sentences.length === 1) {
      const back = clickable("plain", words.back, () => this.send("typed", { text: "" }));
      this.row.replaceChildren(...(this.data.longest && !this.data.example ? [back] : []), from);
      return;
    }
    this.twins = segments(
      words.change,
      this.sentences.map(({ word }, at) => [String(at), word]),
      (code) => this.#open(Number(code)),
    );
    this.row.replaceChildren(element("span", "", { "aria-hidden": "true" }, words.change), this.twins.element, from);
    this.twins.element.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      this.#open((this.at + step + this.sentences.length) % this.sentences.length);
      this.twins.element.querySelector("[aria-checked=true]").focus();
    });
  }

  #box() {
    const { words, longest, lang } = this.data;
    if (this.boxOf === lang) return; // who has just typed types on
    this.boxOf = lang;
    const attributes = {
      type: "text",
      name: "text",
      maxlength: longest,
      autocomplete: "off",
      spellcheck: "false",
      dir: "auto",
      "aria-label": words.own,
    };
    this.input = element("input", "", attributes);
    this.form.replaceChildren(this.input, element("button", "", { type: "submit" }, words.look));
    this.input.addEventListener("focus", () => this.input.select());
  }

  #listen() {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.input.value.trim()) return this.input.focus();
      this.status.textContent = this.data.words.reading;
      this.send("typed", { text: this.input.value });
    });
    this.keepKeys();
    const wordOf = (event) => event.target instanceof Element && event.target.closest(".word");
    this.sentence.addEventListener("pointerover", (event) => {
      const word = wordOf(event);
      if (word && event.pointerType === "mouse") this.#show(Number(word.dataset.at));
    });
    this.sentence.addEventListener("pointerleave", () => this.#show(this.selected));
    for (const kind of ["click", "focusin"])
      this.sentence.addEventListener(kind, (event) => wordOf(event) && this.#choose(Number(wordOf(event).dataset.at)));
    this.sentence.addEventListener("keydown", (event) => {
      const ahead = this.sentence.dir === "rtl" ? -1 : 1,
        step = { ArrowRight: ahead, ArrowLeft: -ahead }[event.key],
        at = this.words.findIndex(({ key }) => key === this.selected);
      const to =
        { Home: 0, End: this.words.length - 1 }[event.key] ??
        (step && Math.max(0, Math.min(this.words.length - 1, at + step)));
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.words[to].button.focus();
    });
  }

  /** Show a sentence; the word that is looked at stays. What was typed stays too. */
  #open(at) {
    const before = this.sentences[this.at]?.text,
      { text, labels, special } = this.sentences[at];
    if (this.input && (this.at === undefined || [before, ""].includes(this.input.value))) this.input.value = text;
    this.at = at;
    this.twins?.show(String(at));
    for (const button of this.twins?.element.children ?? [])
      button.tabIndex = button.dataset.code === String(at) ? 0 : -1;
    const isSame = this.words?.length === labels.filter((_, key) => !special[key]).length;
    if (isSame) for (const { key, button } of this.words) button.firstChild.textContent = labels[key];
    else this.#words(labels, special);
    this.#choose(this.selected);
  }

  #words(labels, special) {
    this.sentence.dir = readingDirection(labels.filter((_, key) => !special[key]));
    this.arcs = svgElement("svg", { "aria-hidden": "true" });
    this.words = labels.flatMap((label, key) => {
      if (special[key]) return [];
      const button = element("button", "word", { type: "button", "data-at": key });
      button.append(wordOf("b", "", {}, label, this.sentence.dir), element("small", "", { "aria-hidden": "true" }));
      const arc = svgElement("path");
      this.arcs.append(arc);
      return [{ key, button, arc }];
    });
    this.sentence.replaceChildren(this.arcs, ...this.words.map(({ button }) => button));
    this.watch.disconnect();
    for (const { button } of this.words) this.watch.observe(button); // a font that comes later makes them wider
    this.watch.observe(this.sentence);
  }

  #choose(query) {
    this.selected = query;
    for (const { key, button } of this.words) button.tabIndex = key === query ? 0 : -1;
    this.#show(query);
    document.dispatchEvent(new CustomEvent(WORD_EVENT, { detail: { text: this.sentences[this.at].text, query } }));
  }

  #show(query) {
    this.query = query;
    const row = this.sentences[this.at].weights[query];
    for (const { key, button } of this.words) {
      const [word, number] = button.children,
        weight = key === query ? 0 : row[key];
      button.setAttribute("aria-pressed", String(key === query));
      word.style.backgroundColor = `color-mix(in srgb, var(--st-primary-color) ${(45 * Math.sqrt(weight)).toFixed(1)}%, transparent)`;
      number.textContent = weight === null ? "?" : weight >= LEAST ? partDigits(weight) : "";
    }
    const text = joinSentences(this.#describe());
    if (this.status.textContent !== text) this.status.textContent = text;
    this.#draw();
  }

  /** The picture as sentences; for the twin's first word, the change of its weight. */
  #describe() {
    const { words } = this.data,
      sentence = this.sentences[this.at],
      { query } = this;
    if (sentence.weights[query].includes(null)) return [words.covered];
    if (this.at === 0 || query !== this.opened) return describe(words, sentence, query);
    const [key] = otherWords(sentence, query),
      weights = [sentence, this.sentences[0]].map(({ weights }) => partDigits(weights[query][key]));
    return [
      fill(words.twin, {
        query: sentence.labels[query],
        key: sentence.labels[key],
        weight: weights[0],
        before: weights[1],
      }),
    ];
  }

  /** For the menu of the picture: the sentence, and what is said of it. */
  asPictures() {
    return [this.sentence, this.status];
  }

  /** The attention weights of the selected word. */
  asTables() {
    const { labels, weights } = this.sentences[this.at];
    return [{ columns: ["", ...labels], rows: [[labels[this.query], ...weights[this.query]]] }];
  }

  #draw() {
    if (!this.words) return;
    const frame = this.sentence.getBoundingClientRect(),
      row = this.sentences[this.at].weights[this.query];
    const zoom = zoomOf(this.sentence),
      boxes = new Map(this.words.map(({ key, button }) => [key, placeOf(button, frame, zoom)]));
    for (const { key, arc } of this.words) {
      const weight = key === this.query ? 0 : row[key];
      arc.setAttribute("d", key === this.query ? "" : bow(boxes.get(this.query), boxes.get(key)));
      arc.style.strokeWidth = `${Math.max(1, WIDEST * weight)}px`;
      arc.style.opacity = weight < LEAST ? "0" : String(0.25 + 0.6 * weight);
    }
  }
}

/** A word's place within the sentence, in its own pixels, however enlarged it is shown; below it stands its number. */
function placeOf(button, frame, zoom) {
  const box = button.getBoundingClientRect();
  return {
    x: (box.left + box.width / 2 - frame.left) / zoom,
    top: (box.top - frame.top) / zoom,
    bottom: (box.bottom - frame.top) / zoom,
  };
}

/** From one word to another: an arc above a line of words; between two lines, a curve from the one to the other. */
function bow(from, to) {
  if (Math.abs(from.top - to.top) < 4) {
    const high = Math.min(from.top - 4, 14 + 0.16 * Math.abs(from.x - to.x)) * (4 / 3);
    return `M${from.x} ${from.top}C${from.x} ${from.top - high} ${to.x} ${to.top - high} ${to.x} ${to.top}`;
  }
  const [start, end] = to.top < from.top ? [from.top, to.bottom] : [from.bottom, to.top],
    middle = (start + end) / 2;
  return `M${from.x} ${start}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${end}`;
}
