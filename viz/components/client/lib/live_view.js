// A view that follows the finger: what was chosen is drawn with the next frame, and Python is told once, when it lets
// go.

import { element } from "./dom.js";
import { Size } from "./size.js";

export class LiveView {
  data;
  setStateValue;

  /** `name` is its element's class; at `handle` of that element the browser's tests find it and read the numbers back.
   * `of` is the size it depends on: its width, unless told. */
  constructor(parent, name, handle, of) {
    this.root = element("div", name);
    this.root[handle] = this;
    parent.append(this.root);
    this.sent = 0;
    this.said = ""; // the choice that Python and this view agreed on last
    this.size = new Size(this.root, () => this.measure(), of);
  }

  close() {
    this.size.close();
    cancelAnimationFrame(this.frame);
    this.root.remove();
  }

  /** Take what Python sends. An answer to an older choice than the last one made here is out of date; one that says
   * what was told last is no news, and what has been changed here meanwhile stays. */
  take(data, setStateValue) {
    [this.data, this.setStateValue] = [data, setStateValue];
    const said = JSON.stringify(data.choice);
    if (data.sent < this.sent) return;
    if (said !== this.said) this.choice = structuredClone(data.choice);
    [this.sent, this.said] = [data.sent, said];
  }

  change(how) {
    how(this.choice);
    this.later();
  }

  tell(choice = this.choice) {
    this.sent++;
    this.said = JSON.stringify(choice);
    this.setStateValue("choice", { ...choice, sent: this.sent });
  }

  /** Draw everything in the size that there is. */
  draw() {}

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
