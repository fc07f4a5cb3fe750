// Accessibility that Streamlit's page lacks: its language, groups of pages in the navigation, keyboard scrolling of
// wide elements, live sentences. Also the button of every picture's menu, and Enter to apply a text area.

import { mount } from "../lib/view.js";
import { hasHistoryNote, noteHistory } from "../lib/navigate.js";
import { Figures } from "./figures.js";

const GROUPS = '[data-testid="stSidebarNavItems"]';
const FRAMES = ".stMain :is(.stCode pre, .stMarkdown:has(table), .katex-display)";
const SENTENCES = '.stMain [class*="st-key-section_"] :is(.stMarkdown, .stText, .stHtml:has(> .says))';
const FOOTER = '[class*="st-key-_footer_"]:not(.st-key-actions *)'; // not announced, nor that beside Share

let newest = null; // of a run and of the one before there are two for a moment: what one adds the other takes away

export default mount(() => new PageEnhancements());

class PageEnhancements {
  constructor() {
    // A figure changes with every move of the pointer, and holds nothing of what is described here.
    const matters = ({ target }) => !target.closest(".stPlotlyChart");
    this.watch = new MutationObserver((changes) => changes.some(matters) && this.update());
    this.watch.observe(document.body, { childList: true, subtree: true });
    this.onChange = () => this.update();
    this.onNavigate = (event) => event.navigationType === "traverse" && this.hasMoved() && noteHistory();
    this.late = () => {
      if (hasHistoryNote() || !this.hasMoved()) return;
      noteHistory(); // a browser without the navigation API: Streamlit has asked already, and asks once more
      dispatchEvent(new PopStateEvent("popstate"));
    };
    this.onResize = () => this.later();
    window.addEventListener("resize", this.onResize);
    window.navigation?.addEventListener("currententrychange", this.onNavigate); // before Streamlit reads the address
    window.addEventListener("popstate", this.late);
    document.addEventListener("keydown", apply);
    document.addEventListener("click", order);
    this.figures = new Figures();
    document.addEventListener("headlight-view", this.onChange); // the code of a view may come after its place
  }

  close() {
    if (newest === this) newest = null;
    document.removeEventListener("keydown", apply);
    document.removeEventListener("click", order);
    document.removeEventListener("headlight-view", this.onChange);
    this.figures.close();
    this.watch.disconnect();
    window.removeEventListener("resize", this.onResize);
    window.navigation?.removeEventListener("currententrychange", this.onNavigate);
    window.removeEventListener("popstate", this.late);
    cancelAnimationFrame(this.frame);
  }

  receive({ lang, theme, figures, sidebar }) {
    newest = this;
    this.figures.data = figures;
    say(document.documentElement, "lang", lang);
    if (theme) begin(theme);
    this.hasSidebar = sidebar;
    this.update();
  }

  /** Label new elements and add their buttons at once; measure them in the next animation frame. */
  update() {
    if ((newest ?? this) !== this) return;
    // Its place is kept for the sidebar by rules that are dear (viz/host/first_paint.py).
    this.address = addressHere();
    if (!this.hasSidebar || document.querySelector(GROUPS)) document.querySelector("#frame")?.remove();
    groups();
    sentences();
    boxes();
    this.figures.place();
    this.later();
  }

  /** True after a navigation to another address, false for an anchor of the same page. */
  hasMoved() {
    return !location.hash || addressHere() !== this.address;
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      frames();
    });
  }
}

const addressHere = () => location.pathname + location.search;

/** Streamlit takes its theme from the address a page is opened with, under a name of its own: open it with that. */
function begin(theme) {
  const address = new URL(location.href),
    name = "embed_options",
    options = address.searchParams.getAll(name);
  if (options.includes(`${theme}_theme`)) return;
  address.searchParams.delete(name);
  const rest = options.filter((option) => !["light_theme", "dark_theme"].includes(option));
  for (const option of [...rest, `${theme}_theme`]) address.searchParams.append(name, option);
  location.replace(address);
}

/** Set an attribute only if it differs: every write makes the browser recalculate styles. */
function say(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Streamlit puts a group's pages into a box between them and their list: that box is the list. */
function groups() {
  const list = document.querySelector(GROUPS);
  if (list) say(list, "role", "none");
  for (const group of list?.querySelectorAll(":scope > div:has(> li)") ?? []) {
    say(group, "role", "list");
    say(group, "aria-label", group.querySelector("header p")?.textContent ?? "");
  }
}

/** A frame that scrolls is reached by the Tab key, then moved by the arrows. All are measured before one is changed. */
function frames() {
  const scrolls = (frame) => frame.scrollWidth > frame.clientWidth + 1 || frame.scrollHeight > frame.clientHeight + 1;
  const all = [...document.querySelectorAll(FRAMES)],
    areTooLarge = all.map(scrolls);
  for (const [i, frame] of all.entries()) {
    if (areTooLarge[i]) say(frame, "tabindex", "0");
    else frame.removeAttribute("tabindex");
  }
}

/** Give inputs the direction of their first letter, and a phone's Enter key the label "done". */
function boxes() {
  for (const box of document.querySelectorAll("textarea, .stTextInput input")) {
    say(box, "dir", "auto");
    say(box, "enterkeyhint", "done");
  }
}

/**
 * Enter applies what was typed, Shift and Enter begin a line. Streamlit applies a box that is left (and with Ctrl and
 * Enter, which a phone does not have). While an input method composes, Enter is its own: in Safari the event says so by
 * its code alone.
 */
function apply(event) {
  const { target, key, shiftKey, ctrlKey, metaKey, altKey, isComposing, keyCode } = event;
  if (key !== "Enter" || shiftKey || ctrlKey || metaKey || altKey || isComposing || keyCode === 229) return;
  if (!target.matches?.(".stTextArea textarea")) return;
  event.preventDefault();
  target.blur();
  // A phone's keyboard goes, and shows the picture.
  if (matchMedia("(hover: hover)").matches) target.focus({ preventScroll: true });
}

/** A sentence that a choice changes is read out where it stands, politely and whole; a view's say so themselves. */
function sentences() {
  for (const sentence of document.querySelectorAll(SENTENCES)) {
    const footer = sentence.closest('[class*="st-key-section_"]').querySelector(FOOTER);
    const isBelow = footer && footer.compareDocumentPosition(sentence) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (isBelow || sentence.closest('[role="alert"], .st-key-actions')) continue;
    say(sentence, "aria-live", "polite");
    say(sentence, "aria-atomic", "true");
  }
}

/** Order the rows of a table of bars by a column: the largest first, or the smallest; the names as they came. */
function order({ target }) {
  const head = target.closest(".bars th:has(button)");
  if (!head) return;
  const { cellIndex: at, parentElement: heads } = head,
    isDown = at > 0 && head.ariaSort !== "descending";
  const numberOf = (row) => Number(row.cells[at].dataset.value ?? -Infinity),
    sorted = (a, b) => (isDown ? numberOf(b) - numberOf(a) : numberOf(a) - numberOf(b)) || 0;
  for (const cell of heads.cells) cell.ariaSort = null;
  head.ariaSort = isDown ? "descending" : "ascending";
  heads.after(...[...heads.parentElement.rows].slice(1).sort(sorted));
}
