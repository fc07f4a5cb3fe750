// A whole lesson on paper: every step in a frame of its own, as wide as the paper and at its full size, up to three on a
// sheet. The frames are opened one after the other, so that a class's server is not asked for all of them at once. What
// is printed before all of them are there is a sentence that says so.

import { clickable, element, fill } from "../lib/dom.js";
import { mount } from "../lib/view.js";

const SHEET = 955, // CSS pixels of a sheet: on Letter, the lower of the two papers, there are 965 between the margins
  MOST = 3, // steps on a sheet
  GAP = 4; // pixels between two steps
const MOMENT = 250,
  CALM = 4,
  PATIENCE = 240; // ms between two looks; looks in which nothing changes; that are waited

export default mount((parent) => new Sheet(parent));

class Sheet {
  constructor(parent) {
    this.root = element("section", "sheet-of-steps");
    parent.append(this.root);
  }

  close() {
    clearTimeout(this.later);
  }

  receive(data) {
    if (JSON.stringify(data) === JSON.stringify(this.data)) return;
    clearTimeout(this.later);
    this.data = data;
    delete this.root.dataset.ready;
    const { title, words, steps, back } = data,
      press = element("div", "press");
    this.head = element("header");
    this.head.append(
      element("h1", "", {}, title),
      element("p", "whose", {}, data.answers ? words.answers : words.whose),
    );
    this.print = clickable("", words.print, () => window.print(), { disabled: "" });
    this.status = element("p", "", { role: "status" });
    this.notice = element("p", "held");
    press.append(this.print, element("a", "", { href: back }, words.back), this.status);
    this.sheets = steps.map((step, at) => this.#sheet(step, at));
    this.root.replaceChildren(press, this.notice, this.head, ...this.sheets.map(({ box }) => box));
    this.#draw(0);
  }

  #sheet(step, at) {
    const box = element("div", "step"),
      frame = element("iframe", "", { title: fill(this.data.words.step, { n: at + 1 }), scrolling: "no" });
    box.append(frame);
    return { box, frame, link: step, height: 0 };
  }

  /** Open a step, and the next one when nothing moves in it any more. */
  #draw(at) {
    const { words } = this.data,
      all = this.sheets.length;
    this.status.textContent = at < all ? fill(words.coming, { n: at + 1, all }) : words.ready;
    this.notice.textContent = fill(words.held, { at, all });
    if (at === all) {
      arrange(this, this.head.offsetHeight);
      this.print.disabled = false;
      this.root.dataset.ready = "";
      return;
    }
    const sheet = this.sheets[at];
    sheet.frame.src = sheet.link;
    let before = 0,
      calm = 0,
      looks = 0;
    const look = () => {
      const now = heightOf(sheet.frame.contentDocument);
      calm = now && now === before ? calm + 1 : 0;
      before = now;
      if (now) {
        sheet.height = now;
        sheet.frame.style.height = `${now}px`;
      }
      if (calm >= CALM || (now && looks >= PATIENCE)) this.#draw(at + 1);
      else if (++looks < PATIENCE) this.later = setTimeout(look, MOMENT);
      else for (const place of [this.status, this.notice]) place.textContent = fill(words.missing, { n: at + 1 });
    };
    this.later = setTimeout(look, MOMENT);
  }
}

/** The height of a step; 0 until the page in the frame, and every picture on it, has been drawn. */
function heightOf(inside) {
  const main = inside?.querySelector(".stMainBlockContainer"),
    is = (what) => inside.querySelector(what);
  if (!main || !is("[data-testid=stApp][data-test-script-state=notRunning]") || !is(".st-key-height")) return 0;
  if (is("[data-testid=stSkeleton], .stPlotlyChart:not(:has(.main-svg))")) return 0;
  const views = [...inside.querySelectorAll("[data-testid=stBidiComponentRegular]")];
  if (views.some((view) => !view.shadowRoot && !view.childElementCount)) return 0;
  return Math.ceil(main.getBoundingClientRect().height);
}

/** Begin a new sheet where the next step has no room on one. */
function arrange({ sheets }, head) {
  let room = SHEET - head,
    steps = 0;
  for (const [at, { box, height }] of sheets.entries()) {
    const isFull = at > 0 && (height + GAP > room || steps === MOST);
    box.classList.toggle("first", isFull);
    if (isFull) [room, steps] = [SHEET, 0];
    [room, steps] = [room - height - GAP, steps + 1];
  }
}
