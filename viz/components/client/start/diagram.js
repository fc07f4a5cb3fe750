// The transformer as a diagram: each box is a link to the page about it.

import { svgElement } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { isBrowserClick, open } from "../lib/navigate.js";

const ABOVE = 5,
  BESIDE = 8; // px, from the middle of a box and the side of a frame to its text

export default mount((parent) => new Diagram(parent));

function frame(kind, [x, y, width, height]) {
  return svgElement("rect", { class: kind, x, y, width, height, rx: 8 });
}

class Diagram extends View {
  constructor(parent) {
    super(parent, "diagram", { tag: "nav" });
    this.root.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link || isBrowserClick(event)) return;
      event.preventDefault();
      open(link.getAttribute("href"));
    });
  }

  receive(data) {
    if (!this.hasChanged("data", data)) return; // what has the keyboard stays
    this.root.setAttribute("aria-label", data.label);
    this.root.replaceChildren(...data.plans.map((plan) => this.#drawPlan(data, plan)));
  }

  #drawPlan(data, plan) {
    const [width, height] = plan.size,
      svg = svgElement("svg", { class: plan.name, viewBox: `0 0 ${width} ${height}`, width, height });
    const [x, y, wide] = plan.stack,
      [left, top] = plan.attention;
    svg.append(frame("stack", plan.stack), frame("attention", plan.attention));
    svg.append(svgElement("text", { class: "name", x: left + BESIDE, y: top + 16 }, data.attention));
    for (const line of plan.arrows) svg.append(...arrow(line));
    const repeated = data.repeated,
      name = svgElement("text", { class: "name", x: x + BESIDE, y: y + 18 }, `${data.names[repeated]} × N`);
    const links = Object.entries(plan.boxes).map(([page, [from, above, size]]) => {
      const text = svgElement("text", { x: from + size / 2, y: above + data.high / 2 + ABOVE }, data.names[page]);
      return link(data.links[page], frame("box", [from, above, size, data.high]), text);
    });
    svg.append(link(data.links[repeated], frame("box bare", [x + 2, y + 1, wide - 4, 24]), name), ...links);
    return svg;
  }
}

function link(href, ...parts) {
  const node = svgElement("a", { href });
  node.append(...parts);
  return node;
}

function arrow([x, y, toX, toY]) {
  const [dx, dy] = [Math.sign(toX - x), Math.sign(toY - y)],
    [baseX, baseY] = [toX - 7 * dx, toY - 7 * dy];
  const head = `M${toX} ${toY}L${baseX - 4 * dy} ${baseY - 4 * dx}L${baseX + 4 * dy} ${baseY + 4 * dx}Z`;
  return [
    svgElement("path", { class: "arrow", d: `M${x} ${y}L${baseX} ${baseY}` }),
    svgElement("path", { class: "head", d: head }),
  ];
}
