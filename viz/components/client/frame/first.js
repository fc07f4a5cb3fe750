// The first picture of a page, drawn before the page is there: by the same code, from the same numbers as the page's own.
// When the page's own stands, this one goes, and what was chosen in it goes on there.

const LOOK = 500; // ms between two looks whether a page has come that does not show this picture
const SURE = 4; // looks one after the other that say so
const PATIENT = 40; // looks until it goes though its place is there: the code of a view comes after that

/** Of each part: the key of its place, the address of the code that draws it, and what that is given: data, or bytes. */
export function first(parts) {
  const place = document.getElementById("first");
  if (place) new First(place, parts);
}

class First {
  constructor(place, parts) {
    this.place = place;
    this.keys = parts.map(({ place }) => place);
    this.views = [];
    this.closing = [];
    this.met = new Set();
    this.looks = 0;
    place.dataset.on = ""; // else the page takes it away (document.js), or time does (assets/first.css)
    this.meet = (event) => this.#meet(event);
    document.addEventListener("headlight-view", this.meet);
    this.timer = setInterval(() => this.#look(), LOOK);
    this.#draw(parts).catch(() => (this.isLost = true));
  }

  /** All views in their order, once the code of each has come. */
  async #draw(parts) {
    const loaded = await Promise.all(parts.map(({ address }) => import(new URL(address, document.baseURI).href)));
    if (!this.place.isConnected) return;
    for (const [at, { place, data, bytes }] of parts.entries()) {
      const parentElement = this.place.querySelector(`[data-view="${place}"]`);
      const given = bytes ? Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)) : data;
      const told = {}; // what it would tell Python waits for the page's own view
      const setStateValue = (name, value) => (told[name] = value);
      this.closing.push(loaded[at].default({ data: given, parentElement, setStateValue }));
      const { view } = parentElement.shadowRoot;
      if (view) this.views.push(Object.assign(view, { told }));
    }
  }

  /** The page draws one of these views itself: the same class, since it is the same file. */
  #meet(event) {
    const [{ view }] = event.composedPath();
    const before = this.views.find((own) => own !== view && own.constructor === view.constructor);
    if (!before || this.met.has(before)) return;
    this.met.add(before);
    requestAnimationFrame(() => {
      view.goOn?.(before);
      if (this.met.size === this.views.length) requestAnimationFrame(() => this.#leave());
    });
  }

  /** The page has come and shows something else, or it cannot be reached: this picture is in its way. */
  #look() {
    const app = document.querySelector("[data-testid=stApp]");
    if (!app) return;
    const { testConnectionState: connection = "", testScriptState: run } = app.dataset;
    const isOver = run === "notRunning" && connection === "CONNECTED" && document.querySelector(".stApp .stMain .stElementContainer");
    this.looks = isOver || connection.startsWith("DISCONNECTED") ? this.looks + 1 : 0;
    const isComing = isOver && !this.isLost && this.keys.every((key) => document.querySelector(`.stApp .st-key-${key}`));
    if (this.looks >= (isComing ? PATIENT : SURE)) this.#leave();
  }

  #leave() {
    clearInterval(this.timer);
    document.removeEventListener("headlight-view", this.meet);
    document.querySelector(".stApp .stMain")?.scrollTo(0, this.place.scrollTop);
    for (const close of this.closing) close();
    this.place.remove();
  }
}
