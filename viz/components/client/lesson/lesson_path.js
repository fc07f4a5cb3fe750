// The lessons in their order, each with a small picture of its subject. How far one has come the browser alone knows.

import { element, fill, prose, svgElement } from "../lib/dom.js";
import { follow, isBrowserClick } from "../lib/navigate.js";
import { View, mount } from "../lib/view.js";
import { loadProgress } from "./store.js";

export default mount((parent) => new LessonPath(parent));

class LessonPath extends View {
  constructor(parent) {
    super(parent, "lessons", { tag: "ol" });
    this.onStorage = () => this.receive(this.data);
    window.addEventListener("storage", this.onStorage); // by another tab
    this.root.addEventListener("click", (event) => {
      const link = event.target instanceof Element && event.target.closest("a:not([target])");
      if (!link || isBrowserClick(event)) return;
      event.preventDefault();
      follow(link.href);
    });
  }

  close() {
    window.removeEventListener("storage", this.onStorage);
    super.close();
  }

  receive(data) {
    this.data = data;
    const steps = data.lessons.map(({ name, links }) => links.map((_, at) => loadProgress(name).has(at + 1)));
    const current = steps.findIndex((over) => over.includes(true) && over.includes(false)),
      first = data.lessons.findIndex(({ missing }, at) => !missing && steps[at].includes(false)),
      next = current < 0 ? first : current;
    const cards = data.lessons.map((lesson, at) => this.#card(lesson, steps[at], at === next, next === 0));
    this.root.replaceChildren(...cards);
  }

  #card({ title, knows, size, model, missing, links, picture }, steps, isNext, isFirst) {
    const { words } = this.data,
      count = steps.filter(Boolean).length,
      link = links[Math.max(0, steps.indexOf(false))],
      isOver = count === links.length;
    const card = element("li", isNext ? "next" : ""),
      text = element("div", "text"),
      head = element("p", "head"),
      ways = element("p", "ways");
    if (isOver) head.append(element("b", "", {}, `✓ ${words.over}`));
    else if (isNext) head.append(element("b", "", {}, count ? words.go_on : isFirst ? words.begin : words.next));
    head.append(element("a", "see alone", { href: link }, title));
    const far = count && !isOver ? ` · ${fill(words.done, { done: count, steps: links.length })}` : "";
    ways.append(element("a", "", { href: `${links[0]}&present=1` }, words.present));
    for (const [name, as] of Object.entries({ sheet: "1", answers: "answers" }))
      ways.append(element("a", "", { href: `${links[0]}&print=${as}`, target: "_blank" }, words[name]));
    text.append(head, element("p", "size", {}, size + far), prose("p", "", {}, knows));
    text.append(element("p", missing ? "model missing" : "model", {}, model), ways);
    card.append(draw(picture), text);
    return card;
  }
}

/** A picture of rectangles, lines and dots, in the page's own blue. */
function draw({ rects = [], lines = [], dots = [] }) {
  const picture = svgElement("svg", { viewBox: "0 0 96 96", "aria-hidden": "true" });
  picture.append(
    ...rects.map(([x, y, width, height, opacity]) =>
      svgElement("rect", { x, y, width, height, "fill-opacity": opacity }),
    ),
    ...lines.map(([d, width]) => svgElement("path", { d, "stroke-width": width })),
    ...dots.map(([cx, cy, r]) => svgElement("circle", { cx, cy, r })),
  );
  return picture;
}
