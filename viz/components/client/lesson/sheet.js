// A whole lesson on paper: every step in a frame of its own, one on a sheet, each as large as it is and no larger than a sheet.
// The frames are opened one after the other, so that a class's server is not asked for all of them at once.

import { element, fill } from "../lib/dom.js";
import { mount } from "../lib/mount.js";

const MOST = 850; // CSS pixels of a step: on Letter, the lower of the two papers, there are 950 between the margins
const WIDE = 850, USUAL = 0.8; // a step is laid out so wide, and then made smaller: A4, the narrower, has 688, and 16 px are 9.6 pt
const ROOM = 1.02; // printed letters are a little higher
const MOMENT = 250, CALM = 4, PATIENCE = 240; // ms between two looks; looks in which nothing changes; that are waited

export default mount((parent) => new Sheet(parent));

class Sheet {
  constructor(parent) {
    this.root = element("section", "sheet-of-steps");
    this.root.sheet = this; // for the browser's tests
    parent.append(this.root);
  }

  close() {
    clearTimeout(this.later);
  }

  receive(data) {
    if (JSON.stringify(data) === JSON.stringify(this.data)) return;
    clearTimeout(this.later);
    this.data = data;
    const { title, words, steps, back } = data, head = element("header"), press = element("div", "press");
    head.append(element("h1", "", {}, title), element("p", "whose", {}, data.answers ? words.answers : words.whose));
    this.print = element("button", "", { type: "button", disabled: "" }, words.print);
    this.print.addEventListener("click", () => window.print());
    this.said = element("p", "", { role: "status" });
    press.append(this.print, element("a", "", { href: back }, words.back), this.said);
    this.sheets = steps.map((step, at) => this.#sheet(step, at));
    this.root.replaceChildren(press, head, ...this.sheets.map(({ box }) => box));
    this.#draw(0);
  }

  #sheet(step, at) {
    const box = element("div", "step"), frame = element("iframe", "", { title: fill(this.data.words.step, { n: at + 1 }), scrolling: "no" });
    box.append(frame);
    return { box, frame, link: step };
  }

  /** Open a step, and the next one when nothing moves in it any more. */
  #draw(at) {
    const { words } = this.data, all = this.sheets.length;
    this.said.textContent = at < all ? fill(words.coming, { n: at + 1, all }) : words.ready;
    if (at === all) {
      this.print.disabled = false;
      this.root.dataset.ready = "";
      return;
    }
    const { box, frame, link } = this.sheets[at];
    frame.src = link;
    let before = "", calm = 0, looks = 0;
    const look = () => {
      const inside = frame.contentDocument, main = inside?.querySelector(".stMainBlockContainer");
      const done = main && inside.querySelector("[data-testid=stApp][data-test-script-state=notRunning]") && inside.querySelector(".st-key-height") && !inside.querySelector("[data-testid=stSkeleton]");
      const now = done ? `${Math.ceil(main.getBoundingClientRect().height)}` : "";
      calm = now && now === before ? calm + 1 : 0;
      before = now;
      if (now) fit(box, frame, Math.ceil(Number(now) * ROOM));
      if (calm < CALM && ++looks < PATIENCE) this.later = setTimeout(look, MOMENT);
      else this.#draw(at + 1);
    };
    this.later = setTimeout(look, MOMENT);
  }
}

/** As high as what is in it, and made smaller if that is more than a sheet holds. */
function fit(box, frame, height) {
  const scale = Math.min(USUAL, MOST / height);
  frame.style.height = `${height}px`;
  frame.style.transform = `scale(${scale})`;
  box.style.height = `${Math.ceil(height * scale)}px`;
  box.style.paddingLeft = `${Math.floor((WIDE * (USUAL - scale)) / 2)}px`;
}
