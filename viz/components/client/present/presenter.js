// A page in front of a class: keys and a few buttons go from step to step, blank the screen, and open a window with the
// teacher's notes, which follows over a BroadcastChannel.

import { clickable, element } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { open, withEmbedOptions } from "../lib/navigate.js";
import { drawCode } from "../lib/qr.js";
import { drawClosing } from "./closing.js";
import { belongsToPage, CHANNEL, idOf, STEP_KEYS, windowOf } from "./keys.js";
import { Stage } from "./stage.js";

const LATE = 4000; // ms, after which a step that has not come is no longer waited for
const KEYS = {
  ...STEP_KEYS,
  f: "full",
  n: "notes",
  q: "code",
  c: "controls",
  Escape: "escape",
};
const IDLE = 300; // ms that a step has been shown before the code of others is taken in
let isAhead = false; // that code is taken in once for as long as the page is open
let activeView = null; // the view that the keys belong to: for a moment there are two, of this page and of the last one

export default mount((parent) => new Presenter(parent));

class Presenter extends View {
  constructor(parent) {
    super(parent, "presenter", { tag: "nav" });
    this.status = element("p", "live", { role: "status" });
    this.dark = element("div", "dark", { hidden: "" });
    this.code = element("div", "sheet", { hidden: "", role: "dialog", tabindex: "-1" });
    this.closing = element("div", "closing", { hidden: "", role: "dialog", tabindex: "-1" });
    parent.append(this.status, this.closing, this.dark, this.code);
    this.stage = new Stage();
    this.pressed = (event) => this.#press(event);
    window.addEventListener("keydown", this.pressed, true); // before what would take a key for itself
    this.channel = new BroadcastChannel(CHANNEL);
    this.channel.addEventListener("message", ({ data }) => {
      if (data?.id !== idOf() || data.from !== "notes" || activeView !== this) return;
      if (data.does === "hello") this.#tell();
      else if (["next", "previous", "blank"].includes(data.does)) this.#do(data.does);
    });
    for (const layer of [this.dark, this.code]) layer.addEventListener("click", () => this.#do("escape"));
  }

  close() {
    super.close();
    window.removeEventListener("keydown", this.pressed, true);
    this.channel.close();
    this.stage.close();
    if (activeView === this) activeView = null;
  }

  receive(data) {
    [this.data, this.going] = [data, 0];
    activeView = this;
    this.closing.hidden = true;
    this.stage.show(data.step);
    this.#draw();
    this.#tell();
    if (!isAhead) setTimeout(() => takeIn(data.modules), IDLE);
    isAhead = true;
    const waiting = this.waiting;
    this.waiting = null;
    if (waiting) this.#do(waiting);
  }

  #draw() {
    const { words, title, previous, code } = this.data;
    const action = this.root.getRootNode().activeElement?.dataset?.does;
    const button = (does, sign, off = false) => {
      const attributes = { "data-does": does, "aria-label": words[does], title: words[does] },
        node = clickable(does, sign, () => this.#do(does), attributes);
      node.disabled = off;
      return node;
    };
    this.root.setAttribute("aria-label", words.name);
    this.root.replaceChildren(
      element("span", "title", {}, title),
      button("previous", "‹", !previous && !this.#inner(-1) && this.closing.hidden),
      element("span", "at", {}, this.#place()),
      button("next", "›", !this.closing.hidden),
      ...["controls C", "blank ■", "full F", "notes N", "code Q", "leave ✕"].map((entry) =>
        button(...entry.split(" ")),
      ),
    );
    this.root.querySelector(".controls").setAttribute("aria-pressed", String(this.stage.showsAll));
    if (action) this.root.querySelector(`[data-does="${action}"]`)?.focus({ preventScroll: true });
    const message = `${this.#place()}: ${title}`;
    if (message !== this.status.textContent) this.status.textContent = message;
    this.code.hidden = !code;
    if (code) {
      const face = code.rows.length ? [drawCode(code.rows, words.code_alt)] : [];
      const lines = [code.note, code.address].filter(Boolean).map((line) => element("p", "", {}, line));
      this.code.replaceChildren(...face, ...lines, element("p", "", {}, words.close));
      this.code.setAttribute("aria-label", words.code);
      this.code.focus({ preventScroll: true });
    }
  }

  /** The number of the step, and of the one inside it. */
  #place() {
    const { at, of, inner } = this.data;
    return inner && inner.at <= inner.of ? `${at}.${inner.at} / ${of}` : `${at} / ${of}`;
  }

  /** True if this step has an inner step `places` further on. */
  #inner(places) {
    const { inner } = this.data,
      to = inner && inner.at + places;
    return Boolean(inner) && to >= 1 && to <= inner.of;
  }

  /** Go to the step inside this one: of the section, which Python draws, or of a picture in it. */
  #walk(places) {
    if (this.#inner(places)) {
      this.going = Date.now();
      this.send("did", { action: places > 0 ? "forward" : "back", step: this.data.step });
      return true;
    }
    return !this.data.lesson && walkPicture(places);
  }

  #press(event) {
    if (activeView !== this || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key,
      does = KEYS[key];
    if (belongsToPage(event)) return;
    // While a question is open its answers have the letters; with Shift they do what they do elsewhere.
    const isAnswer = (!event.shiftKey || key === "?") && this.data.asks && question()?.press(key);
    if (!isAnswer && (!does || (does === "escape" && !this.#leaves()))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!isAnswer) this.#do(does, event.shiftKey);
  }

  /** True if Escape ends the presentation: no list or panel of the page is open. */
  #leaves() {
    return !document.querySelector(
      '[data-baseweb="popover"], [role="dialog"][aria-modal="true"], [popover]:popover-open',
    );
  }

  /** Do what a key or a button asks for; `skips` leaves out the steps inside a section. */
  #do(does, skips = false) {
    const { next, previous, leave, asks, notes, code } = this.data,
      places = does === "next" ? 1 : -1;
    if (does === "escape") {
      if (!this.dark.hidden) this.#blank(false);
      else if (code) this.#send("close");
      else open(leave);
    } else if (does === "blank") this.#blank(this.dark.hidden);
    else if (does === "full") {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen?.().catch(() => {}); // a browser may refuse
    } else if (does === "notes") window.open(notes, windowOf(), "popup,width=960,height=640");
    else if (does === "code") this.#send(code ? "close" : "code");
    else if (does === "leave") open(leave);
    else if (does === "controls") {
      this.stage.showAll(!this.stage.showsAll);
      this.#draw();
    } else if (!this.closing.hidden) {
      if (does === "previous") this.#close(true); // nothing comes after the last slide
    } else if (Date.now() - this.going < LATE) this.waiting = does;
    else if (does === "next" && asks) this.#send("reveal");
    else if (!skips && this.#walk(places)) this.#blank(false);
    else if (does === "next" && !next) this.#close(false);
    else if (does === "next" ? next : previous) {
      this.going = Date.now();
      this.#blank(false);
      open(withEmbedOptions(does === "next" ? next : previous));
    }
  }

  /** Show the last slide, or what was before it. */
  #close(back) {
    const { closing, words } = this.data;
    this.#blank(false);
    if (!back) drawClosing(this.closing, closing, words);
    this.closing.hidden = back;
    this.#draw();
    if (!back) this.closing.focus({ preventScroll: true });
    this.status.textContent = back ? this.status.textContent : words.closing;
  }

  #blank(on) {
    this.dark.hidden = !on;
    if (on) this.status.textContent = this.data.words.is_blank;
    this.#tell();
  }

  /** Ask the server for something: what is right, or a code; it is known by the step it was asked for. */
  #send(action) {
    this.going = action === "reveal" ? Date.now() : 0;
    this.send("did", { action, step: this.data.step });
  }

  #tell() {
    const { at, of, title, note, why, minutes, following, asks } = this.data,
      step = { at, of, title, note, why, minutes, following, asks };
    this.channel.postMessage({ id: idOf(), from: "page", ...step, blank: !this.dark.hidden });
  }
}

/** The bar of an open lesson. */
function question() {
  const viewOf = (place) => place?.shadowRoot.view;
  return viewOf(document.querySelector(".st-key-lesson_bar [data-testid=stBidiComponentRegular]"));
}

/** Take a picture that has steps of its own a few of them on; says whether it went. */
function walkPicture(places) {
  const walks = ({ shadowRoot }) => shadowRoot?.view?.walk?.(places) ?? false;
  return [...document.querySelectorAll(".stMain [data-testid=stBidiComponentRegular]")].some(walks);
}

/** Have the browser read the code of what other steps show, one file after the other. One that cannot be fetched now is
 * not imported: a browser may remember that it failed, and it will be asked for again when it is shown. */
async function takeIn(modules) {
  for (const module of modules) {
    await rest();
    const { href } = new URL(module, location.href);
    const isThere = await fetch(href).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isThere) await import(href).catch(() => {});
  }
}

/**
 * Until the browser has nothing else to do, and no step is on its way: what a class waits for goes before what may
 * come.
 */
async function rest() {
  const later = globalThis.requestIdleCallback ?? setTimeout; // not every browser has the first
  do await new Promise((resolve) => later(resolve));
  while (Date.now() - (activeView?.going ?? 0) < LATE);
}
