// @ts-check
// When a picture is to be drawn anew because its place is wider or narrower, or another screen shows it. The browser
// reports the first size, too, a frame after the picture has been drawn in it: to draw it once more takes as long
// again. A picture that fits into the window depends on the room below its top, too (lib/fit.js).

import { watchRoom } from "./fit.js";

export class Size {
  /**
   * @param {HTMLElement} element
   * @param {() => void} draw
   * @param {(element: HTMLElement) => unknown} of what the picture depends on
   */
  constructor(element, draw, of = ({ clientWidth }) => clientWidth) {
    this.read = () => [of(element), devicePixelRatio].join();
    this.drawn = "";
    const follow = () => {
      if (this.read() === this.drawn) return;
      this.hold();
      draw();
    };
    this.watch = new ResizeObserver(follow);
    this.watch.observe(element);
    this.endRoom = watchRoom(follow);
  }

  /** What is drawn next is drawn in the size that there is now. */
  hold() {
    this.drawn = this.read();
  }

  close() {
    this.watch.disconnect();
    this.endRoom();
  }
}
