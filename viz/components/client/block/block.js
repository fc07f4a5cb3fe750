// A block as a diagram. Every box is a button that opens the tensor found there, unless the diagram is only to be
// looked at (no box is chosen). Reading order is order of computation.

import { css } from "../lib/colour.js";
import { element, svgElement } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { zoomOf } from "../lib/place.js";

export default mount((parent) => new BlockDiagram(parent));

class BlockDiagram extends View {
  constructor(parent) {
    const of = ({ clientWidth, clientHeight }) => [clientWidth, clientHeight];
    super(parent, "block", { attributes: { role: "group" }, of });
    this.sides = element("div", "sides");
    this.wire = svgElement("svg", { class: "wire", "aria-hidden": "true" });
    this.root.append(this.sides, this.wire);
    this.root.addEventListener("keydown", (event) => this.#walk(event));
  }

  receive(data) {
    const focused = this.root.getRootNode().activeElement?.dataset?.code;
    this.data = data;
    this.root.setAttribute("aria-label", data.words.alt);
    this.sides.classList.toggle("two", data.sides.length > 1);
    this.sides.replaceChildren(...data.sides.map((side) => this.#side(side)));
    this.draw();
    this.size.hold(); // what is written in the boxes may wrap
    if (focused) this.#box(focused)?.focus({ preventScroll: true }); // new buttons took the old one's place
  }

  #side(side) {
    const section = element("section", "side", { "aria-label": side.name });
    const inputs = element("div", "inputs"),
      frame = element("div", "frame");
    inputs.append(...side.inputs.map((box) => this.#drawBox(box)));
    if (side.times) frame.append(element("p", "times", {}, side.times));
    for (const { boxes, tail, residual } of side.parts) {
      const part = element("div", "part");
      part.append(...boxes.map((box) => this.#drawBox(box)), element("div", residual ? "skip" : "skip off"));
      frame.append(part, ...tail.map((box) => this.#drawBox(box)));
    }
    section.append(element("p", "title", {}, side.name), inputs, frame);
    return section;
  }

  /** A box's name is what is written in it; what is seen only, as a line through it, is read out after that. */
  #drawBox({ code, name, detail, more, look, hue }) {
    const opens = this.data.chosen !== null;
    const box = element(opens ? "button" : "div", `box ${look}`, { "data-code": code });
    if (hue !== null) box.style.setProperty("--hue", css(this.data.hues.heads[hue]));
    box.append(element("span", "name", {}, name), " ", element("span", "detail", {}, detail));
    if (more) box.append(" ", element("span", "unseen", {}, more));
    if (opens) {
      box.type = "button";
      box.setAttribute("aria-pressed", String(code === this.data.chosen));
      box.addEventListener("click", () => this.#choose(code));
    }
    return box;
  }

  /** For the menu of the picture: every box with the shape that is found there. */
  asTables() {
    const boxes = ({ inputs, parts }) => [...inputs, ...parts.flatMap(({ boxes, tail }) => [...boxes, ...tail])];
    const rows = this.data.sides.flatMap((side) => boxes(side).map(({ name, detail }) => [side.name, name, detail]));
    return [{ columns: ["", "", ""], rows }];
  }

  #choose(code) {
    for (const box of this.#boxes()) box.setAttribute("aria-pressed", String(box.dataset.code === code));
    this.send("chosen", code);
  }

  #boxes() {
    return [...this.root.querySelectorAll(".box")];
  }

  #box(code) {
    return this.#boxes().find((box) => box.dataset.code === code);
  }

  /** Up and down walk a side, left and right go over to the other one. */
  #walk(event) {
    const at = event.target.closest?.("button.box");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key],
      over = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!at || !(step || over)) return;
    event.preventDefault();
    const sides = [...this.sides.children],
      side = sides.findIndex((panel) => panel.contains(at));
    const boxes = [...sides[side].querySelectorAll(".box")];
    if (step) boxes[boxes.indexOf(at) + step]?.focus();
    else nearest(at, sides[side + over])?.focus();
  }

  /** The residual's line ends in the middle of the sum, which is the last box of its part. */
  #around() {
    for (const skip of this.root.querySelectorAll(".skip")) {
      const sum = skip.previousElementSibling;
      skip.style.bottom = `${sum.offsetHeight / 2}px`;
    }
  }

  /** Draw the line from the encoder's last box to the decoder's memory, if both are there. */
  draw() {
    this.#around();
    const boxes = this.#boxes(),
      to = this.#box("dec_memory");
    const from = boxes.filter((box) => box.dataset.code.startsWith("enc_")).at(-1);
    this.wire.replaceChildren();
    if (!from || !to || !this.root.clientWidth) return;
    const zoom = zoomOf(this.root),
      [a, b, home] = [from, to, this.root].map((box) => inOwnPixels(box.getBoundingClientRect(), zoom));
    const middle = leftOfSide(to) / zoom - home.left - 10;
    const [y0, y1] = [a.top + a.height / 2 - home.top, b.top + b.height / 2 - home.top];
    const d = `M ${a.right - home.left} ${y0} H ${middle} V ${y1} H ${b.left - home.left - 2} m -6 -4 l 6 4 l -6 4`;
    this.wire.append(svgElement("path", { d }));
  }
}

function inOwnPixels({ left, right, top, height }, zoom) {
  return { left: left / zoom, right: right / zoom, top: top / zoom, height: height / zoom };
}

function leftOfSide(box) {
  return box.closest(".side").getBoundingClientRect().left;
}

/** The box of another side that stands at about the same height. */
function nearest(box, side) {
  const top = box.getBoundingClientRect().top;
  const away = (box) => Math.abs(box.getBoundingClientRect().top - top);
  return side && [...side.querySelectorAll(".box")].sort((a, b) => away(a) - away(b))[0];
}
