// The lesson bar: how far one is, a question with its answers as a form of the browser's own (so that keyboard, touch
// and screen reader know it), and a place where what is said of an answer is read out.

import { clickable, element, fill, prose } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { follow, isBrowserClick, withEmbedOptions, wasFollowed } from "../lib/navigate.js";
import { saveProgress } from "./store.js";

const FINGER = "(pointer: coarse)";
const IN_PAGE = "here"; // as in viz/modes/lesson/bar.py
const MOVES = { up: "↑", down: "↓" };
const QUESTION_STATE = "number why end kind question options done picked hint premise missing n_done print".split(" ");
const BEHIND = 250; // ms: a picture, a slider or a box sends what was chosen within 200

export default mount((parent) => new LessonBar(parent));

class LessonBar extends View {
  constructor(parent) {
    super(parent, "lesson", { tag: "section" });
    this.head = element("div", "head");
    this.form = element("form", "question");
    this.body = element("div", "body");
    this.row = element("div", "row");
    this.status = element("div", "said", { role: "status", "aria-live": "polite" });
    this.why = element("div", "why");
    const foot = element("div", "foot");
    foot.append(this.row, this.status);
    this.form.append(this.body, foot, this.why);
    this.root.append(this.head, this.form);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#check();
    });
    this.keepKeys();
    this.root.addEventListener("click", (event) => this.#follow(event));
  }

  close() {
    clearTimeout(this.timer);
    super.close();
  }

  receive(data) {
    const before = this.data;
    this.data = data;
    const isNew = !before || before.lesson !== data.lesson || before.number !== data.number;
    if (isNew || !data.done) this.hasEnded = false;
    this.root.toggleAttribute("data-ended", this.hasEnded);
    const isOther = this.hasChanged(
      "asked",
      QUESTION_STATE.map((name) => data[name]),
    );
    if (!["worksheet", "answers"].includes(data.print) && !data.lesson.startsWith("own-"))
      saveProgress(data.lesson, data.over);
    if (isNew) this.status.replaceChildren();
    this.root.dataset.print = data.print;
    this.root.dataset.kind = data.kind;
    this.root.toggleAttribute("data-done", Boolean(data.done && data.question));
    this.#head();
    if (isOther) this.#ask(isNew || before.about !== data.about);
    this.#say();
    this.#why();
    if (isNew && wasFollowed() && !this.isPresented)
      (this.#first() ?? this.form.querySelector("button, a") ?? this.head.querySelector("a"))?.focus({
        preventScroll: true,
      });
  }

  /**
   * The first field of an answer; none on a phone, where the keyboard would cover half the screen.
   */
  #first() {
    const first = this.body.querySelector("input");
    return first?.type === "text" && matchMedia(FINGER).matches ? this.row.querySelector(".main") : first;
  }

  #link(text, href, className, attributes = {}) {
    return element("a", className, { href, ...attributes }, text);
  }

  #follow(event) {
    const link = event.target instanceof Element && event.target.closest("a");
    if (!link || isBrowserClick(event)) return;
    event.preventDefault();
    follow(withEmbedOptions(link.href));
  }

  #head() {
    const { title, number, steps, over, links, words } = this.data;
    const name = element("p", "name");
    name.append(element("b", "", {}, title), element("span", "", {}, ` · ${fill(words.step, { number, steps })}`));
    const bar = element("span", "over", { "aria-hidden": "true" });
    over.forEach((isDone, at) =>
      bar.append(element("i", `${isDone ? "done" : ""} ${at + 1 === number ? "now" : ""}`.trim())),
    );
    const ways = element("nav", "ways", { "aria-label": words.ways });
    const { explores, can_explore: canExplore } = this.data;
    if (links.previous) ways.append(this.#link(words.previous, links.previous, "quiet"));
    if (!links.previous || explores || !canExplore) ways.append(this.#link(words.list, links.list, "quiet"));
    if (canExplore) {
      const attributes = { "aria-pressed": String(explores), title: words.explore_says };
      ways.append(clickable("explore", words.explore, () => this.#send("explore"), attributes));
    }
    const hasFocus = this.head.contains(this.root.getRootNode().activeElement);
    this.head.replaceChildren(name, bar, ways);
    this.root.setAttribute("aria-label", title);
    if (hasFocus) this.head.querySelector(".explore")?.focus({ preventScroll: true });
  }

  /** The question with its answers; while it is the same one, what is filled in stays. */
  #ask(isOther) {
    const { kind, text, note, question, words, links, done: isDone, premise, hint, missing } = this.data;
    const answer = isOther ? this.data.answer : this.#answer();
    const at = this.root.getRootNode().activeElement,
      isHere = this.form.contains(at),
      action = at?.dataset?.does;
    if (missing) {
      this.body.replaceChildren(element("p", "premise", { role: "note" }, missing.text));
      const text = missing.title ? fill(words.goes_on, { title: missing.title }) : words.next,
        away = this.#link(text, missing.href, missing.fetch ? "quiet" : "main");
      this.row.replaceChildren(...(missing.fetch ? [this.#does("fetch", missing.fetch, "main")] : []), away);
      return;
    }
    if (!kind) {
      this.body.replaceChildren(element("p", "text", {}, words.away));
      this.row.replaceChildren(this.#link(words.here, links.here, "main"));
      return;
    }
    if (this.hasEnded) return this.#card();
    const intro = prose("p", "text", {}, note ? `${text} ${note}` : text);
    if (premise) {
      this.body.replaceChildren(...(text ? [intro] : []), element("p", "premise", { role: "note" }, premise));
      this.row.replaceChildren(this.#link(words.restore, links.here, "main"), this.#next("quiet"));
      return;
    }
    if (kind === "open" && !question) {
      this.body.replaceChildren(intro);
      this.row.replaceChildren(this.#next("main"));
      return;
    }
    const group = element("fieldset", kind);
    group.append(prose("legend", "", {}, question));
    group.append(...this.#answers(answer));
    group.disabled = Boolean(isDone);
    this.body.replaceChildren(intro, group);
    if (isDone && !this.data.covers && kind === "open") this.row.replaceChildren(this.#next("main"));
    else if (isDone) this.row.replaceChildren(this.#next("main"), this.#does("again", words.again));
    else if (kind === "open") this.row.replaceChildren(this.#does("reveal", words.uncover, "main"));
    else {
      const check = element("button", "main", { type: "submit", "data-does": "check" }, words.check);
      this.row.replaceChildren(
        check,
        ...(hint ? [] : [this.#does("hint", words.hint)]),
        this.#does("reveal", words.reveal),
      );
    }
    if (!isHere) return; // what had the keyboard has been drawn anew, or has gone: then the next thing to do has it
    const same = action && this.row.querySelector(`[data-does="${action}"]`);
    (same || (isDone ? null : this.#first()) || this.row.querySelector(".main"))?.focus({ preventScroll: true });
  }

  /** On to the next step; behind the last one stands the card of the lesson. */
  #next(className) {
    const { links, words, is_last: isLast, end } = this.data;
    if (!end || !(end.right || end.keep.length || end.next))
      return this.#link(isLast ? words.finish : words.next, links.next, className);
    const show = () => {
      this.hasEnded = true;
      this.root.toggleAttribute("data-ended", true);
      this.#ask(true);
      this.#say();
      this.#why();
      this.row.querySelector("a")?.focus();
    };
    return clickable(className, words.end, show, { "data-does": "end" });
  }

  /** The end of a lesson: what was right at first try, what to keep, and the lesson that goes on. */
  #card() {
    const { end, words, links } = this.data,
      card = element("div", "end");
    if (end.right) card.append(element("p", "score", {}, end.right));
    if (end.keep.length) {
      const list = element("ol", "keep");
      list.append(...end.keep.map((sentence) => prose("li", "", {}, sentence)));
      card.append(element("h2", "", {}, words.keep), list);
    }
    this.body.replaceChildren(card);
    const ways = [this.#link(words.list, links.list, end.next ? "quiet" : "main")];
    if (end.next) ways.unshift(this.#link(fill(words.goes_on, { title: end.next.title }), end.next.href, "main"));
    this.row.replaceChildren(...ways);
  }

  /** A sentence of the reader's to be compared with a model answer: it stays in this page, and nobody judges it. */
  #why() {
    const { why, words, number, lesson } = this.data,
      now = JSON.stringify([this.hasEnded ? "" : why, lesson, number]);
    if (now === this.whyShown) return;
    this.whyShown = now;
    if (!why || this.hasEnded) return this.why.replaceChildren();
    const box = element("textarea", "", {
      rows: "1",
      "aria-label": words.why,
      placeholder: words.why,
      maxlength: "500",
    });
    const model = element("p", "model", { role: "status" }),
      show = () => model.replaceChildren(prose("span", "", {}, `${words.model} ${why}`)),
      compare = clickable("quiet", words.compare, show, { "data-does": "compare" });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      compare.click();
    });
    this.why.replaceChildren(box, compare, model);
  }

  #does(action, text, className = "quiet") {
    return clickable(className, text, () => this.#send(action), { "data-does": action });
  }

  #answers(answer) {
    const { kind, options, picked: choice, words } = this.data;
    if (kind === "number") {
      const field = element("input", "", {
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        maxlength: "40",
        "aria-label": words.number,
        dir: "auto",
      });
      field.value = answer ?? "";
      return [field];
    }
    if (kind === "order") return [this.#order(answer)];
    if (kind === "open") {
      // nobody can judge it, so nobody is sent it
      const field = element("textarea", "", {
        rows: "2",
        maxlength: "2000",
        "aria-label": words.write,
        placeholder: words.write,
        dir: "auto",
      });
      field.value = answer ?? "";
      return [field];
    }
    if (this.data.in_page) return [element("p", "picked", { role: "status" }, choice ? choice[1] : words.pick)];
    return options.map(([code, label]) => {
      const isRight = this.data.right.some((right) => String(right) === String(code));
      const option = element("label", isRight ? "option is-right" : "option"),
        radio = element("input", "", { type: "radio", name: "answer", value: String(code) });
      radio.checked = String(answer) === String(code);
      radio.addEventListener("change", () => this.isPresented && this.#check());
      option.append(radio, prose("span", "", {}, label));
      return option;
    });
  }

  /** A list in which each thing can be moved up and down. */
  #order(answer) {
    const { options, words, done: isDone } = this.data,
      labels = new Map(options),
      list = element("ol", "order");
    const validOrder = [this.data.right, answer].find(
      (order) => Array.isArray(order) && order.length === options.length,
    );
    const codes = validOrder ?? options.map(([code]) => code);
    for (const code of codes) {
      const item = element("li", "", { "data-code": code });
      item.append(prose("span", "", {}, labels.get(code)));
      for (const [way, sign] of Object.entries(isDone ? {} : MOVES)) {
        const move = ({ currentTarget: button }) => {
          if (way === "up") item.previousElementSibling?.before(item);
          else item.nextElementSibling?.after(item);
          button.focus();
        };
        item.append(clickable("quiet", sign, move, { "aria-label": `${labels.get(code)}: ${words[way]}` }));
      }
      list.append(item);
    }
    return list;
  }

  /** The current answer in the form. */
  #answer() {
    const { kind, picked: choice, options } = this.data;
    if (!kind) return null;
    if (this.data.in_page) return choice ? choice[0] : null;
    if (kind === "number") return this.form.querySelector("input")?.value ?? null;
    if (kind === "open") return this.form.querySelector("textarea")?.value ?? null;
    if (kind === "order") return Array.from(this.form.querySelectorAll("li"), (item) => item.dataset.code);
    const value = this.form.querySelector("input:checked")?.value;
    return options.find(([code]) => String(code) === value)?.[0] ?? null;
  }

  /** True in front of a class, which answers aloud. */
  get isPresented() {
    return getComputedStyle(this.root).getPropertyValue("--present").trim() === "1";
  }

  /** Take a key of the presenter's for an answer, a hint or a check; says whether it was one. */
  press(key) {
    const { question, done: isDone, premise } = this.data;
    if (!question || isDone || premise) return false;
    const option =
      key.length === 1 && this.form.querySelectorAll(".option input")[key.charCodeAt(0) - "a".charCodeAt(0)];
    if (option) option.checked = true;
    if (option || key === "Enter") this.#check();
    else if (key === "?") this.#send("hint");
    else return false;
    return true;
  }

  #check() {
    if (this.data.done || !this.data.question || this.data.kind === "open") return;
    if (this.data.in_page) return this.#checkHere();
    const answer = this.#answer();
    if (answer !== null && answer !== "") return this.#send("check", answer);
    this.feedback = null;
    this.status.replaceChildren(element("p", "wrong", {}, this.data.words.nothing));
  }

  /** Check the answer given in the page's own widgets, after their pending values have been sent. */
  #checkHere() {
    const { lesson, number } = this.data;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.data.lesson === lesson && this.data.number === number) this.#send("check", IN_PAGE);
    }, BEHIND);
  }

  #send(action, answer = null) {
    const { lesson, number } = this.data;
    this.send("did", { lesson, number, action, answer });
  }

  #say() {
    const { verdict, is_right: isRight, hint, reveal, words, kind } = this.data;
    const lines = [];
    if (verdict) lines.push([isRight ? "right" : "wrong", verdict]);
    if (this.data.told) lines.push(["told", this.data.told]);
    if (reveal) lines.push(["reveal", reveal]);
    else if (hint) lines.push(["hint", `${words.hint_says} ${hint}`]);
    const now = JSON.stringify(kind && !this.hasEnded ? lines : []);
    if (now === this.feedback) return; // what is said already is not read out again
    this.feedback = now;
    this.status.replaceChildren(...JSON.parse(now).map(([className, text]) => prose("p", className, {}, text)));
  }
}
