// A button at every picture, which opens its menu. What the menu does is loaded when one is opened for the first time.

import { clickable, element } from "../lib/dom.js";

const FIGURES = ".stMain :is(.stPlotlyChart, [data-testid=stBidiComponentRegular], .stHtml:has(> .bars))",
  PLACE = "[data-testid=stElementContainer]";

export class Figures {
  data;

  constructor() {
    this.host = element("div"); // the menu is shown from here, above everything
  }

  close() {
    this.host.remove();
    for (const button of document.querySelectorAll(".take-away")) button.remove();
  }

  /** Add a button to every new picture, and remove those whose picture is gone. */
  place() {
    const figures = this.data ? [...document.querySelectorAll(FIGURES)].filter(isPicture) : [];
    const places = new Set(figures.map((figure) => figure.closest(PLACE)));
    for (const button of document.querySelectorAll(".take-away"))
      if (!places.has(button.parentElement)) button.remove();
    for (const place of places) {
      const button = place.querySelector(":scope > .take-away") ?? this.#button(place),
        { open } = this.data.words;
      if (button.title !== open) for (const name of ["title", "aria-label"]) button.setAttribute(name, open);
    }
  }

  #button(place) {
    const attributes = { "aria-haspopup": "menu", "aria-expanded": "false" },
      button = clickable("take-away", "⋯", () => this.#open(button, place), attributes);
    place.append(button);
    return button;
  }

  async #open(button, place) {
    const { default: open } = await import(new URL(this.data.menu, location.href).href);
    document.body.append(this.host);
    open({ data: { ...this.data, button, place }, parentElement: this.host });
  }
}

/** A chart, a table of bars, or a view that says its numbers. */
function isPicture(figure) {
  return figure.matches(".stPlotlyChart, .stHtml") || Boolean(figure.shadowRoot?.view?.asTables);
}
