// The menu of a picture: as PNG, SVG or CSV, its link, and what goes into a page of Markdown. It is loaded when a menu
// is opened for the first time (frame/document.js), and works on any picture of the app as it stands there.

import { clickable, element } from "../lib/dom.js";
import { offer } from "../lib/save.js";
import { serialise, toPng, toSvg } from "./file.js";
import { tablesOf } from "./plot.js";
import { csv, markdown } from "./tables.js";

// Of a link, how a page is looked at.
const LOOKS = ["present", "notes", "print", "without", "theme", "embed", "embed_options"];
const FACTS = ".st-key-above > * > .stText, :has(> .st-key-start) ~ * > .stText"; // hidden
const AWAY = 4; // pixels between the button and its menu

/** A link to what the page shows, in the language it is shown in. */
function linkOf() {
  const link = new URL(location.href);
  link.hash = "";
  for (const name of LOOKS) link.searchParams.delete(name);
  link.searchParams.set("lang", document.documentElement.lang);
  return link.href;
}

/** The numbers of an HTML table, where what is written is a number. */
function tableOf(table) {
  const read = (cell) => {
    const parts = Array.from(cell.childNodes, (part) => part.textContent.trim()).filter(Boolean);
    const text = cell.querySelector("input")?.value ?? cell.dataset.value ?? parts.join(" "),
      plain = text.replace("−", "-");
    return /^-?\d+(\.\d+)?$/.test(plain) ? Number(plain) : text;
  };
  const [columns = [], ...rows] = Array.from(table.rows, (row) => Array.from(row.cells, read));
  return {
    title: table.closest("figure")?.querySelector("figcaption")?.textContent ?? table.caption?.textContent ?? "",
    columns,
    rows,
  };
}

/** A picture of the app, by the place it has on the page: what is seen of it, and its numbers. */
function figureOf(place) {
  const chart = place.querySelector(".stPlotlyChart"),
    view = place.querySelector("[data-testid=stBidiComponentRegular]")?.shadowRoot?.view;
  const section = place.closest('[class*="st-key-section_"]'),
    key = /st-key-(\S+)/.exec(place.className)?.[1] ?? "picture";
  const [apart, ...facts] = (document.querySelector(FACTS)?.textContent ?? "apart").split("\n");
  const title =
    (section?.querySelector("h2") ?? document.querySelector(".stMain h1"))?.textContent.trim() ?? document.title;
  const alt = chart?.getAttribute("aria-label") ?? view?.data?.words?.alt ?? "";
  const details = {
    caption: [title, alt.replaceAll("**", "")].filter(Boolean).join(". "),
    name: `headlight-${key}`,
    link: linkOf(),
    facts: apart.split(" ").some((name) => section?.classList.contains(`st-key-section_${name}`)) ? [] : facts,
  };
  if (chart)
    return {
      ...details,
      elements: [chart.querySelector(".svg-container")],
      tables: () => tablesOf(chart),
    };
  const bars = place.querySelector(".bars");
  if (bars) return { ...details, elements: [bars], tables: () => [tableOf(bars)] };
  const tables = () => view.asTables().map((table) => (table instanceof Element ? tableOf(table) : table));
  return { ...details, elements: view.asPictures?.() ?? [view.root], redraw: view.draw && (() => view.draw()), tables };
}

class Menu {
  button;
  words;
  figure;
  isOpen = () => this.root.matches(":popover-open");

  constructor(parent) {
    this.root = element("div", "menu", { popover: "manual", role: "menu" });
    this.status = element("p", "said", { role: "status" });
    this.text = element("textarea", "", { readonly: "", rows: "4", spellcheck: "false", hidden: "" });
    parent.append(this.root);
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.outside = (event) =>
      event.composedPath().includes(this.root) || event.composedPath().includes(this.button) || this.close();
  }

  open({ button, place, words }) {
    Object.assign(this, { button, words, figure: figureOf(place) });
    const items = ["png", "svg", "csv", "link", "markdown"].map((kind) => {
      const attributes = { role: "menuitem", tabindex: "-1", "data-kind": kind };
      return clickable("", this.words[kind], () => this.#act(kind), attributes);
    });
    this.root.setAttribute("aria-label", button.getAttribute("aria-label"));
    this.root.replaceChildren(...items, this.status, this.text);
    this.status.textContent = "";
    this.text.hidden = true;
    this.#show();
    items[0].focus();
    document.addEventListener("pointerdown", this.outside);
  }

  /** At its button: below it if there is room, else above; the page's own colours. */
  #show() {
    const page = getComputedStyle(document.querySelector(".stApp")),
      { root, button } = this,
      at = button.getBoundingClientRect();
    for (const name of ["color", "backgroundColor", "fontFamily"]) root.style[name] = page[name];
    if (!this.isOpen()) root.showPopover();
    const { offsetWidth: wide, offsetHeight: high } = root;
    const top = at.bottom + AWAY + high <= innerHeight ? at.bottom + AWAY : Math.max(AWAY, at.top - AWAY - high);
    root.style.top = `${top}px`;
    root.style.left = `${Math.max(AWAY, Math.min(innerWidth - wide - AWAY, at.right - wide))}px`;
    button.setAttribute("aria-expanded", "true");
  }

  close(back = false) {
    document.removeEventListener("pointerdown", this.outside);
    if (this.isOpen()) this.root.hidePopover();
    this.button.setAttribute("aria-expanded", "false");
    if (back) this.button.focus();
  }

  #key(event) {
    event.stopPropagation(); // to Streamlit a letter is another run, to pages an arrow another step
    const items = [...this.root.querySelectorAll("[role=menuitem]")],
      at = items.indexOf(this.root.getRootNode().activeElement),
      last = items.length - 1;
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      return this.close(true);
    }
    const to = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.target === this.text) return;
    event.preventDefault();
    items[to].focus();
  }

  async #act(kind) {
    const { figure, words } = this;
    try {
      if (kind === "link") return await this.#copy(figure.link);
      if (kind === "markdown") return await this.#copy(markdown(figure.tables(), figure));
      const blob = kind === "csv" ? new Blob([csv(figure.tables())], { type: "text/csv" }) : await this.#picture(kind);
      offer(blob, `${figure.name}.${kind}`);
      this.close(true);
    } catch {
      this.status.textContent = words.failed;
    }
  }

  async #picture(kind) {
    const root = toSvg(this.figure, document.querySelector(".stApp"));
    return kind === "png" ? toPng(root) : new Blob([serialise(root)], { type: "image/svg+xml" });
  }

  /**
   * No clipboard outside TLS, nor in somebody else's page: there the text itself is shown, and can be copied by hand.
   */
  async #copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.status.textContent = this.words.copied;
    } catch {
      this.status.textContent = this.words.by_hand;
      [this.text.value, this.text.hidden] = [text, false];
      this.text.setAttribute("aria-label", this.words.by_hand);
      this.text.focus();
      this.text.select();
    }
    this.#show();
  }
}

const menus = new WeakMap();

/** Open the menu of a picture at its button; where it is open, close it. */
export default function ({ data, parentElement }) {
  if (!menus.has(parentElement)) menus.set(parentElement, new Menu(parentElement));
  const menu = menus.get(parentElement);
  if (menu.isOpen() && menu.button === data.button) menu.close(true);
  else menu.open(data);
}
