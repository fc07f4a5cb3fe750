// The last slide: what was shown, what to keep, and where to go on.

import { element, prose } from "../lib/dom.js";
import { open } from "../lib/navigate.js";

export function drawClosing(slide, { title, shown: points, keep, links }, words) {
  const list = (kind, sentences) => {
    const node = element(kind);
    node.append(...sentences.map((sentence) => prose("li", "", {}, sentence)));
    return node;
  };
  const ways = element("p", "ways");
  for (const { text, to } of links) {
    const link = element("a", "", { href: to }, text);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open(to);
    });
    ways.append(link);
  }
  slide.setAttribute("aria-label", words.closing);
  slide.classList.toggle("alone", !keep.length && points.length < 6);
  slide.replaceChildren(
    element("h2", "", {}, title),
    ...(keep.length ? [element("h3", "", {}, words.keep), list("ol", keep)] : []),
    element("h3", "", {}, words.was_shown),
    list("ul", points),
    element("h3", "", {}, words.go_on),
    ways,
  );
}
