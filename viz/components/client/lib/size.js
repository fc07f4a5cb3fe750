// @ts-check
// When a picture is to be drawn anew because its size has changed. The browser reports the first size, too, a moment after
// the picture has been drawn in it, and the one that drawing has led to.

export class Size {
  /** @param {HTMLElement} element @param {() => void} draw */
  constructor(element, draw) {
    this.element = element;
    this.drawn = "";
    this.watch = new ResizeObserver(() => {
      if (this.#now() === this.drawn) return;
      draw();
      this.hold();
    });
    this.watch.observe(element);
  }

  /** What is drawn now is drawn in the size that there is now. */
  hold() {
    this.drawn = this.#now();
  }

  #now() {
    return [this.element.clientWidth, this.element.clientHeight, devicePixelRatio].join();
  }

  close() {
    this.watch.disconnect();
  }
}
