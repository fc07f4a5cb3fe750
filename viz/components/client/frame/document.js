// What Streamlit's page does not say of itself to those who hear it, or have no mouse: its language, which of its pages
// belong together, that what is wider than its frame can be moved, and that a choice changes its sentences. And the button of every
// picture's menu.

import { mount } from "../lib/mount.js";
import { Figures } from "./figures.js";

const GROUPS = '[data-testid="stSidebarNavItems"]';
const FRAMES = ".stMain :is(.stCode pre, .stMarkdown:has(table), .katex-display)";
const SENTENCES = '.stMain [class*="st-key-section_"] :is(.stMarkdown, .stText, .stHtml:has(> .says))';
const FOOTER = '[class*="st-key-_footer_"]'; // what is opened there is read by whoever opens it

export default mount(() => new PageItself());

class PageItself {
  constructor() {
    // A figure changes with every move of the pointer, and holds nothing of what is described here.
    const matters = ({ target }) => !target.closest(".js-plotly-plot");
    this.watch = new MutationObserver((changes) => changes.some(matters) && this.later());
    this.watch.observe(document.body, { childList: true, subtree: true });
    this.resized = () => this.later();
    window.addEventListener("resize", this.resized);
    this.figures = new Figures();
    document.addEventListener("headlight-view", this.resized); // the code of a view may come after its place
  }

  close() {
    document.removeEventListener("headlight-view", this.resized);
    this.figures.close();
    this.watch.disconnect();
    window.removeEventListener("resize", this.resized);
    cancelAnimationFrame(this.frame);
  }

  receive({ lang, theme, figures }) {
    this.figures.said = figures;
    document.documentElement.lang = lang;
    if (theme) begin(theme);
    this.later();
  }

  /** Once a frame, however much has changed. */
  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      groups();
      frames();
      sentences();
      this.figures.place();
    });
  }
}

/** Streamlit takes its theme from the address a page is opened with, under a name of its own: open it with that. */
function begin(theme) {
  const address = new URL(location.href), name = "embed_options", wanted = `${theme}_theme`;
  const others = address.searchParams.getAll(name).filter((option) => !["light_theme", "dark_theme"].includes(option));
  if (address.searchParams.getAll(name).includes(wanted)) return;
  address.searchParams.delete(name);
  for (const option of [...others, wanted]) address.searchParams.append(name, option);
  location.replace(address);
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

/** A sentence that a choice changes is read out where it stands, politely and whole; those of a view say so themselves. */
function sentences() {
  for (const sentence of document.querySelectorAll(SENTENCES)) {
    const footer = sentence.closest('[class*="st-key-section_"]').querySelector(FOOTER);
    const isBelow = footer && footer.compareDocumentPosition(sentence) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (isBelow || sentence.closest('[role="alert"]')) continue;
    sentence.setAttribute("aria-live", "polite");
    sentence.setAttribute("aria-atomic", "true");
  }
}
