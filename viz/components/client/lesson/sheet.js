// A whole lesson on paper: every step in a frame of its own, two to four on a sheet, all of one size. The frames are
// opened one after the other, so that a class's server is not asked for all of them at once. What is printed before all
// of them are there is a sentence that says so.

import { element, fill } from "../lib/dom.js";
import { mount } from "../lib/view.js";

const SHEET = 940; // CSS pixels of a sheet: on Letter, the lower of the two papers, there are 950 between the margins
const PAPER = 680,
  WIDE = 850,
  WIDER = 1000; // a step is laid out so wide, the wider where more than two share a sheet, and made as wide as paper
const FEWEST = 2,
  MOST = 4; // steps on a sheet; as many as it takes for the lesson to fit on a double page
const ROOM = 1.02,
  GAP = 10; // printed letters are a little higher; pixels between two steps
const MOMENT = 250,
  CALM = 4,
  PATIENCE = 240; // ms between two looks; looks in which nothing changes; that are waited

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
    delete this.root.dataset.ready;
    const { title, words, steps, back } = data,
      press = element("div", "press");
    this.head = element("header");
    this.head.append(
      element("h1", "", {}, title),
      element("p", "whose", {}, data.answers ? words.answers : words.whose),
    );
    this.print = element("button", "", { type: "button", disabled: "" }, words.print);
    this.print.addEventListener("click", () => window.print());
    this.status = element("p", "", { role: "status" });
    this.notice = element("p", "held");
    press.append(this.print, element("a", "", { href: back }, words.back), this.status);
    this.many = Math.min(MOST, Math.max(FEWEST, Math.ceil(steps.length / 2)));
    this.root.style.setProperty("--wide", `${this.many > FEWEST ? WIDER : WIDE}px`);
    this.fullScale = PAPER / (this.many > FEWEST ? WIDER : WIDE);
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
        sheet.height = Math.ceil(now * ROOM);
        fit(sheet, this.fullScale);
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

/** Put all steps on as few sheets as they may take, as large as that allows. */
function arrange({ sheets, many, fullScale }, head) {
  const most = Math.ceil(sheets.length / many);
  let scale = Math.min(fullScale, ...sheets.map(({ height }) => (SHEET - head) / height));
  while (pages(sheets, scale, head).length > most) scale *= 0.98;
  const last = pages(sheets, scale, head);
  for (const [at, sheet] of sheets.entries()) {
    fit(sheet, scale);
    sheet.box.classList.toggle("last", last.includes(at));
  }
}

/** The last step on each sheet, if all steps are of this size. */
function pages(sheets, scale, head) {
  const ends = [];
  let room = SHEET - head;
  for (const [at, { height }] of sheets.entries()) {
    const high = Math.ceil(height * scale) + GAP;
    if (high > room && at) {
      ends.push(at - 1);
      room = SHEET;
    }
    room -= high;
  }
  return [...ends, sheets.length - 1];
}

/** As high as what is in it, so many times as large. */
function fit({ box, frame, height }, scale) {
  frame.style.height = `${height}px`;
  frame.style.transform = `scale(${scale})`;
  box.style.height = `${Math.ceil(height * scale)}px`;
  box.style.paddingLeft = `${Math.max(0, Math.floor((PAPER - frame.offsetWidth * scale) / 2))}px`;
}
