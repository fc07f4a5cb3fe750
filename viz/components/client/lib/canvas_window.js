// A window onto a large picture: a canvas as large as the window, under a space as large as the whole, so that the
// browser scrolls, and any size of the whole costs the same to draw.

import { element } from "./dom.js";
import { roomOf } from "./fit.js";
import { dotsOf, place, zoomOf } from "./place.js";

const SCROLLBAR = 16;

export class CanvasWindow {
  constructor(root) {
    this.element = element("div", "window");
    this.space = element("div", "space");
    this.canvas = element("canvas");
    this.space.append(this.canvas);
    this.element.append(this.space);
    root.append(this.element);
    this.element.addEventListener("scroll", () => this.draw());
  }

  /** Draw what is seen of the whole. */
  draw() {}

  /** Choose the size of the whole, and draw it. */
  fit() {}

  /** Make the window [width, height] and what it shows a part of `contentSize`, in pixels. */
  resize(size, contentSize) {
    this.size = size;
    this.scale = dotsOf(this.canvas);
    this.room = this.#room();
    this.element.style.height = `${size[1] + SCROLLBAR}px`;
    [this.space.style.width, this.space.style.height] = contentSize.map((side) => `${side}px`);
    [this.canvas.width, this.canvas.height] = size.map((side) => Math.round(side * this.scale));
    [this.canvas.style.width, this.canvas.style.height] = size.map((side) => `${side}px`);
  }

  /** The view that the window is part of: sentences of the view, which a pointer changes, do not move it. */
  get view() {
    return this.element.getRootNode().host ?? this.element;
  }

  /** Pixels from the top of the view to the window's, as they were when its width or the screen last changed. */
  get offset() {
    const sizes = `${this.element.clientWidth} ${innerHeight}`;
    if (this.offsetAt?.sizes !== sizes) {
      const top =
        (this.element.getBoundingClientRect().top - this.view.getBoundingClientRect().top) / zoomOf(this.element);
      this.offsetAt = { sizes, top };
    }
    return this.offsetAt.top;
  }

  #room() {
    return Math.round(roomOf(this.view).room);
  }

  /**
   * Draw all of it anew if the window is wider or narrower than it was, has another room, or is on another screen; say
   * whether it is.
   */
  refit() {
    const { clientWidth } = this.element,
      isOtherScreen = this.scale !== dotsOf(this.canvas);
    const isOther = clientWidth && (clientWidth !== this.size?.[0] || isOtherScreen || this.room !== this.#room());
    if (isOther) this.fit();
    return isOther;
  }

  /** Clear the canvas for a new picture. */
  fresh() {
    const context = this.canvas.getContext("2d");
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.clearRect(0, 0, ...this.size);
    return context;
  }

  /** A pointer's place on the canvas. */
  place(event) {
    return place(this.canvas, event);
  }
}
