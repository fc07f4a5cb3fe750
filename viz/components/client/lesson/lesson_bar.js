// The lesson bar: how far one is, a question with its answers as a form of the browser's own (so that keyboard, touch and
// screen reader know it), and a place where what is said of an answer is read out.

import { element, fill } from "../lib/dom.js";
import { mount } from "../lib/mount.js";
import { follow, isTheBrowsers, shownAsHere, wasFollowed } from "../lib/open.js";

const FINGER = "(pointer: coarse)";
const HERE = "here"; // as in viz/frame/lesson/bar.py
const BEHIND = 250; // ms: a picture, a slider or a box sends what was chosen within 200
let sent = 0;

export default mount((parent) => new LessonBar(parent));

class LessonBar {
  constructor(parent) {
    this.root = element("section", "lesson");
    this.root.lesson = this; // for the browser's tests
    this.head = element("div", "head");
    this.form = element("form", "question");
    this.body = element("div", "body");
    this.row = element("div", "row");
    this.said = element("div", "said", { role: "status", "aria-live": "polite" });
    const foot = element("div", "foot");
    foot.append(this.row, this.said);
    this.form.append(this.body, foot);
    this.root.append(this.head, this.form);
    parent.append(this.root);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#check();
    });
    // To pages an arrow means another step, to Streamlit a letter another run; here they belong to the answers.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    this.root.addEventListener("click", (event) => this.#follow(event));
  }

  close() {
    clearTimeout(this.later);
    this.root.remove();
  }

  receive(data, setStateValue) {
    const before = this.data;
    [this.data, this.setStateValue] = [data, setStateValue];
    const isNew = !before || before.lesson !== data.lesson || before.number !== data.number;
    const asked = JSON.stringify([data.number, data.kind, data.question, data.options, data.done, data.picked, data.hint, data.premise, data.n_done, data.print]);
    if (isNew) this.said.replaceChildren();
    this.root.dataset.print = data.print;
    this.root.toggleAttribute("data-done", Boolean(data.done && data.question));
    this.#head();
    if (asked !== this.asked) this.#ask(isNew || before.about !== data.about);
    this.asked = asked;
    this.#say();
    if (isNew && wasFollowed()) (this.#first() ?? this.form.querySelector("button, a") ?? this.head.querySelector("a"))?.focus({ preventScroll: true });
  }

  /** What an answer begins with; on a phone no field takes the keyboard by itself, as half the screen would be its keys. */
  #first() {
    const first = this.body.querySelector("input");
    return first?.type === "text" && matchMedia(FINGER).matches ? this.row.querySelector(".main") : first;
  }

  #link(text, href, className, attributes = {}) {
    return element("a", className, { href, ...attributes }, text);
  }

  #follow(event) {
    const link = event.target instanceof Element && event.target.closest("a");
    if (!link || isTheBrowsers(event)) return;
    event.preventDefault();
    follow(shownAsHere(link.href));
  }

  #head() {
    const { title, number, steps, over, links, words } = this.data;
    const name = element("p", "name");
    name.append(element("b", "", {}, title), element("span", "", {}, ` · ${fill(words.step, { number, steps })}`));
    const bar = element("span", "over", { "aria-hidden": "true" });
    over.forEach((done, at) => bar.append(element("i", `${done ? "done" : ""} ${at + 1 === number ? "now" : ""}`.trim())));
    const ways = element("nav", "ways", { "aria-label": words.ways });
    if (links.previous) ways.append(this.#link(words.previous, links.previous, "quiet"));
    ways.append(this.#link(words.list, links.list, "quiet"));
    this.head.replaceChildren(name, bar, ways);
    this.root.setAttribute("aria-label", title);
  }

  /** The question with its answers; while it is the same one, what is filled in stays. */
  #ask(isOther) {
    const { kind, text, note, question, words, links, done, premise, hint } = this.data;
    const given = isOther ? this.data.sent : this.#answer();
    const at = this.root.getRootNode().activeElement, isHere = this.form.contains(at), held = at?.dataset?.does;
    if (!kind) {
      this.body.replaceChildren(element("p", "text", {}, words.away));
      this.row.replaceChildren(this.#link(words.here, links.here, "main"));
      return;
    }
    const told = element("p", "text", {}, note ? `${text} ${note}` : text);
    if (premise) {
      this.body.replaceChildren(told, element("p", "premise", { role: "note" }, premise));
      this.row.replaceChildren(this.#link(words.restore, links.here, "main"), this.#next("quiet"));
      return;
    }
    if (kind === "open" && !question) {
      this.body.replaceChildren(told);
      this.row.replaceChildren(this.#next("main"));
      return;
    }
    const group = element("fieldset", kind);
    group.append(element("legend", "", {}, question));
    group.append(...this.#answers(given));
    group.disabled = Boolean(done);
    this.body.replaceChildren(told, group);
    if (done && !this.data.covers && kind === "open") this.row.replaceChildren(this.#next("main"));
    else if (done) this.row.replaceChildren(this.#next("main"), this.#does("again", words.again));
    else if (kind === "open") this.row.replaceChildren(this.#does("reveal", words.uncover, "main"));
    else {
      const check = element("button", "main", { type: "submit", "data-does": "check" }, words.check);
      this.row.replaceChildren(check, ...(hint ? [] : [this.#does("hint", words.hint)]), this.#does("reveal", words.reveal));
    }
    if (!isHere) return; // what had the keyboard has been drawn anew, or has gone: then the next thing to do has it
    const same = held && this.row.querySelector(`[data-does="${held}"]`);
    (same || (done ? null : this.#first()) || this.row.querySelector(".main"))?.focus({ preventScroll: true });
  }

  #next(className) {
    const { links, words, is_last: isLast } = this.data;
    return this.#link(isLast ? words.finish : words.next, links.next, className);
  }

  #does(action, text, className = "quiet") {
    const button = element("button", className, { type: "button", "data-does": action }, text);
    button.addEventListener("click", () => this.#send(action));
    return button;
  }

  #answers(given) {
    const { kind, options, picked, words } = this.data;
    if (kind === "number") {
      const field = element("input", "", { type: "text", inputmode: "decimal", autocomplete: "off", maxlength: "40", "aria-label": words.number, dir: "auto" });
      field.value = given ?? "";
      return [field];
    }
    if (kind === "order") return [this.#order(given)];
    if (kind === "open") { // nobody can judge it, so nobody is sent it
      const field = element("textarea", "", { rows: "2", maxlength: "2000", "aria-label": words.write, placeholder: words.write, dir: "auto" });
      field.value = given ?? "";
      return [field];
    }
    if (this.data.in_page) return [element("p", "picked", { role: "status" }, picked ? picked[1] : words.pick)];
    return options.map(([code, label]) => {
      const isRight = this.data.right.some((right) => String(right) === String(code));
      const option = element("label", isRight ? "option is-right" : "option"), radio = element("input", "", { type: "radio", name: "answer", value: String(code) });
      radio.checked = String(given) === String(code);
      option.append(radio, element("span", "", {}, label));
      return option;
    });
  }

  /** A list in which each thing can be moved up and down. */
  #order(given) {
    const { options, words, done } = this.data, labels = new Map(options), list = element("ol", "order");
    const known = [this.data.right, given].find((order) => Array.isArray(order) && order.length === options.length);
    const codes = known ?? options.map(([code]) => code);
    for (const code of codes) {
      const item = element("li", "", { "data-code": code });
      item.append(element("span", "", {}, labels.get(code)));
      for (const [way, sign] of done ? [] : [["up", "↑"], ["down", "↓"]]) {
        const button = element("button", "quiet", { type: "button", "aria-label": `${labels.get(code)}: ${words[way]}` }, sign);
        button.addEventListener("click", () => {
          const other = way === "up" ? item.previousElementSibling : item.nextElementSibling;
          if (way === "up") other?.before(item);
          else other?.after(item);
          button.focus();
        });
        item.append(button);
      }
      list.append(item);
    }
    return list;
  }

  /** What is filled in now. */
  #answer() {
    const { kind, picked, options } = this.data;
    if (!kind) return null;
    if (this.data.in_page) return picked ? picked[0] : null;
    if (kind === "number") return this.form.querySelector("input")?.value ?? null;
    if (kind === "open") return this.form.querySelector("textarea")?.value ?? null;
    if (kind === "order") return Array.from(this.form.querySelectorAll("li"), (item) => item.dataset.code);
    const chosen = this.form.querySelector("input:checked")?.value;
    return options.find(([code]) => String(code) === chosen)?.[0] ?? null;
  }

  #check() {
    if (this.data.done || !this.data.question || this.data.kind === "open") return;
    if (this.data.in_page) return this.#checkHere();
    const answer = this.#answer();
    if (answer === null || answer === "") this.#tell(this.data.words.nothing, "wrong");
    else this.#send("check", answer);
  }

  /** What stands in the page is checked, also if it was chosen just now, and is not known here: it is sent first. */
  #checkHere() {
    const { lesson, number } = this.data;
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      if (this.data.lesson === lesson && this.data.number === number) this.#send("check", HERE);
    }, BEHIND);
  }

  #send(action, answer = null) {
    const { lesson, number } = this.data;
    this.setStateValue("did", { n: ++sent, lesson, number, action, answer });
  }

  #say() {
    const { verdict, is_right: isRight, hint, reveal, done, words, kind } = this.data;
    const lines = [];
    if (verdict) lines.push([isRight ? "right" : "wrong", verdict]);
    if (this.data.told) lines.push(["told", this.data.told]);
    if (reveal) lines.push(["reveal", reveal]);
    else if (hint) lines.push(["hint", `${words.hint_says} ${hint}`]);
    const now = JSON.stringify(kind ? lines : []);
    if (now === this.told) return; // what is said already is not read out again
    this.told = now;
    this.said.replaceChildren(...JSON.parse(now).map(([className, text]) => element("p", className, {}, text)));
  }

  #tell(text, className) {
    this.told = null;
    this.said.replaceChildren(element("p", className, {}, text));
  }
}
