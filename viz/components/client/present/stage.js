// The screen of a presentation: the picture gets most of it, and is whole. Everything else gives way, but for a lesson's
// question, which stands beside the picture or above it. A picture is laid out in several widths, each drawn as large as
// the room allows, and keeps the one that covers most of the screen. lib/fit.js is told of the room.

const TRIES = 5, // layouts beside the question, or below it
  RESTARTS = 8; // of the same step, where a picture has become another one
const [SMALLEST, LARGEST] = [0.4, 2]; // letters of a picture, to a thirtieth of the window's height
const ENOUGH = 0.56; // of the window: with it nothing else is tried
const GAIN = 1.02, // what another layout has to gain
  NEAR = 0.06, // how different a width has to be to be tried
  OTHER = 1.25; // a picture whose shape has changed by more is another one
const EDGE = 3; // pixels between a picture and the strip of keys
const CALM = 50; // ms without a change, after which the screen is looked at
/** @returns {HTMLElement | null} */
const find = (what) => document.querySelector(what);
/** @returns {NodeListOf<HTMLElement>} */
const findAll = (what, root = document) => root.querySelectorAll(what);
const app = () => find(".stApp");
const PICTURES = ":is(.stPlotlyChart, .stDataFrame, .stImage, [data-testid=stBidiComponentRegular])";
const PLACE = "[data-testid=stElementContainer]",
  COLUMN = "[data-testid=stColumn]",
  QUESTION = ":is(.st-key-lesson_place, .st-key-lesson_says)",
  STAYS = `${QUESTION}, .st-key-text_row, .st-key-presenter`;
const SMALL = [60, 40]; // pixels: what is smaller is no picture

const isLarge = ({ width, height }) => width > SMALL[0] && height > SMALL[1];

export class Stage {
  row = []; // the pictures that are shown
  pictures = []; // all that are large
  fitted = null; // how they are laid out
  run = 0; // the number of the search for a layout
  restarts = 0;

  constructor() {
    this.showsAll = false;
    this.look = new ResizeObserver(() => this.#soon());
    this.changes = new MutationObserver(() => this.#soon());
    this.onResize = () => this.isOurs || this.#anew();
    window.addEventListener("resize", this.onResize);
  }

  close() {
    this.#reset();
    this.main = null;
    this.look.disconnect();
    this.changes.disconnect();
    window.removeEventListener("resize", this.onResize);
    for (const name of ["data-shows-all", "data-lays-out"]) app()?.removeAttribute(name);
  }

  /** Another step, or the same one drawn again. */
  show(step) {
    this.main = find("[data-testid=stMain]");
    const block = this.main?.querySelector(".stMainBlockContainer");
    if (block && block !== this.block) {
      this.changes.disconnect();
      this.block = block;
      this.changes.observe(block, { childList: true, subtree: true });
      this.look.observe(block);
    }
    if (step !== this.step) this.#anew();
    else this.#soon();
    this.step = step;
  }

  /** Show all sentences and controls, or hide them again. */
  showAll(on) {
    this.showsAll = on;
    app()?.toggleAttribute("data-shows-all", on);
    this.#anew();
  }

  #anew() {
    this.#reset();
    this.#soon();
  }

  #reset() {
    this.run++;
    [this.row, this.pictures, this.fitted, this.resume, this.restarts] = [[], [], null, null, 0];
    app()?.removeAttribute("data-above");
    app()?.toggleAttribute("data-lays-out", !this.showsAll);
    this.#hide([]);
    for (const place of findAll("[data-fits]")) {
      delete place.dataset.fits;
      for (const name of ["--shrink", "--wide", "--fit-more", "--fit-below"]) place.style.removeProperty(name);
    }
  }

  /** Once views have drawn themselves in their new size, which takes them two frames, however long these are. */
  #soon() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    const go = () => {
      const resume = this.resume;
      this.resume = null;
      if (resume) resume();
      else this.#fit();
    };
    this.frame = requestAnimationFrame(() => {
      this.frame = requestAnimationFrame(() => {
        this.timer = setTimeout(go, CALM);
      });
    });
  }

  /** Wait for that; false if another search has begun meanwhile. */
  #calm(run) {
    this.#soon();
    return new Promise((resolve) => {
      this.resume = () => resolve(run === this.run);
    });
  }

  async #fit() {
    if (!this.block || !this.main) return;
    this.#choose();
    this.#fitQuestion();
    if (this.fitted && this.#holds()) return;
    if (this.row.length && !this.showsAll && this.restarts++ < RESTARTS && !(await this.#search(++this.run))) return;
    app()?.removeAttribute("data-lays-out");
  }

  /** Draw the pictures as large as they may be now; says whether they are still those that were laid out. */
  #holds() {
    const { shapes, share } = this.fitted,
      now = this.#measure(this.fitted);
    const isOther = now.shapes.some((shape, i) => Math.max(shape / shapes[i], shapes[i] / shape) > OTHER);
    if (isOther || now.shapes.length !== shapes.length || now.share < share / OTHER) return false;
    this.#draw(now);
    return true;
  }

  /** Try places of the question and widths of the pictures, and keep the best; says whether it has come to an end. */
  async #search(run) {
    const asks = find(`${QUESTION} ${PICTURES}`),
      ways = (asks ? [false, true] : [false]).map((isAbove) => ({ isAbove, tries: [] })),
      best = () => bestOf(ways.flatMap(({ tries }) => tries)),
      isEnough = () => best()?.share >= ENOUGH && !best().isCut;
    const look = async ({ isAbove, tries }, layout) => {
      app()?.toggleAttribute("data-above", isAbove);
      this.#fitQuestion();
      this.#draw(layout, 1 / layout.factor);
      const isOurs = await this.#calm(run);
      if (isOurs) tries.push({ ...this.#measure(layout), isAbove });
      return isOurs;
    };
    for (const way of ways) if (!isEnough() && !(await look(way, { factor: 1, belows: [] }))) return false;
    const tried = ways.filter(({ tries }) => tries.length);
    for (const way of tried.sort((a, b) => score(b.tries[0]) - score(a.tries[0]))) {
      for (let next = nextLayout(way.tries); next && !isEnough(); next = nextLayout(way.tries))
        if (!(await look(way, next))) return false;
    }
    const way = ways[Number(best().isAbove)];
    if (!(await look(way, best()))) return false;
    this.fitted = way.tries.at(-1);
    this.#draw(this.fitted);
    return true;
  }

  /** Make a question beside its picture as small as it has to be. */
  #fitQuestion() {
    const bar = find(`${QUESTION} ${PICTURES}`),
      /** @type {HTMLElement | null | undefined} */ place = bar?.closest(PLACE);
    if (bar) this.look.observe(bar);
    const isBeside = bar && getComputedStyle(bar.closest(QUESTION)).position === "fixed";
    for (let shrink = 1; place && shrink > SMALLEST; shrink -= 0.05) {
      place.style.setProperty("--shrink", shrink.toFixed(2));
      if (!isBeside || bar.getBoundingClientRect().bottom <= this.main.getBoundingClientRect().bottom) break;
    }
  }

  /** Choose the first large picture and those beside it; everything else gives way. */
  #choose() {
    this.#hide([]);
    const all = [...findAll(PICTURES, this.block)].filter((picture) => !picture.closest(STAYS)),
      pictures = all.filter((picture) => isLarge(picture.getBoundingClientRect()));
    if (pictures.length !== this.pictures.length || pictures.some((picture, i) => picture !== this.pictures[i])) {
      [this.pictures, this.row, this.fitted] = [pictures, firstRow(pictures), null];
      for (const picture of this.row) this.look.observe(picture); // the page may be as high as before when one has grown
    }
    if (!this.showsAll) this.#hide(this.row);
  }

  /** Hide all but these pictures. */
  #hide(row) {
    for (const place of findAll("[data-gives-way]")) delete place.dataset.givesWay;
    for (const place of row.length ? findAll(PLACE, this.block) : []) {
      if (place.closest(STAYS) || row.some((picture) => place.contains(picture))) continue;
      const column = row.length > 1 && !place.querySelector(PICTURES) && place.closest(COLUMN);
      if (column && row.some((picture) => column.contains(picture))) continue; // it says which picture is which
      place.dataset.givesWay = "";
    }
  }

  /**
   * How large each picture may be drawn, laid out `factor` times as wide as its place, with room kept free `below` what
   * fits itself into the window; the share of the window it has; and by how much it would be too high in its full width.
   */
  #measure({ factor, belows }) {
    const layout = { factor, belows, shrinks: [], shapes: [], overs: [], share: 0, next: 1 / LARGEST, isCut: false };
    for (const picture of this.row) {
      const { full, room } = this.#placeOf(picture),
        [wide, high, isCut] = extent(picture),
        shrink = Math.min(LARGEST, room[0] / wide, room[1] / high);
      layout.isCut ||= isCut;
      layout.shrinks.push(shrink);
      layout.shapes.push(wide / high);
      layout.overs.push(Math.max(0, (high / factor - room[1]) * full));
      layout.share += ((drawnArea(picture) || wide * high) * (full * shrink) ** 2) / (innerWidth * innerHeight);
      const alike = factor * Math.sqrt((high * room[0]) / (wide * room[1])), // then it may have the room's shape
        least = isCut ? wide / room[0] : 0;
      layout.next = Math.max(layout.next, Math.min(alike, 1 / SMALLEST), least);
    }
    return layout;
  }

  /** The place of a picture, its zoom when its letters are as large as they should be, and its room, in its pixels then. */
  #placeOf(picture) {
    const place = picture.closest(PLACE),
      full = picture.currentCSSZoom / (Number(place.style.getPropertyValue("--shrink")) || 1),
      top = picture.getBoundingClientRect().top + this.main.scrollTop,
      high = this.main.getBoundingClientRect().bottom - EDGE - top;
    return { place, full, room: [place.getBoundingClientRect().width / full, Math.max(SMALL[1], high / full)] };
  }

  /** Lay the pictures out, and draw them as large as they may be, or all of them `shrink` times as large. */
  #draw({ factor, belows, shrinks }, shrink = 0) {
    for (const [i, picture] of this.row.entries()) {
      const { place, room } = this.#placeOf(picture),
        zoom = shrink || shrinks[i];
      place.dataset.fits = "";
      place.style.setProperty("--shrink", zoom.toFixed(4));
      place.style.setProperty("--wide", `${Math.floor(room[0] * factor)}px`);
      place.style.setProperty("--fit-more", (1 / factor / zoom).toFixed(4));
      place.style.removeProperty("--fit-below");
      if (belows[i]) place.style.setProperty("--fit-below", `calc(var(--strip) + ${Math.ceil(belows[i] + EDGE)}px)`);
    }
    this.isOurs = true; // views look at their room when the window changes
    dispatchEvent(new Event("resize"));
    this.isOurs = false;
  }
}

/** A layout with enough of the window is as good as its letters are large; no other is as bad as one that is cut. */
function score({ share, shrinks, isCut }) {
  return (Math.min(share, ENOUGH) * Math.min(1, ...shrinks) ** 0.15) / (isCut ? 100 : 1);
}

const bestOf = (layouts) =>
  layouts.reduce((best, layout) => (best && score(layout) <= score(best) * GAIN ? best : layout), null);

/** The next layout to try, if any: with more room below what is too high; with the room's shape; or around the best. */
function nextLayout(tries) {
  const last = tries.at(-1),
    best = bestOf(tries),
    isNew = (factor) => tries.every((layout) => Math.abs(factor / layout.factor - 1) > NEAR);
  if (tries.length >= TRIES) return null;
  const isRigid = tries.some(({ belows, overs }) => belows.length && overs.every((over, i) => over > belows[i] - EDGE));
  if (!isRigid && !last.belows.length && Math.max(...last.overs) > EDGE)
    return { factor: last.factor, belows: last.overs };
  const wider = last.next * (last.isCut ? 1 + NEAR : 1),
    around = [0.75, 1.33].map((times) => times * best.factor);
  const factor = [wider, ...around].find((next) => next >= 1 / LARGEST && next <= 1 / SMALLEST && isNew(next));
  return factor ? { factor, belows: [] } : null;
}

/** The first row that is large, the highest of each column: what stands below it has no room. */
function firstRow(pictures) {
  const boxes = pictures.map((picture) => [picture, picture.getBoundingClientRect()]);
  const over = (a, b, start, end) => Math.min(a[end], b[end]) - Math.max(a[start], b[start]),
    rowOf = ([, first]) =>
      boxes.filter(([, box]) => over(box, first, "top", "bottom") > 0.5 * Math.min(box.height, first.height)),
    area = (sum, [, { width, height }]) => sum + width * Math.min(height, innerHeight);
  const rows = boxes.map(rowOf),
    areas = rows.map((row) => row.reduce(area, 0)),
    first = rows[areas.findIndex((each) => each >= 0.4 * Math.max(...areas))] ?? [];
  const isBelow = ([, a], [, b]) => a.top >= b.bottom && over(a, b, "left", "right") > 0;
  return first.filter((entry) => !first.some((other) => isBelow(entry, other))).map(([picture]) => picture);
}

/** The area of the box around what is drawn in a view, in its own square pixels. */
function drawnArea(picture) {
  const parts = [...(picture.shadowRoot?.querySelectorAll("canvas, svg, table") ?? [])];
  const boxes = parts.map((part) => part.getBoundingClientRect()).filter(isLarge),
    side = (from, to) => Math.max(...boxes.map((box) => box[to])) - Math.min(...boxes.map((box) => box[from]));
  return boxes.length ? (side("left", "right") * side("top", "bottom")) / picture.currentCSSZoom ** 2 : 0;
}

/** The size of a picture without inner scroll bars, in its own pixels; and true if it has some. */
function extent(picture) {
  const inner = picture.querySelector(".dvn-scroller") ?? picture, // a table is larger than its place
    size = [inner.scrollWidth, inner.scrollHeight];
  let isCut = size[0] > inner.clientWidth + EDGE;
  for (const part of picture.shadowRoot?.querySelectorAll("*") ?? []) {
    if (!part.clientWidth || !/auto|scroll/.test(getComputedStyle(part).overflow)) continue;
    const more = [part.scrollWidth - part.clientWidth, part.scrollHeight - part.clientHeight];
    size[0] = Math.max(size[0], picture.clientWidth + more[0]);
    size[1] = Math.max(size[1], picture.clientHeight + more[1]);
    isCut ||= Math.max(...more) > EDGE;
  }
  return [...size, isCut];
}
