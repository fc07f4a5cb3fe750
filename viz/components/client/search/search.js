// The search box, a combobox: what is typed is looked for in the browser, and each result is a link of the app. The
// index and the code that ranks it come once, when a box gets the focus for the first time.

import { element, fill } from "../lib/dom.js";
import { mount } from "../lib/view.js";
import { isBrowserClick } from "../lib/navigate.js";

const LONGEST = 80,
  MOST = 12,
  NARROW = 768; // characters, results, and the width below which the sidebar covers the page
const WRITES =
  "textarea, select, [contenteditable=true], input:not([type=range], [type=radio], [type=checkbox], [type=button])";
const rankings = new Map(); // by the address of the index: two boxes on a page share it

function load({ index, code }) {
  const absolute = (link) => new URL(link, location.href).href;
  if (!rankings.has(index)) {
    const entries = fetch(absolute(index)).then((answer) =>
      answer.ok ? answer.json() : Promise.reject(answer.status),
    );
    const both = Promise.all([import(absolute(code)), entries]);
    rankings.set(
      index,
      both.then(([{ default: make }, list]) => make({ data: { entries: list }, parentElement: element("div") })),
    );
    rankings.get(index).catch(() => rankings.delete(index)); // the next key tries again
  }
  return rankings.get(index);
}

export default mount((parent, data) => new SearchBox(parent, data));

class SearchBox {
  constructor(parent, data) {
    this.data = data;
    this.options = [];
    this.at = -1;
    this.input = element("input", "box", {
      type: "search",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      enterkeyhint: "go",
      dir: "auto",
      maxlength: LONGEST,
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": "found",
      "aria-haspopup": "listbox",
    });
    this.list = element("div", "found", { id: "found", role: "listbox" });
    this.none = element("p", "none");
    this.status = element("p", "status", { role: "status" });
    this.panel = element("div", "panel", { popover: "manual" });
    this.panel.append(this.list, this.none);
    parent.append(this.input, this.status, this.panel);
    this.#listen();
  }

  #listen() {
    this.input.addEventListener("focus", () => load(this.data).catch(() => {}));
    this.input.addEventListener("input", () => this.#search());
    this.input.addEventListener("keydown", (event) => this.#press(event));
    this.input.addEventListener("blur", () => this.#close());
    this.panel.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the keyboard
    this.list.addEventListener("click", (event) => isBrowserClick(event) || this.#leave());
    this.place = () => this.panel.matches(":popover-open") && this.#place();
    for (const kind of ["resize", "scroll"])
      window.addEventListener(kind, this.place, { capture: true, passive: true });
    this.onKeyDown = (event) => this.#call(event);
    document.addEventListener("keydown", this.onKeyDown, true);
  }

  receive(data) {
    const { words, lang, query } = data;
    this.data = data;
    this.input.placeholder = data.keys ? `${words.label}  /` : words.label;
    for (const part of [this.input, this.list]) part.setAttribute("aria-label", words.label);
    this.input.setAttribute("aria-keyshortcuts", data.keys ? "/ Control+K" : "");
    if (query !== this.query) this.input.value = this.query = query;
    if (lang !== this.lang && this.panel.matches(":popover-open")) this.#search();
    this.lang = lang;
  }

  close() {
    for (const kind of ["resize", "scroll"]) window.removeEventListener(kind, this.place, { capture: true });
    document.removeEventListener("keydown", this.onKeyDown, true);
  }

  /** "/" and Ctrl+K lead to the box from everywhere but a text field. */
  #call(event) {
    const { key, ctrlKey, metaKey, altKey } = event,
      isCommand = ctrlKey || metaKey;
    const isMeant = !altKey && (isCommand ? key.toLowerCase() === "k" && !event.shiftKey : key === "/");
    if (!this.data.keys || !isMeant || event.composedPath()[0].matches?.(WRITES)) return;
    if (document.querySelector(".stSidebar")?.getAttribute("data-collapsed") === "true")
      /** @type {HTMLElement} */ (document.querySelector('[data-testid="stExpandSidebarButton"]'))?.click();
    event.preventDefault();
    event.stopPropagation();
    this.input.focus();
    this.input.select();
  }

  /** Show the matches; open the first one if Enter was pressed before they arrived. */
  async #search(opens = false) {
    const query = this.input.value.trim();
    if (!query) return this.#close();
    let ranking;
    if (!this.isReady) this.#showMatches([], this.data.words.coming);
    try {
      ranking = await load(this.data);
    } catch {
      return this.#showMatches([], this.data.words.failed);
    }
    this.isReady = true;
    if (query !== this.input.value.trim()) return; // more has been typed since
    this.#showMatches(ranking.find(query, MOST), fill(this.data.words.none, { query }));
    if (opens) this.options[0]?.click();
  }

  #showMatches(matches, none) {
    const { words } = this.data,
      says = matches.length ? fill(words.count, { n: matches.length }) : none;
    this.options = matches.map((entry, at) => this.#option(entry, at));
    this.list.replaceChildren(...this.options);
    this.list.hidden = !matches.length;
    this.none.textContent = matches.length ? "" : none;
    if (this.status.textContent !== says) this.status.textContent = says;
    this.#choose(matches.length ? 0 : -1);
    if (!this.panel.matches(":popover-open")) this.panel.showPopover();
    this.input.setAttribute("aria-expanded", "true");
    this.#place();
  }

  #option(entry, at) {
    const { words, lang, beyond } = this.data,
      { kind, to } = entry,
      [title, sentence, where] = entry[lang],
      join = to.includes("?") ? "&" : "?";
    const attributes = {
      role: "option",
      id: `found_${at}`,
      tabindex: "-1",
      href: `${to}${join}lang=${lang}`,
      ...(beyond ? { target: "_blank" } : {}),
    };
    const option = element("a", kind === "lesson" ? "see alone" : "see", attributes);
    const place = [words[`kind_${kind}`], where].filter(Boolean).join(" · ");
    option.append(element("b", "", {}, title), element("small", "", {}, place), element("span", "", {}, sentence));
    option.addEventListener("pointermove", () => this.#choose(at));
    return option;
  }

  #choose(at) {
    this.at = at;
    this.options.forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    if (at < 0) return this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-activedescendant", this.options[at].id);
    this.options[at].scrollIntoView({ block: "nearest" });
  }

  #press(event) {
    if (event.isComposing) return; // a Chinese word is being chosen
    event.stopPropagation(); // an arrow is no step of the page's
    const isOpen = this.panel.matches(":popover-open"),
      n = this.options.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && n) {
      if (isOpen) this.#choose((this.at + step + n) % n);
      else this.#search();
    } else if (event.key === "Enter" && isOpen && this.at >= 0) this.options[this.at].click();
    else if (event.key === "Enter") this.#search(true);
    else if (event.key === "Escape" && isOpen) this.#close();
    else return;
    event.preventDefault();
  }

  /** Below the box, above everything, and as wide as its sentences need where there is room. */
  #place() {
    const { left, bottom, width } = this.input.getBoundingClientRect(),
      edge = 8;
    const wide = Math.min(Math.max(width, 480), innerWidth - 2 * edge);
    Object.assign(this.panel.style, {
      top: `${bottom + 4}px`,
      left: `${Math.max(edge, Math.min(left, innerWidth - edge - wide))}px`,
      width: `${wide}px`,
      maxHeight: `${Math.max(120, innerHeight - bottom - 4 - edge)}px`,
    });
  }

  #close() {
    if (this.panel.matches(":popover-open")) this.panel.hidePopover();
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.status.textContent = "";
  }

  /** A result has been opened: on a narrow screen the sidebar covers it. */
  #leave() {
    this.input.value = "";
    this.#close();
    this.input.blur();
    const sidebar = this.input.getRootNode().host.closest(".stSidebar");
    if (sidebar && innerWidth < NARROW)
      sidebar.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
}
