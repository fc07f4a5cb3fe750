// A step of one head in small printed matrices. A number that follows from others can be chosen: what it is made of is
// marked, and its calculation is written below. What is given can be typed over. Nothing is calculated here.

import { mount } from "../lib/mount.js";
import { ARROWS, element, fill } from "../lib/dom.js";

export default mount((parent) => new ThreeWords(parent));

/** Of the printed numbers of some matrices, how many characters the longest has. */
function widest(...blocks) {
  return Math.max(...blocks.flatMap(({ texts }) => texts.flat().map((text) => text.length)));
}

class ThreeWords {
  constructor(parent) {
    this.root = element("div", "three-words");
    this.sent = 0;
    this.root.addEventListener("keydown", (event) => this.#key(event));
    parent.append(this.root);
  }

  close() {
    this.root.remove();
  }

  receive(data, setStateValue) {
    [this.data, this.setStateValue] = [data, setStateValue];
    [this.cell, this.letter] = [data.cell, data.letter];
    const focused = this.root.getRootNode().activeElement?.dataset?.place;
    this.#build();
    if (focused) this.root.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus();
  }

  #build() {
    const { left, pairs, blocks, named } = this.data, picture = element("div", pairs ? "product" : "list");
    [this.cells, this.parts] = [[], []]; // what can be chosen, and what that is made of
    this.root.classList.toggle("named", Boolean(named));
    if (pairs) {
      picture.style.setProperty("--pairs", String(pairs.length));
      if (pairs.length > 1) picture.append(this.#letters(pairs));
      picture.append(this.#table(left, "left", widest(left)));
      for (const [place, { code, top, result }] of pairs.entries()) {
        for (const [block, side] of [[top, "top"], [result, "result"]]) {
          const table = this.#table(block, side, widest(top, result), code); // their columns stand below each other
          table.style.setProperty("--at", String(place + 2));
          table.dataset.code = code;
          picture.append(table);
        }
      }
    } else {
      for (const block of blocks) picture.append(this.#table(block, block.says ? "result" : "before", widest(block)));
    }
    [this.says, this.line, this.note] = [element("p", "says"), element("p", "line"), element("p", "note")];
    const written = element("div", "written", { "aria-live": "polite" });
    const scroll = element("div", "scroll");
    scroll.append(picture);
    this.root.replaceChildren(scroll);
    if (this.cells.length) {
      written.append(this.says, this.line, this.note);
      (pairs ? picture : this.root).append(written); // a product leaves a corner free
      this.root.append(element("p", "choose", {}, this.data.words.choose));
      this.#mark();
    }
  }

  /** On a narrow page one of the products is seen at a time: a button for each. */
  #letters(pairs) {
    const row = element("div", "letters");
    for (const { code } of pairs) {
      const button = element("button", "", { type: "button", "data-letter": code, "data-place": `letter ${code}` }, code);
      button.addEventListener("click", () => this.#choose(this.cell, code));
      row.append(button);
    }
    return row;
  }

  #table(block, side, digits, code = "") {
    const figure = element("figure", `block ${side}`), table = element("table"), head = element("tr");
    const [symbol, below] = block.name.split("_"), [base, above] = symbol.split("^"), caption = element("figcaption", "", {}, base);
    if (above) caption.append(element("sup", "", {}, above));
    if (below) caption.append(element("sub", "", {}, below));
    figure.style.setProperty("--digits", String(digits));
    figure.append(caption);
    head.append(element("td", "corner"));
    for (const label of block.columns) head.append(element("th", "", { scope: "col", title: label }, label));
    table.append(head);
    block.rows.forEach((label, i) => {
      const row = element("tr");
      row.append(block.words ? this.#word(label, i) : element("th", "", { scope: "row", title: label }, label));
      block.columns.forEach((_, j) => row.append(this.#number(block, side, code, i, j)));
      table.append(row);
    });
    figure.append(table);
    return figure;
  }

  #number(block, side, code, i, j) {
    const cell = element("td", "number"), text = block.texts[i][j];
    if (side !== "result") this.parts.push({ cell, side, code, i, j, isSum: Boolean(block.sums) && j === block.columns.length - 1 });
    const name = fill(this.data.words.number, { name: block.name, row: block.rows[i], column: block.columns[j] });
    const place = `${block.name} ${i} ${j}`;
    if (block.edit) {
      const input = element("input", "", { type: "text", "aria-label": name, "data-place": place, size: 4, autocomplete: "off" });
      input.value = text;
      input.addEventListener("focus", () => input.select());
      input.addEventListener("change", () => this.#typed(block, i, j, input, text));
      cell.append(input);
    } else if (block.says) {
      const button = element("button", "", { type: "button", "data-place": place, "aria-label": `${name}: ${text}` }, text);
      button.addEventListener("click", (event) => {
        this.#choose([i, j], code);
        if (event.detail) button.blur(); // after a finger or the mouse the arrow keys go on from step to step
      });
      cell.append(button);
      this.cells.push({ block, code, i, j, cell, button });
    } else {
      cell.textContent = text;
    }
    if (block.kind === "weights") {
      cell.style.setProperty("--weight", String(Math.sqrt(block.values[i][j]))); // opacity, as on every map
      cell.classList.add("weight");
    }
    return cell;
  }

  /** A word of the example, to be typed over. */
  #word(label, i) {
    const cell = element("th", "", { scope: "row" });
    const input = element("input", "word", {
      type: "text", "aria-label": fill(this.data.words.word, { n: i + 1 }), "data-place": `word ${i}`, size: 6, maxlength: 12, autocomplete: "off",
    });
    input.value = label;
    input.addEventListener("change", () => {
      if (!input.value.trim()) input.value = label;
      else this.setStateValue("renamed", { row: i, word: input.value, sent: ++this.sent });
    });
    cell.append(input);
    return cell;
  }

  #typed(block, row, column, input, before) {
    const value = Number(input.value.trim().replace("−", "-").replace(",", ".") || NaN), { most } = this.data;
    if (!Number.isFinite(value)) {
      input.value = before;
      return;
    }
    const within = Math.round(100 * Math.min(most, Math.max(-most, value))) / 100;
    input.value = String(within).replace("-", "−");
    this.setStateValue("edited", { matrix: block.edit, row, column, value: within, sent: ++this.sent });
  }

  #choose(cell, code) {
    [this.cell, this.letter] = [cell, "QKV".includes(code) ? code : this.letter];
    this.#mark();
    this.setStateValue("chosen", { cell: this.cell, letter: this.letter });
  }

  /** The number that is explained: in this picture's result, and in it at a place that is there. */
  #chosen() {
    const { pairs } = this.data, code = pairs?.length > 1 ? this.letter : this.cells[0].code;
    const cells = this.cells.filter((cell) => cell.code === code), last = Math.max(...cells.map(({ j }) => j));
    return cells.find(({ i, j }) => i === this.cell[0] && j === Math.min(this.cell[1], last));
  }

  /** Mark the number, and what it is made of; write its calculation. */
  #mark() {
    const { block, code, i, j } = this.#chosen(), product = Boolean(this.data.pairs);
    for (const other of this.cells) {
      const is = other.block === block && other.i === i && other.j === j;
      other.cell.classList.toggle("chosen", is);
      other.button.setAttribute("aria-pressed", String(is));
      other.button.tabIndex = is ? 0 : -1;
    }
    for (const button of this.root.querySelectorAll(".letters button")) {
      button.setAttribute("aria-pressed", String(button.dataset.letter === code));
    }
    for (const figure of this.root.querySelectorAll("[data-code]")) figure.classList.toggle("aside", figure.dataset.code !== code);
    for (const part of this.parts) {
      const row = part.i === i, column = part.j === j, other = part.code && part.code !== code;
      const [first, second] = product
        ? [part.side === "left" && row, part.side === "top" && column && !other]
        : [row && column, row && part.isSum];
      part.cell.classList.toggle("in-row", first);
      part.cell.classList.toggle("in-column", second);
    }
    this.says.textContent = block.says[i][j];
    this.line.replaceChildren(...block.lines[i][j].map(([text, role]) => (role === "up" ? element("sup", "", {}, text) : element("span", role, {}, text))));
    this.note.textContent = block.notes?.[i] ?? "";
  }

  /** Arrow keys move the chosen number, or change the number that is being typed by one; no key leaves a box for text. */
  #key(event) {
    const target = event.target, step = ARROWS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("input")) {
      event.stopPropagation();
      if (event.key === "Enter") target.blur();
      if (!step?.[0] || target.matches(".word")) return;
      target.value = String(Number(target.value.replace("−", "-")) - step[0]);
      target.dispatchEvent(new Event("change"));
      event.preventDefault();
    } else if (step && target.matches("td button")) {
      event.stopPropagation();
      event.preventDefault();
      const { code, i, j } = this.#chosen();
      const to = this.cells.find((cell) => cell.code === code && cell.i === i + step[0] && cell.j === j + step[1]);
      if (!to) return;
      this.#choose([to.i, to.j], code);
      to.button.focus();
    }
  }
}
