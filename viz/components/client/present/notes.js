// The presenter's own window: what to say at this step, how long it takes, what comes next, and a clock. It sends
// no requests: the presented page, in the same browser, sends the step and receives the keys pressed here.

import { clickable, element, fill, prose } from "../lib/dom.js";
import { mount } from "../lib/view.js";
import { belongsToPage, CHANNEL, idFromWindow, STEP_KEYS } from "./keys.js";

export default mount((parent) => new Notes(parent));

class Notes {
  constructor(parent) {
    this.root = element("main", "notes");
    parent.append(this.root);
    this.id = idFromWindow();
    this.began = Date.now();
    this.channel = new BroadcastChannel(CHANNEL);
    this.channel.addEventListener("message", ({ data }) => {
      if (data?.from !== "page" || (this.id && data.id !== this.id)) return;
      this.id = data.id;
      this.state = data;
      this.draw();
    });
    this.ticks = setInterval(() => this.#clock(), 1000);
    this.pressed = (event) => {
      const does = STEP_KEYS[event.key];
      if (!does || event.ctrlKey || event.metaKey || event.altKey || belongsToPage(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.send(does);
    };
    window.addEventListener("keydown", this.pressed, true);
  }

  close() {
    clearInterval(this.ticks);
    window.removeEventListener("keydown", this.pressed, true);
    this.channel.close();
  }

  receive({ words }) {
    this.words = words;
    this.draw();
    this.send("hello");
  }

  send(does) {
    this.channel.postMessage({ id: this.id, from: "notes", does });
  }

  draw() {
    const { words, state: told } = this;
    this.time = element("p", "time", { role: "timer" });
    const again = clickable("", words.restart, () => {
      this.began = Date.now();
      this.#clock();
    });
    const clock = element("div", "clock");
    clock.append(this.time, again);
    if (!told) {
      this.root.replaceChildren(clock, element("p", "", { role: "status" }, words.alone));
      return this.#clock();
    }
    const way = element("div", "way"),
      minutes = told.minutes ? ` · ${fill(words.minutes, { minutes: told.minutes })}` : "";
    for (const [does, sign] of [
      ["previous", "‹"],
      ["next", "›"],
      ["blank", "■"],
    ]) {
      way.append(clickable("", sign, () => this.send(does), { "aria-label": words[does], title: words[does] }));
    }
    const lines = [
      element("p", "at", {}, `${told.at} / ${told.of}${minutes}`),
      element("h1", "", {}, told.title),
      prose("p", "note", {}, told.note),
      ...(told.why ? [prose("p", "note", {}, fill(words.why, { why: told.why }))] : []),
      ...(told.asks ? [element("p", "asks", {}, words.asks)] : []),
      ...(told.blank ? [element("p", "asks", {}, words.is_blank)] : []),
      element("p", "following", {}, told.following ? fill(words.following, { title: told.following }) : words.last),
    ];
    const text = element("div", "text", { role: "status" });
    text.append(...lines);
    this.root.replaceChildren(clock, text, way);
    this.#clock();
  }

  #clock() {
    const seconds = Math.floor((Date.now() - this.began) / 1000),
      two = (n) => String(n).padStart(2, "0");
    const now = new Date();
    this.time.textContent = `${two(now.getHours())}:${two(now.getMinutes())} · ${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  }
}
