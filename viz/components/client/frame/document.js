// What Streamlit's page does not say of itself to those who hear it, or have no mouse: its language, which of its pages
// belong together, and that what is wider than its frame can be moved.

import { mount } from "../lib/mount.js";

const GROUPS = '[data-testid="stSidebarNavItems"]';
const FRAMES = ".stMain :is(.stCode pre, .stMarkdown:has(table), .katex-display)";

export default mount(() => new PageItself());

class PageItself {
  constructor() {
    // A figure changes with every move of the pointer, and holds nothing of what is described here.
    const matters = ({ target }) => !target.closest(".js-plotly-plot");
    this.watch = new MutationObserver((changes) => changes.some(matters) && this.later());
    this.watch.observe(document.body, { childList: true, subtree: true });
    this.resized = () => this.later();
    window.addEventListener("resize", this.resized);
  }

  close() {
    this.watch.disconnect();
    window.removeEventListener("resize", this.resized);
    cancelAnimationFrame(this.frame);
  }

  receive({ lang }) {
    document.documentElement.lang = lang;
    this.later();
  }

  /** Once a frame, however much has changed. */
  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      groups();
      frames();
    });
  }
}

/** Streamlit puts a group's pages into a box between them and their list: that box is the list. */
function groups() {
  const list = document.querySelector(GROUPS);
  list?.setAttribute("role", "none");
  for (const group of list?.querySelectorAll(":scope > div:has(> li)") ?? []) {
    group.setAttribute("role", "list");
    group.setAttribute("aria-label", group.querySelector("header p")?.textContent ?? "");
  }
}

/** A frame that scrolls is reached by the Tab key, and then moved by the arrows. */
function frames() {
  for (const frame of document.querySelectorAll(FRAMES)) {
    if (frame.scrollWidth > frame.clientWidth + 1 || frame.scrollHeight > frame.clientHeight + 1) frame.tabIndex = 0;
    else frame.removeAttribute("tabindex");
  }
}
