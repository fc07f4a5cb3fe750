// In somebody else's page: tell the page that holds this one how high it is, and nothing else.

import { mount } from "../lib/view.js";

export default mount(() => new Height());

class Height {
  constructor() {
    this.watch = new ResizeObserver(() => this.#tell());
  }

  close() {
    this.watch.disconnect();
  }

  receive() {
    const block = document.querySelector(".stMainBlockContainer");
    if (!block || block === this.block) return;
    this.block = block;
    this.watch.observe(block);
  }

  #tell() {
    const height = Math.ceil(this.block.getBoundingClientRect().height);
    if (window.parent === window || height === this.lastHeight) return;
    this.lastHeight = height;
    window.parent.postMessage({ headlightHeight: height }, "*"); // to any origin: it is only a number of pixels
  }
}
