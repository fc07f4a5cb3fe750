// The screen of a presentation: the picture gets most of it, and is whole. What stands above it gives way; in a lesson
// everything else does. A view fits itself into the room, of which lib/fit.js is told, or is laid out wider and drawn
// smaller, until it is as wide for its height as the room is, and nothing in it has to be scrolled.

const TRIES = 3, // widths of a layout
  RESTARTS = 8; // of the same step, where a picture has become another one
const SMALLEST = 0.4, // of the letters of a picture, to a thirtieth of the window's height
  LARGEST = 1.6;
const ENOUGH = 0.5; // of the window: pictures with less of it, beside their question, may have more below it
const GAIN = 1.02, // what a wider layout has to gain of the screen
  NEAR = 1.08; // how much wider it has to be to be tried
const EDGE = 3; // pixels between a picture and what is below it
const CALM = 80; // ms without a change, after which the screen is looked at
/** @returns {HTMLElement | null} */
const app = () => document.querySelector(".stApp");
/** @returns {NodeListOf<HTMLElement>} the places that say so */
const elementsWith = (name) => document.querySelectorAll(`[data-${name}]`);
const PICTURES = ":is(.stPlotlyChart, .stDataFrame, .stImage, [data-testid=stBidiComponentRegular])";
const PLACE = "[data-testid=stElementContainer]",
  STAYS = ".st-key-lesson_place, .st-key-lesson_says, .st-key-text_row, .st-key-presenter";
const WORDS = ".stMarkdown, .stHtml, [data-testid=stCaptionContainer], .stButton, .stDownloadButton, .stPopover";
const COLUMN = "[data-testid=stColumn]",
  ASIDE = ":is(.st-key-lesson_place, .st-key-lesson_says)", // a question is beside its picture, on a wide screen
  QUESTION = `${ASIDE} [data-testid=stBidiComponentRegular]`,
  SCROLLS = /auto|scroll/;
const HEADINGS = "h1, h2, h3, h4, h5, h6",
  SMALL = [60, 40]; // pixels: what is smaller is no picture

const isLarge = ({ width, height }) => width > SMALL[0] && height > SMALL[1];

export class Stage {
  layouts = new Map(); // of each place: how its picture is laid out
  areas = new WeakMap(); // of each picture: the largest so far

  constructor() {
    this.showsAll = false;
    this.look = new ResizeObserver(() => this.#soon());
    this.changes = new MutationObserver(() => this.#soon());
    this.onResize = () => {
      if (this.isOurs) return;
      this.#putBeside();
      this.#anew();
    };
    window.addEventListener("resize", this.onResize);
  }

  close() {
    this.#wait();
    this.look.disconnect();
    this.changes.disconnect();
    window.removeEventListener("resize", this.onResize);
    app()?.style.removeProperty("--fit-below");
    for (const name of ["data-shows-all", "data-lays-out"]) app()?.removeAttribute(name);
    this.#putBeside();
    this.#reset();
  }

  /** Another step, or the same one drawn again. */
  show(step) {
    const main = document.querySelector("[data-testid=stMain]"),
      block = main?.querySelector(".stMainBlockContainer");
    if (block && block !== this.block) {
      this.changes.disconnect();
      this.block = block;
      this.changes.observe(block, { childList: true, subtree: true });
      this.look.observe(block);
    }
    this.main = main;
    if (step !== this.step) {
      this.step = step;
      this.#putBeside();
      this.#anew();
    } else this.#soon();
  }

  /** Show all sentences and controls, or hide them again. */
  showAll(on) {
    this.showsAll = on;
    app()?.toggleAttribute("data-shows-all", on);
    this.#anew();
  }

  #putBeside() {
    app()?.removeAttribute("data-above");
    this.beside = this.isPut = undefined;
  }

  #anew() {
    this.#reset();
    this.#soon();
  }

  /** Once views have drawn themselves in their new size, which takes them two frames, however long these are. */
  #soon() {
    this.#wait();
    const calm = () => {
      this.timer = setTimeout(() => this.#fit(), CALM);
    };
    this.frame = requestAnimationFrame(() => {
      this.frame = requestAnimationFrame(calm);
    });
  }

  #wait() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.frame = 0;
  }

  #reset() {
    [this.layouts, this.areas] = [new Map(), new WeakMap()];
    for (const place of elementsWith("gives-way")) delete place.dataset.givesWay;
    for (const place of elementsWith("fits")) setBack(place);
  }

  #fit() {
    this.#wait();
    if (!this.main) return;
    this.#fitAll();
    if (!this.frame) app()?.removeAttribute("data-lays-out");
  }

  #fitAll() {
    for (const place of elementsWith("gives-way")) delete place.dataset.givesWay;
    const row = this.#row();
    if (!this.showsAll) this.#giveWay(row);
    this.#keepFree(row.length ? this.#below(row) : 0);
    for (const picture of row) {
      this.look.observe(picture); // the page may be as high as before when a picture has grown
      this.#layOut(picture, this.#room([picture]) - this.#below(row) - EDGE);
    }
    const bar = document.querySelector(QUESTION);
    if (!bar) return;
    if (getComputedStyle(bar.closest(ASIDE)).position === "fixed") {
      this.look.observe(bar);
      this.#layOut(bar, this.#room([bar]) - this.main.scrollTop, 1);
    }
    this.#putQuestion(row.map((picture) => [picture, this.layouts.get(picture.closest(PLACE))]));
  }

  /** Put a lesson's question beside its pictures, or above them where they then have more of the screen. */
  #putQuestion(row) {
    if (this.isPut || this.showsAll || !row.length || !row.every(([, layout]) => layout?.isDone)) return;
    const covers = ([picture, { best }]) => best.area * (picture.currentCSSZoom / best.shrink) ** 2,
      share = row.map(covers).reduce((all, part) => all + part) / (innerWidth * innerHeight),
      wasBeside = this.beside === undefined;
    this.isPut = !wasBeside || share >= ENOUGH;
    if (this.isPut && (wasBeside || share > this.beside.share)) return;
    this.beside ??= { share, layouts: this.layouts };
    app()?.toggleAttribute("data-above", wasBeside);
    this.#anew();
    if (wasBeside) return;
    this.layouts = this.beside.layouts;
    for (const [place, layout] of this.layouts) draw(place, layout);
  }

  /** The first large picture and those beside it. */
  #row() {
    const pictures = [...(this.block?.querySelectorAll(PICTURES) ?? [])]
      .map((picture) => ({ picture, box: picture.getBoundingClientRect() }))
      .filter(({ picture, box }) => isLarge(box) && !picture.closest(STAYS));
    for (const { picture, box } of pictures) {
      const area = box.width * Math.min(box.height, innerHeight);
      this.areas.set(picture, Math.max(area, this.areas.get(picture) ?? 0));
    }
    const area = ({ picture }) => this.areas.get(picture),
      most = Math.max(0, ...pictures.map(area));
    const first = pictures.find((entry) => area(entry) >= 0.4 * most);
    if (!first) return [];
    const isBeside = ({ box }) =>
      Math.min(box.bottom, first.box.bottom) - Math.max(box.top, first.box.top) >
      0.5 * Math.min(box.height, first.box.height);
    return pictures.filter(isBeside).map(({ picture }) => picture);
  }

  /** Pixels of the screen from the top of these pictures down to the end of the page's part of it. */
  #room(row) {
    const top = Math.min(...row.map((picture) => picture.getBoundingClientRect().top)) + this.main.scrollTop;
    return this.main.getBoundingClientRect().bottom - top;
  }

  /** The height of the sentence below the pictures, if it is a short one. */
  #below(row) {
    const end = Math.max(...row.map((picture) => picture.getBoundingClientRect().bottom)),
      most = this.main.clientHeight / 8;
    const boxes = [...this.block.querySelectorAll(WORDS)].map((words) => words.closest(PLACE)?.getBoundingClientRect());
    const next = boxes.find((box) => box && box.height > 0 && box.top > end - 4 && box.top < end + most);
    return next && next.height <= most ? next.bottom - end : 0;
  }

  /** Set the room to keep free below pictures: for the strip of keys, and a sentence. */
  #keepFree(below) {
    const free = Math.ceil(window.innerHeight - this.main.getBoundingClientRect().bottom + below + EDGE);
    if (Math.abs(free - (this.free ?? 0)) < 2) return;
    this.free = free;
    app()?.style.setProperty("--fit-below", `${free}px`);
    this.isOurs = true; // views look at their room when the window changes
    dispatchEvent(new Event("resize"));
    this.isOurs = false;
  }

  /** Hide what stands above the pictures; in a lesson also what stands below, and other pictures. */
  #giveWay(row) {
    const [first] = row,
      top = first && Math.min(...row.map((picture) => picture.getBoundingClientRect().top)),
      isAsked = Boolean(document.querySelector(QUESTION));
    for (const place of first ? this.block.querySelectorAll(PLACE) : []) {
      if (place.closest(STAYS) || row.some((picture) => place.contains(picture))) continue;
      const column = row.length > 1 && !place.querySelector(PICTURES) && place.closest(COLUMN);
      if (column && row.some((picture) => column.contains(picture))) continue; // it says which picture is which
      const box = place.getBoundingClientRect(),
        isAbove = place.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING && box.bottom <= top + 2;
      if (isAsked || (isAbove && !place.querySelector(`${PICTURES}, ${HEADINGS}`))) place.dataset.givesWay = "";
    }
  }

  /** Lay a picture out wider and draw it smaller, as long as it then has more of the room; in the end it is whole. */
  #layOut(picture, height, largest = LARGEST) {
    const place = picture.closest(PLACE),
      layout = this.layouts.get(place) ?? { shrink: 1, tries: 0, restarts: 0 };
    if (!place || height < SMALL[1]) return;
    if (!this.layouts.has(place)) app()?.setAttribute("data-lays-out", "");
    this.layouts.set(place, layout);
    const full = picture.currentCSSZoom / layout.shrink, // as large as its letters should be
      room = [place.getBoundingClientRect().width / full, height / full],
      [wide, high] = extent(picture),
      shrink = Math.min(largest, room[0] / wide, room[1] / high),
      now = [...room, wide, high];
    if (layout.isDone) {
      const isWhole = shrink > layout.shrink - 0.001;
      layout.now ??= now;
      const isSame = now.every((side, i) => Math.abs(side / layout.now[i] - 1) < GAIN - 1);
      if ((isWhole && isSame && shrink < layout.shrink * GAIN) || layout.restarts++ > RESTARTS) return;
      if (isWhole) Object.assign(layout, { isDone: false, best: null, now: null, tries: 0, shrink: 1 });
      else Object.assign(layout, { now: null, shrink });
    } else {
      const width = picture.clientWidth,
        area = shrink * shrink * (drawnArea(picture) || wide * high),
        isBetter =
          !layout.best || (area > layout.best.area * GAIN && wide <= width) || layout.best.wide > layout.best.width;
      if (isBetter) layout.best = { area, width, wide, shrink };
      const alike = width * Math.sqrt((high * room[0]) / (wide * room[1])), // then it may have the room's shape
        next = Math.max(room[0] / largest, Math.min(room[0] / SMALLEST, alike), wide > width ? wide : 0);
      const isNear = wide <= width && next > width * (2 - GAIN) && next < width * NEAR;
      layout.isDone = !isBetter || isNear || ++layout.tries > TRIES;
      [layout.width, layout.shrink] = layout.isDone ? [layout.best.width, layout.best.shrink] : [next, room[0] / next];
    }
    layout.more = room[0] / layout.width / layout.shrink;
    draw(place, layout);
    this.#soon();
  }
}

/** Draw a picture as it is laid out. */
function draw(place, { shrink, width, more }) {
  if (shrink === 1) return setBack(place);
  place.dataset.fits = "";
  place.style.setProperty("--shrink", shrink.toFixed(4));
  place.style.setProperty("--wide", `${Math.floor(width)}px`);
  place.style.setProperty("--fit-more", more.toFixed(4));
}

/** Give a picture its own size back. */
function setBack(place) {
  delete place.dataset.fits;
  for (const name of ["--shrink", "--wide", "--fit-more"]) place.style.removeProperty(name);
}

/** The area of the box around what is drawn in a view, in its own square pixels. */
function drawnArea(picture) {
  const parts = [...(picture.shadowRoot?.querySelectorAll("canvas, svg, table") ?? [])];
  const boxes = parts.map((part) => part.getBoundingClientRect()).filter(isLarge),
    side = (from, to) => Math.max(...boxes.map((box) => box[to])) - Math.min(...boxes.map((box) => box[from]));
  return boxes.length ? (side("left", "right") * side("top", "bottom")) / picture.currentCSSZoom ** 2 : 0;
}

/** The size of a picture without inner scroll bars, in its own pixels. */
function extent(picture) {
  let [wide, high] = [picture.scrollWidth, picture.scrollHeight];
  for (const part of picture.shadowRoot?.querySelectorAll("*") ?? []) {
    if (!part.clientWidth || !SCROLLS.test(getComputedStyle(part).overflow)) continue;
    wide = Math.max(wide, picture.clientWidth + part.scrollWidth - part.clientWidth);
    high = Math.max(high, picture.clientHeight + part.scrollHeight - part.clientHeight);
  }
  return [wide, high];
}
