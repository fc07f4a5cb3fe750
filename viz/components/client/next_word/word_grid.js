// A table of words with their chances: a row for each token or layer. A click on a head of a row or column, or on a
// word, sends the choice to Python; pointing at a word describes it.

import { View, mount } from "../lib/view.js";
import { css } from "../lib/colour.js";
import { element, fill } from "../lib/dom.js";

export default mount((parent) => new WordGrid(parent));

class WordGrid extends View {
  constructor(parent) {
    super(parent, "word_grid");
    this.says = element("p", "says");
    this.box = element("div", "frame");
    this.root.append(this.box, this.says);
  }

  close() {
    cancelAnimationFrame(this.moving);
    super.close();
  }

  receive(data) {
    this.data = data;
    const table = element("table", `by_${data.by}`),
      head = element("thead"),
      body = element("tbody"),
      top = element("tr");
    table.append(element("caption", "", {}, data.words.caption));
    top.append(element("td", "corner", {}, data.words.corner));
    top.append(...data.columns.map((name, column) => this.#head(name, "col", { column }, data.by === "column")));
    head.append(top);
    body.append(...data.rows.map((row, index) => this.#row(row, index)));
    table.append(head, body);
    this.box.replaceChildren(table);
    this.says.textContent = data.words.rest;
    if (this.at !== data.at) this.moving ??= requestAnimationFrame(() => this.#move());
    this.at = data.at;
  }

  /** Scroll to the selection in the next frame, to avoid an extra layout. */
  #move() {
    this.moving = null;
    const { box: frame } = this,
      selected = frame.querySelector(".chosen");
    if (!selected) return;
    const { offsetTop: top, offsetLeft: left } = selected,
      { clientHeight: high, clientWidth: wide } = frame;
    [frame.scrollTop, frame.scrollLeft] = [Math.max(0, top - high / 2), Math.max(0, left - wide / 2)];
  }

  /** For the menu of the picture, which reads the table. */
  asTables() {
    return [...this.box.querySelectorAll("table")];
  }

  /** The head of a row or column; a button where it can be chosen. */
  #head(name, scope, place, chooses) {
    const cell = element("th", this.#isChosen(place) ? "chosen" : "", { scope });
    const label = element(chooses ? "button" : "span", "name", chooses ? { type: "button" } : {}, name);
    label.dir = "auto";
    if (chooses) {
      label.setAttribute("aria-pressed", String(this.#isChosen(place)));
      label.addEventListener("click", () => this.#choose(place));
    }
    cell.append(label);
    return cell;
  }

  #row({ name, cells }, row) {
    const tableRow = element("tr");
    tableRow.append(this.#head(name, "row", { row }, this.data.by === "row"));
    tableRow.append(...cells.map((cell, column) => this.#cell(cell, row, column)));
    return tableRow;
  }

  #cell({ text, note, share }, row, column) {
    const { hues, by } = this.data;
    const cell = element("td", this.#isChosen(by === "row" ? { row } : { column }) ? "chosen" : "");
    cell.style.backgroundColor = css(hues.positive, Math.sqrt(Math.max(0, Math.min(1, share))) * 0.65);
    const word = element("span", "word", {}, text);
    word.dir = "auto";
    cell.append(word, element("span", "note", {}, note));
    cell.addEventListener("pointerenter", () => this.#say(text, note, row, column));
    cell.addEventListener("click", () => this.#choose({ row, column }));
    return cell;
  }

  #isChosen(place) {
    const { by, at } = this.data;
    return by in place && place[by] === at;
  }

  #say(word, note, row, column) {
    const { words, rows, columns } = this.data;
    this.says.textContent = fill(words.says, { word, note, row: rows[row].name, column: columns[column] });
  }

  #choose(place) {
    this.send("chosen", place[this.data.by]);
  }
}
