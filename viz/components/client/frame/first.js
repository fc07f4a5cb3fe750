// The first picture of a page, drawn before the page is there: by the same code, from the same numbers as the page's own.
// When the page's own stands, this one goes, and what was chosen in it goes on there.

const LOOK = 500; // ms between two looks whether a page has come that does not show this picture
const SURE = 4; // looks one after the other that say so
const PATIENT = 40; // looks until it goes though its place is there: the code of a view comes after that

/** @typedef {{place: string, address: string, data: any, bytes: string}} Part where it stands, the code that draws it, what it is given */

/** @param {Part[]} parts */
export function first(parts) {
  const place = document.getElementById("first");
  if (place) new First(place, parts);
}

class First {
  constructor(/** @type {HTMLElement} */ place, /** @type {Part[]} */ parts) {
    this.place = place;
    this.views = /** @type {any[]} */ ([]);
    this.closing = /** @type {Function[]} */ ([]);
    this.met = new Set();
    this.looks = 0;
    this.places = parts.map(({ place }) => place);
    this.meet = (/** @type {Event} */ event) => this.#meet(event);
    document.addEventListener("headlight-view", this.meet);
    this.timer = setInterval(() => this.#look(), LOOK);
    this.#draw(parts);
  }

  /** In their order, and each only if this picture still stands. @param {Part[]} parts */
  async #draw(parts) {
    const loaded = await Promise.all(parts.map(({ address }) => import(new URL(address, document.baseURI).href)));
    if (!this.place.isConnected) return;
    this.parts = parts.length;
    for (const [at, { place, data, bytes }] of parts.entries()) {
      const host = this.place.querySelector(`[data-view="${place}"]`), parentElement = document.createElement("div");
      host?.attachShadow({ mode: "open" }).append(parentElement);
      const given = bytes ? Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)) : data;
      const told = /** @type {{[name: string]: any}} */ ({}); // what it would tell Python waits for the page's own view
      const setStateValue = (/** @type {string} */ name, /** @type {any} */ value) => (told[name] = value);
      this.closing.push(loaded[at].default({ data: given, parentElement, setStateValue }));
      const { view } = /** @type {any} */ (parentElement);
      if (view) this.views.push(Object.assign(view, { told }));
    }
  }

  /** The page draws one of these views itself: the same class, since it is the same file. */
  #meet(/** @type {Event} */ event) {
    const [parent] = event.composedPath(), { view } = /** @type {any} */ (parent);
    const before = this.views.find((each) => each !== view && each.constructor === view.constructor);
    if (!before || this.met.has(before)) return;
    this.met.add(before);
    requestAnimationFrame(() => {
      view.goOn?.(before);
      if (this.met.size === this.views.length) requestAnimationFrame(() => this.#leave());
    });
  }

  /** The page has come and shows something else, or it cannot be reached: this picture is in its way. */
  #look() {
    const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"));
    if (!app) return;
    const { testConnectionState: connection = "", testScriptState: run } = app.dataset;
    const isOver = run === "notRunning" && connection === "CONNECTED" && document.querySelector(".stApp .stMain .stElementContainer");
    this.looks = isOver || connection.startsWith("DISCONNECTED") ? this.looks + 1 : 0;
    const isComing = isOver && this.places.every((place) => document.querySelector(`.stApp .st-key-${place}`));
    if (this.looks >= (isComing ? PATIENT : SURE)) this.#leave();
  }

  #leave() {
    clearInterval(this.timer);
    document.removeEventListener("headlight-view", this.meet);
    document.querySelector(".stApp .stMain")?.scrollTo(0, this.place.scrollTop);
    for (const close of this.closing) close?.();
    this.place.remove();
  }
}
