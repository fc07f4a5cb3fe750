// The screen of a presentation: the picture gets most of it, and is whole. What stands above the picture gives way
// first, sentences and buttons before other controls. Then the picture is drawn in the room there is: by its view, if
// that has `fill(height)`, or by lib/fit.js, which is told how much is free; else a little smaller, then narrower, and
// where that does not help, smaller still.

const SHARE = 0.8; // of the page's part of the screen: with so much for the picture, nothing gives way
const NARROWEST = 0.3,
  SMALLER = 0.8,
  SMALLEST = 0.5; // shares of what a picture is at first: first it may be a little smaller
const TRIES = 14, // how often that is tried
  REGROWN = 2; // how often a picture gets its own size back
const UNTRIED = { narrow: 1, shrink: 1, tries: 0, before: Infinity, narrows: true, regrown: 0 };
const EDGE = 3; // pixels between a picture and what is below it
const CALM = 150; // ms without a change, after which the screen is looked at
/** @returns {HTMLElement | null} */
const app = () => document.querySelector(".stApp");
/** @returns {NodeListOf<HTMLElement>} the places that say so */
const elementsWith = (name) => document.querySelectorAll(`[data-${name}]`);
const PICTURES = ":is(.stPlotlyChart, .stDataFrame, .stImage, [data-testid=stBidiComponentRegular])";
const PLACE = "[data-testid=stElementContainer]",
  STAYS = ".st-key-lesson_place, .st-key-lesson_says, .st-key-text_row, .st-key-presenter";
const WORDS = ".stMarkdown, .stHtml, [data-testid=stCaptionContainer], .stButton, .stDownloadButton, .stPopover";
const COLUMN = "[data-testid=stColumn]";
const HEADINGS = "h1, h2, h3, h4, h5, h6",
  SMALL = [60, 40]; // pixels: what is smaller is no picture

export class Stage {
  constructor() {
    this.showsAll = false;
    this.look = new ResizeObserver(() => this.#soon());
    this.changes = new MutationObserver(() => this.#soon());
    this.onResize = () => this.isOurs || this.#anew();
    window.addEventListener("resize", this.onResize);
  }

  close() {
    clearTimeout(this.timer);
    this.look.disconnect();
    this.changes.disconnect();
    window.removeEventListener("resize", this.onResize);
    app()?.style.removeProperty("--fit-below");
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
      this.#anew();
    } else this.#soon();
  }

  /** Show all sentences and controls, or hide them again. */
  showAll(on) {
    this.showsAll = on;
    this.#anew();
  }

  #anew() {
    this.#reset();
    this.#soon();
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#fit(), CALM);
  }

  #reset() {
    this.level = 0;
    this.tried = new WeakMap();
    for (const place of elementsWith("gives-way")) delete place.dataset.givesWay;
    for (const place of elementsWith("fits")) this.#setBack(place);
  }

  /** Give a picture its own size back. */
  #setBack(place) {
    delete place.dataset.fits;
    for (const name of ["--shrink", "--narrow"]) place.style.removeProperty(name);
  }

  #fit() {
    if (!this.main) return;
    let row = this.#row();
    const all = this.showsAll ? 0 : 2;
    this.#giveWay(row);
    while (row.length && this.level < all && this.#room(row) < SHARE * this.main.clientHeight) {
      this.level++;
      this.#giveWay(row);
      row = this.#row();
    }
    this.#keepFree(row.length ? this.#below(row) : 0);
    for (const picture of row) {
      this.look.observe(picture); // the page may be as high as before when a picture has grown
      this.#draw(picture, this.#room([picture]) - this.#below(row));
    }
  }

  /** The first large picture and those beside it. */
  #row() {
    const pictures = [...(this.block?.querySelectorAll(PICTURES) ?? [])]
      .map((picture) => ({ picture, box: picture.getBoundingClientRect() }))
      .filter(({ picture, box }) => box.width > SMALL[0] && box.height > SMALL[1] && !picture.closest(STAYS));
    const area = ({ box }) => box.width * box.height,
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

  /** Hide the elements above the pictures that give way at this level. */
  #giveWay(row) {
    const [first] = row,
      top = first && Math.min(...row.map((picture) => picture.getBoundingClientRect().top));
    for (const place of this.block?.querySelectorAll(PLACE) ?? []) {
      if (!this.level || !first || place.closest(STAYS) || place.querySelector(`${PICTURES}, ${HEADINGS}`)) continue;
      if (row.length > 1 && place.closest(COLUMN)) continue; // it says which of the pictures side by side is which
      const box = place.getBoundingClientRect(),
        isAbove = place.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (isAbove && box.height && box.bottom <= top + 2 && (this.level > 1 || place.querySelector(WORDS)))
        place.dataset.givesWay = "";
    }
  }

  #draw(picture, room) {
    const place = picture.closest(PLACE),
      { height } = picture.getBoundingClientRect(),
      fill = picture.shadowRoot?.view?.fill;
    if (!place || room < SMALL[1]) return;
    if (fill) return picture.shadowRoot.view.fill(room / picture.currentCSSZoom);
    const state = this.tried.get(place) ?? { ...UNTRIED };
    this.tried.set(place, state);
    if (height <= room + 1) {
      const wasTooHigh = state.shrink < 1 && height / state.shrink <= room; // it was measured before it was drawn
      if (wasTooHigh && state.regrown < REGROWN) {
        this.tried.set(place, { ...UNTRIED, regrown: state.regrown + 1 });
        this.#setBack(place);
        this.#soon();
      }
      return;
    }
    if (!state.tries && Math.abs(height - (state.height ?? 0)) > 1) {
      // it may be about to be drawn anew
      state.height = height;
      return this.#soon();
    }
    if (state.tries++ >= TRIES) return;
    const less = (share, least) => Math.max(least, share * Math.max(0.7, room / height - 0.01));
    const helped = height < state.before * 0.97 && state.narrow > NARROWEST;
    if (state.shrink > SMALLER && state.narrows) state.shrink = less(state.shrink, SMALLER);
    else if (state.narrows && (state.narrow === 1 || helped)) state.narrow = less(state.narrow, NARROWEST);
    else if (state.shrink > SMALLEST) {
      if (state.narrows) [state.narrows, state.narrow] = [false, 1];
      state.shrink = less(state.shrink, SMALLEST);
    } else state.narrow = less(state.narrow, NARROWEST);
    state.before = height;
    place.dataset.fits = "";
    place.style.setProperty("--shrink", state.shrink.toFixed(3));
    place.style.setProperty("--narrow", state.narrow.toFixed(3));
    this.#soon();
  }
}
