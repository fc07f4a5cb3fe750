// The teacher's own lesson, to be put in order and passed on: it stands in this browser alone.

import { clickable, element, fill } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { isBrowserClick, open } from "../lib/navigate.js";
import { keep, load } from "./store.js";
import { normalise, toCode } from "./written.js";

const SLOW = 250; // ms without a key, after which the link is made anew

export default mount((parent) => new MyLesson(parent));

class MyLesson extends View {
  constructor(parent) {
    super(parent, "mine", { tag: "section" });
    this.offer = element("div", "found");
    this.list = element("div", "list");
    this.ways = element("div", "ways");
    this.status = element("p", "said", { role: "status" });
    this.root.append(this.offer, this.list, this.ways, this.status);
    this.onStorage = () => this.#begin();
    window.addEventListener("storage", this.onStorage); // by another tab
    this.keepKeys();
    this.root.addEventListener("click", (event) => this.#follow(event));
  }

  close() {
    window.removeEventListener("storage", this.onStorage);
    clearTimeout(this.timer);
    super.close();
  }

  receive(data) {
    this.data = data;
    if (this.hasChanged("given", [data.words, data.given])) this.#begin();
  }

  #begin() {
    this.lesson = load();
    this.#offer();
    this.#draw();
  }

  #follow(event) {
    const link = event.target instanceof Element && event.target.closest("a.here");
    if (!link || isBrowserClick(event)) return;
    event.preventDefault();
    open(link.href);
  }

  /** A lesson that came in a link can be begun again, or be made one's own. */
  #offer() {
    const { words, given } = this.data;
    if (!given) return this.offer.replaceChildren();
    const start = element("a", "here main", { href: given.start }, words.start);
    const take = this.#button("take", words.take, () => this.#take(given.lesson, words.taken));
    const row = element("div", "row");
    row.append(start, take);
    this.offer.replaceChildren(element("p", "", {}, words.given), element("p", "name", {}, given.title), row);
  }

  #take(lesson, text = "") {
    this.lesson = normalise(lesson);
    this.#handleChange();
    this.#draw();
    this.#tell(text);
  }

  #button(does, text, act, attributes = {}) {
    return clickable("", text, act, { "data-does": does, ...attributes });
  }

  #draw() {
    const { words } = this.data,
      { step } = this.lesson;
    this.status.textContent = "";
    if (!step.length) {
      this.list.replaceChildren(element("p", "", {}, words.empty));
      this.ways.replaceChildren();
      return;
    }
    const title = this.#field(
      words.title,
      this.lesson.title,
      this.data.longest.title,
      (text) => (this.lesson.title = text),
    );
    const list = element("ol");
    list.append(...step.map((entry, at) => this.#step(entry, at)));
    this.list.replaceChildren(title, list);
    this.#out();
  }

  #field(label, value, longest, take, tag = "input") {
    const wrapper = element("label", "field", {}, label),
      field = element(tag, "", { maxlength: String(longest), ...(tag === "input" ? { type: "text" } : { rows: "2" }) });
    field.value = value;
    field.addEventListener("input", () => {
      take(field.value);
      this.#handleChange();
    });
    wrapper.append(field);
    return wrapper;
  }

  #step(step, at) {
    const { words, longest } = this.data,
      item = element("li"),
      row = element("div", "row"),
      number = at + 1;
    const move = (way, sign, off) => {
      const label = `${fill(words.step, { n: number })}: ${words[way]}`;
      const button = this.#button(way, sign, () => this.#move(at, way), { "aria-label": label });
      button.disabled = off;
      return button;
    };
    const query = new URLSearchParams({ ...step.parameters, section: step.section, lang: this.data.lang });
    const see = element("a", "here", { href: `${step.page.replaceAll("_", "-")}?${query}` }, words.see);
    row.append(
      move("up", "↑", !at),
      move("down", "↓", number === this.lesson.step.length),
      see,
      move("remove", "✕", false),
    );
    const covers = element("label", "covers"),
      box = element("input", "", { type: "checkbox" });
    box.checked = step.covers;
    box.addEventListener("change", () => {
      step.covers = box.checked;
      this.#handleChange();
    });
    covers.append(box, element("span", "", {}, words.covers));
    const updateCovers = () => (covers.hidden = !step.ask.question);
    const asks = (text) => {
      if (!step.ask.question && text) box.checked = step.covers = true; // a question is answered first, then shown
      step.ask.question = text;
      updateCovers();
    };
    updateCovers();
    item.append(
      this.#field(words.step_title, step.title, longest.title, (text) => (step.title = text)),
      this.#field(words.question, step.ask.question, longest.question, asks, "textarea"),
      covers,
      row,
    );
    return item;
  }

  #move(at, way) {
    const { step } = this.lesson,
      [entry] = step.splice(at, 1),
      to = way === "up" ? at - 1 : at + 1;
    if (way !== "remove") step.splice(to, 0, entry);
    this.#handleChange();
    this.#draw();
    const items = this.list.querySelectorAll("li"),
      next = items[Math.min(way === "remove" ? at : to, items.length - 1)];
    const target =
      next?.querySelector(`[data-does=${way}]:enabled`) ??
      next?.querySelector("button:enabled") ??
      this.ways.querySelector("a, button, input");
    target?.focus(); // what was pressed has moved, and the keyboard with it
    if (way === "remove") this.#tell(fill(this.data.words.removed, { title: entry.title }));
  }

  #handleChange() {
    if (!keep(this.lesson)) this.#tell(this.data.words.not_kept);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lesson.step.length && this.#out(), SLOW);
  }

  #tell(text) {
    this.status.textContent = text;
  }

  /** The way out: a link, if it is short enough. */
  async #out() {
    const { words, lang, longest } = this.data,
      pending = toCode(this.lesson);
    this.making = pending;
    const code = await pending;
    if (this.making !== pending || !this.lesson.step.length) return; // it has been changed meanwhile
    const query = (more) => new URLSearchParams({ own_lesson: code, ...more, lang });
    const at = (page, more) => new URL(`${page.replaceAll("_", "-")}?${query(more)}`, location.href).href;
    const first = this.lesson.step[0].page,
      link = at(first, { lesson_step: "1" }),
      size = new TextEncoder().encode(link).length;
    const rest = this.#button("empty", words.clear, () => this.#empty());
    if (size > longest.link) {
      this.ways.replaceChildren(
        element("p", "long", { role: "note" }, fill(words.too_long, { n: size, most: longest.link })),
        rest,
      );
      return;
    }
    const row = element("div", "row"),
      field = element("input", "link", { readonly: "", "aria-label": words.link });
    field.value = link;
    field.addEventListener("focus", () => field.select());
    row.append(
      element("a", "here main", { href: link }, words.start),
      element("a", "here", { href: at(first, { lesson_step: "1", present: "1" }) }, words.present),
      element("a", "paper", { href: at(first, { print: "1" }), target: "_blank" }, words.sheet),
      element("a", "paper", { href: at(first, { print: "answers" }), target: "_blank" }, words.answers),
    );
    const pass = element("div", "row");
    pass.append(
      field,
      this.#button("copy", words.copy, () => this.#copy(field)),
    );
    this.ways.replaceChildren(
      row,
      pass,
      element("p", "note", {}, fill(words.size, { n: size, most: longest.link })),
      rest,
    );
  }

  async #copy(field) {
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      // no clipboard outside TLS
      field.select();
      if (!document.execCommand("copy")) return this.#tell(this.data.words.by_hand);
    }
    this.#tell(this.data.words.copied);
  }

  /** Take all steps away, after asking once more. */
  #empty() {
    const { words } = this.data,
      row = element("div", "row", { role: "alert" });
    const back = this.#button("keep", words.keep, () => this.#out());
    row.append(
      element("span", "", {}, words.sure),
      this.#button("sure", words.clear, () => this.#take(null, words.cleared)),
      back,
    );
    this.ways.replaceChildren(row);
    back.focus();
  }
}
