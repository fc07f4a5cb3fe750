// @ts-check
// Base class of the views: element, size, messages to Python, and a live region.
// Python declares each view in the same way (viz/components/view.py).

import { element } from "./dom.js";
import { watchRoom } from "./fit.js";
import { zoomOf } from "./place.js";

/**
 * Streamlit calls a component's module again with every change of its data, and keeps its element meanwhile: so the
 * view of an element is made once, is handed each change, and is closed when its place on the page goes.
 *
 * @param {(parent: HTMLElement, data: any) => any} make a view, which has `receive(data)` and `close()`
 * @param {(data: any) => any} read the data as the view takes it: unpacked bytes, or what JSON holds as it is
 */
export function mount(make, read = (data) => data) {
  const views = new WeakMap();
  return (/** @type {{data: any, parentElement: HTMLElement, setStateValue: Function}} */ props) => {
    const { parentElement, setStateValue } = props,
      data = read(props.data),
      view = views.get(parentElement) ?? make(parentElement, data),
      isNew = !views.has(parentElement);
    Object.assign(view, { setStateValue });
    if (isNew) {
      view.sent = data.sent ?? 0;
      views.set(parentElement, view);
      Object.assign(parentElement, { view }); // where the menu of pictures finds it (frame/figures.js)
      parentElement.dispatchEvent(new Event("headlight-view", { bubbles: true, composed: true }));
    }
    view.receive(data);
    return () => {
      view.close();
      views.delete(parentElement);
    };
  };
}

/**
 * When a picture is to be drawn anew because its place is wider or narrower, or another screen shows it. The browser
 * reports the first size, too, a frame after the picture has been drawn in it: to draw it once more takes as long
 * again. A picture that fits into the window depends on the room below its top, too (lib/fit.js).
 */
export class Size {
  /**
   * @param {HTMLElement} element
   * @param {() => void} draw
   * @param {(element: HTMLElement) => unknown} of what the picture depends on
   */
  constructor(element, draw, of = ({ clientWidth }) => clientWidth) {
    this.read = () => [of(element), devicePixelRatio * zoomOf(element)].join();
    this.drawnSize = "";
    const follow = () => {
      if (this.read() === this.drawnSize) return;
      this.hold();
      draw();
    };
    this.watch = new ResizeObserver(follow);
    this.watch.observe(element);
    this.endRoom = watchRoom(follow);
  }

  /** Record the current size as the one drawn. */
  hold() {
    this.drawnSize = this.read();
  }

  close() {
    this.watch.disconnect();
    this.endRoom();
  }
}

/** A place whose new text a screen reader says. @param {string} name */
export function spoken(name = "says", tag = "p") {
  return element(tag, name, { "aria-live": "polite" });
}

export class View {
  /** @type {Record<string, string>} */ #before = {};

  /**
   * @param {HTMLElement} parent
   * @param {string} name the class of its element
   * @param {{tag?: string, handle?: string, attributes?: Record<string, string>,
   *   of?: (element: HTMLElement) => unknown}} [how] at `handle` of the element the browser's tests find the view, and
   *   read its numbers back; `of` is what a picture depends on
   */
  constructor(parent, name, { tag = "div", handle = name, attributes = {}, of } = {}) {
    this.root = element(tag, `view ${name}`, attributes);
    Object.assign(this.root, { [handle]: this });
    parent.append(this.root);
    this.sent = 0; // the number of the last message
    /** @type {any} */ this.data = null;
    /** @type {any} */ this.setStateValue = null;
    /** @type {number | null} */ this.frame = null;
    this.size = new Size(this.root, () => this.resized(), of);
  }

  close() {
    this.size.close();
    cancelAnimationFrame(this.frame ?? 0);
    this.root.remove();
  }

  /**
   * Send Python one of the messages that it expects of this view.
   *
   * @param {string} name
   * @param {unknown} value
   */
  send(name, value, number = this.sent + 1) {
    this.sent = number;
    this.setStateValue(name, { value, sent: number });
    return number;
  }

  /** True if a part of the data differs from the last call. @param {string} name @param {unknown} value */
  hasChanged(name, value) {
    const before = this.#before[name];
    this.#before[name] = JSON.stringify(value);
    return this.#before[name] !== before;
  }

  /** Keys that belong to what is typed here: to pages an arrow is another step, to Streamlit a letter another run. */
  keepKeys(but = "") {
    this.root.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== but) event.stopPropagation();
    });
  }

  /** The size has changed. */
  resized() {
    if (this.data) this.draw();
  }

  draw() {}

  /** Schedule one drawing for the next frame. */
  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.root.clientWidth) this.draw();
    });
  }
}

/**
 * A view with a live choice: drawn with the next frame, and sent to Python once, on release.
 */
export class LiveView extends View {
  syncedChoice = ""; // the choice that Python and this view agreed on last
  /** @type {any} */ choice = null;

  /**
   * Receive data from Python. An answer to an older choice is ignored; one that repeats the last answer leaves the
   * local choice as it is.
   *
   * @param {any} data
   */
  take(data) {
    this.data = data;
    const text = JSON.stringify(data.choice);
    if (data.sent < this.sent) return;
    if (text !== this.syncedChoice) this.choice = structuredClone(data.choice);
    [this.sent, this.syncedChoice] = [data.sent, text];
  }

  /** @param {(choice: any) => void} how */
  change(how) {
    how(this.choice);
    this.later();
  }

  tell() {
    this.syncedChoice = JSON.stringify(this.choice);
    this.send("choice", { ...this.choice });
  }

  resized() {
    this.later();
  }

  /** Draw Python's data at once, unless a frame is scheduled already. */
  now() {
    this.size.hold();
    if (!this.frame && this.root.clientWidth) this.draw();
  }
}
