// A block as a diagram: every box is a button that opens the tensor found there. Reading order is order of computation.

import { css } from "./colour.js";
import { element } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg", views = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const view = views.get(parentElement) ?? new Block(parentElement);
  views.set(parentElement, view);
  view.receive(data, setStateValue);
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

class Block {
  constructor(parent) {
    this.root = element("div", "block", { role: "group" });
    this.towers = element("div", "towers");
    this.wire = document.createElementNS(SVG, "svg");
    this.wire.setAttribute("class", "wire");
    this.wire.setAttribute("aria-hidden", "true");
    this.root.append(this.towers, this.wire);
    this.root.addEventListener("keydown", (event) => this.#walk(event));
    parent.append(this.root);
    this.watch = new ResizeObserver(() => this.#route());
    this.watch.observe(this.root);
  }

  close() {
    this.watch.disconnect();
    this.root.remove();
  }

  receive(data, setStateValue) {
    const focused = this.root.getRootNode().activeElement?.dataset?.code;
    [this.data, this.setStateValue] = [data, setStateValue];
    this.root.setAttribute("aria-label", data.words.alt);
    this.towers.classList.toggle("two", data.towers.length > 1);
    this.towers.replaceChildren(...data.towers.map((tower) => this.#tower(tower)));
    this.#around();
    this.#route();
    if (focused) this.#box(focused)?.focus({ preventScroll: true }); // new buttons took the old one's place
  }

  #tower(tower) {
    const made = element("section", "tower", { "aria-label": tower.name });
    const inputs = element("div", "inputs"), frame = element("div", "frame");
    inputs.append(...tower.inputs.map((box) => this.#button(box)));
    frame.append(element("p", "times", {}, tower.times));
    for (const { boxes, tail, residual } of tower.parts) {
      const part = element("div", "part");
      part.append(...boxes.map((box) => this.#button(box)), element("div", residual ? "skip" : "skip off"));
      frame.append(part, ...tail.map((box) => this.#button(box)));
    }
    made.append(element("h4", "", {}, tower.name), inputs, frame);
    return made;
  }

  #button({ code, name, detail, say, look, hue }) {
    const button = element("button", `box ${look}`, { type: "button", "data-code": code, "aria-label": say });
    button.setAttribute("aria-pressed", String(code === this.data.chosen));
    if (hue !== null) button.style.setProperty("--hue", css(this.data.hues[hue]));
    button.append(element("span", "name", {}, name), element("span", "detail", {}, detail));
    button.addEventListener("click", () => this.#choose(code));
    return button;
  }

  #choose(code) {
    for (const box of this.#boxes()) box.setAttribute("aria-pressed", String(box.dataset.code === code));
    this.setStateValue("chosen", code);
  }

  #boxes() {
    return [...this.root.querySelectorAll(".box")];
  }

  #box(code) {
    return this.#boxes().find((box) => box.dataset.code === code);
  }

  /** Up and down walk a tower, left and right go over to the other one. */
  #walk(event) {
    const here = event.target.closest?.(".box");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], side = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!here || !(step || side)) return;
    event.preventDefault();
    const towers = [...this.towers.children], at = towers.findIndex((tower) => tower.contains(here));
    const own = [...towers[at].querySelectorAll(".box")];
    if (step) own[own.indexOf(here) + step]?.focus();
    else nearest(here, towers[at + side])?.focus();
  }

  /** The residual's line ends in the middle of the sum, which is the last box of its part. */
  #around() {
    for (const skip of this.root.querySelectorAll(".skip")) {
      const sum = skip.previousElementSibling;
      skip.style.bottom = `${sum.offsetHeight / 2}px`;
    }
  }

  /** Draw the line from the encoder's last box to the decoder's memory, if both are there. */
  #route() {
    this.#around();
    const boxes = this.#boxes(), to = this.#box("dec_memory"), home = this.root.getBoundingClientRect();
    const from = boxes.filter((box) => box.dataset.code.startsWith("enc_")).at(-1);
    this.wire.replaceChildren();
    if (!from || !to || !home.width) return;
    const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
    const end = towerLeft(to) - home.left, middle = end - 10;
    const path = document.createElementNS(SVG, "path");
    const [y0, y1] = [a.top + a.height / 2 - home.top, b.top + b.height / 2 - home.top];
    path.setAttribute("d", `M ${a.right - home.left} ${y0} H ${middle} V ${y1} H ${b.left - home.left - 2} m -6 -4 l 6 4 l -6 4`);
    this.wire.append(path);
  }
}

function towerLeft(box) {
  return box.closest(".tower").getBoundingClientRect().left;
}

/** The box of another tower that stands at about the same height. */
function nearest(here, tower) {
  const top = here.getBoundingClientRect().top;
  const away = (box) => Math.abs(box.getBoundingClientRect().top - top);
  return tower && [...tower.querySelectorAll(".box")].sort((a, b) => away(a) - away(b))[0];
}
