// A page in front of a class: keys and a few buttons go from step to step, blank the screen, and open a window with the
// teacher's notes, which is told over a channel of the browser's own what is shown.

import { element } from "../lib/dom.js";
import { mount } from "../lib/mount.js";
import { open, shownAsHere } from "../lib/open.js";
import { drawCode } from "../lib/qr.js";
import { belongsToPage, CHANNEL, idOf, windowOf } from "./keys.js";

const LATE = 4000; // ms, after which a step that has not come is no longer waited for
const KEYS = {
  ArrowRight: "next", PageDown: "next", " ": "next", ArrowLeft: "previous", PageUp: "previous", ".": "blank", b: "blank",
  f: "full", n: "notes", q: "code", Escape: "escape",
};
const IDLE = 300; // ms that a step has been shown before the code of others is taken in
let ahead = null; // that code, once for as long as the page is open
let shown = null; // the view that the keys belong to: for a moment there are two, of this page and of the last one

export default mount((parent) => new Presenter(parent));

class Presenter {
  constructor(parent) {
    this.root = element("nav", "presenter");
    this.root.presenter = this; // for the browser's tests
    this.said = element("p", "unseen", { role: "status" });
    this.dark = element("div", "dark", { hidden: "" });
    this.code = element("div", "sheet", { hidden: "", role: "dialog", tabindex: "-1" });
    parent.append(this.root, this.said, this.dark, this.code);
    this.pressed = (event) => this.#press(event);
    window.addEventListener("keydown", this.pressed, true); // before what would take a key for itself
    this.channel = new BroadcastChannel(CHANNEL);
    this.channel.addEventListener("message", ({ data }) => {
      if (data?.id !== idOf() || data.from !== "notes" || shown !== this) return;
      if (data.does === "hello") this.#tell();
      else if (["next", "previous", "blank"].includes(data.does)) this.#do(data.does);
    });
    for (const layer of [this.dark, this.code]) layer.addEventListener("click", () => this.#do("escape"));
  }

  close() {
    window.removeEventListener("keydown", this.pressed, true);
    this.channel.close();
    if (shown === this) shown = null;
  }

  receive(data, setStateValue) {
    [this.data, this.setStateValue, this.going] = [data, setStateValue, 0];
    shown = this;
    this.#draw();
    this.#tell();
    ahead ??= setTimeout(() => takeIn(data.modules), IDLE);
    const waiting = this.waiting;
    this.waiting = null;
    if (waiting) this.#do(waiting);
  }

  #draw() {
    const { words, at, of, title, previous, next, asks, code } = this.data;
    const held = this.root.getRootNode().activeElement?.dataset?.does;
    const button = (does, sign, off = false) => {
      const made = element("button", does, { type: "button", "data-does": does, "aria-label": words[does], title: words[does] }, sign);
      made.disabled = off;
      made.addEventListener("click", () => this.#do(does));
      return made;
    };
    this.root.setAttribute("aria-label", words.name);
    this.root.replaceChildren(
      button("previous", "‹", !previous), element("span", "at", {}, `${at} / ${of}`), button("next", "›", !next && !asks),
      button("blank", "■"), button("full", "F"), button("notes", "N"), button("code", "Q"), button("leave", "✕"),
    );
    if (held) this.root.querySelector(`[data-does="${held}"]`)?.focus({ preventScroll: true });
    const told = `${at} / ${of}: ${title}`;
    if (told !== this.said.textContent) this.said.textContent = told;
    this.code.hidden = !code;
    if (code) {
      const face = code.rows.length ? [drawCode(code.rows, words.code_alt)] : [];
      const lines = [code.note, code.address].filter(Boolean).map((line) => element("p", "", {}, line));
      this.code.replaceChildren(...face, ...lines, element("p", "", {}, words.close));
      this.code.setAttribute("aria-label", words.code);
      this.code.focus({ preventScroll: true });
    }
  }

  #press(event) {
    if (shown !== this || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const does = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!does || belongsToPage(event) || (does === "escape" && !this.#leaves())) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.#do(does);
  }

  /** Whether Escape is ours: not where it closes a list or a panel of the page. */
  #leaves() {
    return !document.querySelector('[data-baseweb="popover"], [role="dialog"][aria-modal="true"], [popover]:popover-open');
  }

  #do(does) {
    const { next, previous, leave, asks, notes, code } = this.data;
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
    else if (Date.now() - this.going < LATE) this.waiting = does;
    else if (does === "next" && asks) this.#send("reveal");
    else if (does === "next" ? next : previous) {
      this.going = Date.now();
      this.#blank(false);
      open(shownAsHere(does === "next" ? next : previous));
    }
  }

  #blank(on) {
    this.dark.hidden = !on;
    if (on) this.said.textContent = this.data.words.is_blank;
    this.#tell();
  }

  /** Ask the server for something: what is right, or a code; it is known by the step it was asked for. */
  #send(action) {
    this.going = action === "reveal" ? Date.now() : 0;
    this.setStateValue("did", { n: Date.now(), action, step: this.data.step });
  }

  #tell() {
    const { at, of, title, note, minutes, following, asks } = this.data;
    this.channel.postMessage({ id: idOf(), from: "page", at, of, title, note, minutes, following, asks, blank: !this.dark.hidden });
  }
}

/** Have the browser read the code of what other steps show, one file after the other. One that cannot be fetched now is not
 * imported: a browser may remember that it failed, and it will be asked for again when it is shown. */
async function takeIn(modules) {
  for (const module of modules) {
    await rest();
    const { href } = new URL(module, location.href);
    const isThere = await fetch(href).then((answer) => answer.ok, () => false);
    if (isThere) await import(href).catch(() => {});
  }
}

/** Until the browser has nothing else to do, and no step is on its way: what a class waits for goes before what may come. */
async function rest() {
  const later = globalThis.requestIdleCallback ?? setTimeout; // not every browser has the first
  do await new Promise((done) => later(done));
  while (Date.now() - (shown?.going ?? 0) < LATE);
}
