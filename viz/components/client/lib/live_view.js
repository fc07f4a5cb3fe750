// A view that follows the finger: what was chosen is drawn with the next frame, and Python is told once, when it lets go.

import { element } from "./dom.js";
import { Size } from "./size.js";

export class LiveView {
  /** `name` is its element's class; at `handle` of that element the browser's tests find it and read the numbers back. `of` is
   * the size it depends on: its width, unless told. */
  constructor(parent, name, handle, of) {
    this.root = element("div", name);
    this.root[handle] = this;
    parent.append(this.root);
    this.sent = 0;
    this.isUntold = false; // something was changed here and is not told yet: what comes meanwhile is older
    this.size = new Size(this.root, () => this.measure(), of);
  }

  close() {
    this.size.close();
    cancelAnimationFrame(this.frame);
    this.root.remove();
  }

  /** Take what Python sends; an answer to an older choice than the last one made here is out of date. */
  take(data, setStateValue) {
    [this.data, this.setStateValue] = [data, setStateValue];
    if (data.sent >= this.sent && !this.isUntold) [this.choice, this.sent] = [structuredClone(data.choice), data.sent];
  }

  change(how) {
    how(this.choice);
    this.isUntold = true;
    this.later();
  }

  tell(choice = this.choice) {
    this.sent++;
    this.isUntold = false;
    this.setStateValue("choice", { ...choice, sent: this.sent });
  }

  /** The size has changed. */
  measure() {
    this.later();
  }

  /** Draw what Python has sent: at once, unless a frame that will is on its way. */
  now() {
    this.size.hold();
    if (!this.frame && this.root.clientWidth) this.draw();
  }

  /** Draw with the next frame, however often this is asked for before it comes. */
  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.root.clientWidth) this.draw();
    });
  }
}
