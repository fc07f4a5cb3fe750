// A step of one head in small printed matrices. A number that follows from others can be chosen: what it is made of is
// marked, and its calculation is written below. What is given can be changed (given_number.js). A picture in groups
// also says what its numbers follow from (head_numbers.js): then they move with the number that is being changed, until
// Python's own have come. Otherwise nothing is calculated here.

import { View, mount, spoken } from "../lib/view.js";
import { ARROWS, clickable, element, fill } from "../lib/dom.js";
import { Player } from "../lib/player.js";
import { givenNumber } from "./given_number.js";
import { follow, formatNumber, parseNumber } from "./head_numbers.js";
import { printedTable } from "./printed_table.js";

export default mount((parent) => new ThreeWords(parent));

const LAST = 9,
  ROWS = 4; // of the largest matrix that is given
/** The speed of a film that goes on in the next step's picture; null where none does. */
let goesOn = null;

/** The length of the longest printed number of some matrices, in characters. */
function widest(...blocks) {
  return Math.max(...blocks.flatMap(({ texts }) => texts.flat().map((text) => text.length)));
}

class ThreeWords extends View {
  cell;
  letter;
  cells;
  parts;
  says;
  line;
  note;

  constructor(parent) {
    super(parent, "three-words");
    this.drafts = new Map(); // what is typed and not yet, or never, a number, by its place
    this.root.addEventListener("keydown", (event) => this.#key(event));
  }

  close() {
    this.player?.pause();
    super.close();
  }

  receive(data) {
    this.late = this.isBusy ? data : null;
    if (this.isBusy) return; // a number is being dragged: nothing is built anew under the finger
    this.data = data;
    [this.cell, this.letter, this.at] = [data.cell, data.letter, data.at];
    const focused = this.root.getRootNode().activeElement,
      place = focused?.dataset?.place;
    const [from, to] = [focused?.selectionStart, focused?.selectionEnd];
    this.#build();
    const again = place && this.root.querySelector(`[data-place="${CSS.escape(place)}"]`);
    again?.focus();
    if (again && this.drafts.has(place)) again.setSelectionRange(from, to);
  }

  /** For the menu of the picture, which reads the tables. */
  asTables() {
    return [...this.root.querySelectorAll("table")];
  }

  #build() {
    const { left, pairs, blocks, groups, named: names } = this.data,
      picture = element("div", pairs ? "product" : groups ? "groups" : "list");
    [this.cells, this.parts, this.wrong] = [[], [], null]; // what can be chosen, and what that is made of
    this.root.classList.toggle("named", Boolean(names));
    if (groups) {
      for (const group of groups) picture.append(this.#group(group));
    } else if (pairs) {
      picture.style.setProperty("--pairs", String(pairs.length));
      if (pairs.length > 1) picture.append(this.#letters(pairs));
      picture.append(this.#table(left, "left", widest(left)));
      for (const [place, { code, top, result }] of pairs.entries()) {
        for (const [block, side] of [
          [top, "top"],
          [result, "result"],
        ]) {
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
    const panel = spoken("written", "div");
    const scroll = element("div", "scroll");
    scroll.append(picture);
    this.problem = element("p", "problem", { role: "alert" });
    this.root.replaceChildren(scroll, this.problem);
    if (this.cells.length) {
      panel.append(this.says, this.line, this.note);
      (pairs ? picture : this.root).append(panel); // a product leaves a corner free
      const { choose, change } = this.data.words;
      this.root.append(element("p", "choose", {}, change ? `${choose} ${change}` : choose));
      groups ? this.#explain(panel) : this.#mark();
    }
    this.#complain();
    if (this.data.step) this.#film();
  }

  /** Play this step: its numbers come one after the other, what is given row by row; then the next step. */
  #film() {
    const { words, step } = this.data,
      { cells, parts } = this;
    const show = (at) => {
      const isPlaying = Boolean(this.player.timer);
      for (const [k, { cell }] of cells.entries()) cell.classList.toggle("later", isPlaying && k >= at);
      if (!cells.length) for (const { cell, i } of parts) cell.classList.toggle("later", isPlaying && i >= at);
      this.root.querySelector(".written")?.setAttribute("aria-live", isPlaying ? "off" : "polite");
      const { i, j, code } = cells[at - 1] ?? {};
      if (code !== undefined) this.#select([i, j], code);
    };
    const onStop = (isEnd) => {
      for (const cell of this.root.querySelectorAll(".later")) cell.classList.remove("later");
      const next = /** @type {?HTMLElement} */ (document.querySelector(".st-key-next button:enabled"));
      if (!isEnd || !next || step === LAST) return false;
      goesOn = this.player.speed;
      next.click();
      return true;
    };
    this.player?.pause();
    this.player = new Player(cells.length || ROWS, words, show, onStop);
    this.root.append(this.player.element);
    // All is computed until it is played.
    this.player.at = this.player.n;
    this.player.range.value = String(this.player.n);
    if (goesOn === null) return;
    this.player.goOn(goesOn);
    goesOn = null;
  }

  #group({ title, blocks }) {
    const group = element("div", "group", { role: "group", "aria-label": title }),
      list = element("div", "list");
    for (const block of blocks)
      list.append(this.#table(block, block.explains ? "result" : "before", Math.max(4, widest(block))));
    group.append(element("p", "title", {}, title), list);
    return group;
  }

  /** Buttons that switch between the products on a narrow page. */
  #letters(pairs) {
    const row = element("div", "letters");
    for (const { code } of pairs) {
      const attributes = { "data-letter": code, "data-place": `letter ${code}` };
      row.append(clickable("", code, () => this.#choose(this.cell, code), attributes));
    }
    return row;
  }

  #table(block, side, digits, code = "") {
    return printedTable(block, side, digits, {
      word: (label, i) => this.#word(label, i),
      number: (i, j) => this.#number(block, side, code, i, j),
    });
  }

  #number(block, side, code, i, j) {
    const cell = element("td", "number"),
      text = block.texts[i][j];
    if (side !== "result")
      this.parts.push({
        cell,
        side,
        code,
        i,
        j,
        live: block.live,
        isSum: Boolean(block.sums) && j === block.columns.length - 1,
      });
    const [row, column] = [(block.spoken_rows ?? block.rows)[i], (block.spoken_columns ?? block.columns)[j]];
    const name = fill(this.data.words.number, { name: block.spoken ?? block.name.replace("_", " "), row, column });
    const place = `${block.live ?? block.name} ${i} ${j}`;
    if (block.edit) {
      cell.append(this.#input(block, i, j, name, place));
    } else if (block.says || block.explains) {
      const attributes = { "data-place": place, "aria-label": `${name}: ${text}` };
      const choose = (event) => {
        this.#choose([i, j], code, block.explains ? block.live : "");
        if (event.detail) button.blur(); // after a finger or the mouse the arrow keys go on from step to step
      };
      const button = clickable("", text, choose, attributes);
      cell.append(button);
      this.cells.push({ block, code, i, j, cell, button, name });
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
      type: "text",
      "aria-label": fill(this.data.words.word, { n: i + 1 }),
      "data-place": `word ${i}`,
      size: 6,
      maxlength: 12,
      autocomplete: "off",
    });
    input.value = label;
    input.addEventListener("change", () => {
      if (!input.value.trim()) input.value = label;
      else this.send("renamed", { row: i, word: input.value });
    });
    cell.append(input);
    return cell;
  }

  /** A number that may be changed. */
  #input(block, i, j, name, place) {
    const { most } = this.data,
      value = block.values[i][j],
      savedDraft = this.drafts.get(place);
    const draft = savedDraft?.value === value ? savedDraft.text : undefined;
    if (draft === undefined)
      this.drafts.delete(place); // the number was changed elsewhere: Back, or another example
    else if (parseNumber(draft, most) === null) this.wrong = { typed: draft, name, before: formatNumber(value) };
    return givenNumber(
      { name, place, value, draft, most },
      {
        moved: (to) => this.#move(block, i, j, to, to !== value),
        settled: (to) => this.send("edited", { matrix: block.edit, row: i, column: j, value: to }),
        draft: (text) => (text === null ? this.drafts.delete(place) : this.drafts.set(place, { text, value })),
        wrong: (text) => this.#complain(text === null ? null : { typed: text, name, before: formatNumber(value) }),
        busy: (isBusy, isSent) => {
          this.isBusy = isBusy;
          if (!isBusy && this.late && !isSent) this.receive(this.late);
        },
      },
    );
  }

  /** Say which input is no number, below its matrices; without one, that of before, unless it has become one. */
  #complain(wrong = this.wrong) {
    this.wrong = wrong;
    this.root.querySelector("[aria-invalid]")?.closest(".group")?.append(this.problem);
    this.problem.textContent = wrong ? fill(this.data.words.problem, { ...wrong, most: this.data.most }) : "";
  }

  /** Recompute the results after an input changed. */
  #move(block, i, j, to, isNew) {
    block.values[i][j] = to;
    if (!this.data.follows) return;
    const blocks = this.data.groups.flatMap((group) => group.blocks);
    const results = follow(this.data.follows, Object.fromEntries(blocks.map(({ live, values }) => [live, values])));
    for (const part of this.parts)
      if (part.live in results) part.cell.textContent = formatNumber(results[part.live][part.i][part.j]);
    for (const {
      block: { live, kind },
      i: row,
      j: column,
      cell,
      button,
      name,
    } of this.cells) {
      const value = results[live][row][column];
      button.textContent = formatNumber(value);
      button.setAttribute("aria-label", `${name}: ${button.textContent}`);
      if (kind === "weights") cell.style.setProperty("--weight", String(Math.sqrt(value)));
    }
    this.root.querySelector(".written").classList.toggle("stale", isNew);
  }

  #choose(cell, code, live = "") {
    if (live) {
      this.at = `${live}-${cell.join("-")}`;
      this.#explain();
      this.send("chosen", { at: this.at });
      return;
    }
    this.player?.pause();
    this.#select(cell, code);
    this.send("chosen", { cell: this.cell, letter: this.letter });
  }

  #select(cell, code) {
    [this.cell, this.letter] = [cell, code && "QKV".includes(code) ? code : this.letter];
    this.#mark();
  }

  /** The number that is explained: in this picture's result, and in it at a place that is there. */
  #selectedCell() {
    const { pairs } = this.data,
      code = pairs?.length > 1 ? this.letter : this.cells[0].code;
    const cells = this.cells.filter((cell) => cell.code === code),
      last = Math.max(...cells.map(({ j }) => j));
    return cells.find(({ i, j }) => i === this.cell[0] && j === Math.min(this.cell[1], last));
  }

  /** Mark the number, and what it is made of; write its calculation. */
  #mark() {
    const { block, code, i, j } = this.#selectedCell(),
      product = Boolean(this.data.pairs);
    for (const entry of this.cells) {
      const is = entry.block === block && entry.i === i && entry.j === j;
      entry.cell.classList.toggle("chosen", is);
      entry.button.setAttribute("aria-pressed", String(is));
      entry.button.tabIndex = is ? 0 : -1;
    }
    for (const button of this.root.querySelectorAll(".letters button")) {
      button.setAttribute("aria-pressed", String(button.dataset.letter === code));
    }
    for (const figure of this.root.querySelectorAll("[data-code]"))
      figure.classList.toggle("aside", figure.dataset.code !== code);
    for (const part of this.parts) {
      const row = part.i === i,
        column = part.j === j,
        isOther = part.code && part.code !== code;
      const [first, second] = product
        ? [part.side === "left" && row, part.side === "top" && column && !isOther]
        : [row && column, row && part.isSum];
      part.cell.classList.toggle("in-row", first);
      part.cell.classList.toggle("in-column", second);
    }
    this.#write({ says: block.says[i][j], line: block.lines[i][j], note: block.notes?.[i] ?? "" });
  }

  /**
   * In a picture in groups: mark the number that is explained, and what it is made of. Python writes its calculation.
   */
  #explain(target) {
    const { explained: explanation, at } = this.data,
      isWritten = this.at === at;
    const lists = new Set(this.cells.filter(({ block, i, j }) => this.#is(block, i, j)).map(({ block }) => block));
    for (const { block, i, j, cell, button } of this.cells) {
      const is = this.#is(block, i, j);
      cell.classList.toggle("chosen", is);
      button.setAttribute("aria-pressed", String(is));
      button.tabIndex = is || (!lists.has(block) && i + j === 0) ? 0 : -1; // one stop in each matrix
    }
    for (const { live, i, j, cell } of this.parts.concat(
      this.cells.map(({ block, ...cell }) => ({ live: block.live, ...cell })),
    )) {
      for (const role of ["in-row", "in-column"]) {
        cell.classList.toggle(
          role,
          isWritten &&
            explanation.parts.some(
              (part) =>
                part.role === role &&
                part.live === live &&
                (part.row ?? i) === i &&
                (!part.columns || (part.columns[0] <= j && j < part.columns[1])),
            ),
        );
      }
    }
    const panel = target ?? this.root.querySelector(".written");
    panel.classList.toggle("stale", !isWritten);
    this.#write(isWritten ? explanation : { says: "", line: [], note: "" });
    this.root.querySelector(".chosen")?.closest(".group").append(panel);
  }

  #is({ live }, i, j) {
    return this.at === `${live}-${i}-${j}`;
  }

  #write({ says: sentence, line, note }) {
    this.says.textContent = sentence;
    this.line.replaceChildren(
      ...line.map(([text, role]) => (role === "up" ? element("sup", "", {}, text) : element("span", role, {}, text))),
    );
    this.note.textContent = note;
  }

  /** Arrow keys move the chosen number; no key leaves a box for text. */
  #key(event) {
    const target = event.target,
      step = ARROWS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("input")) {
      event.stopPropagation();
      if (event.key === "Enter") target.blur();
    } else if (step && target.matches("td button")) {
      event.stopPropagation();
      event.preventDefault();
      const { block, code, i, j } = this.cells.find(({ button }) => button === target);
      const to = this.cells.find((cell) => cell.block === block && cell.i === i + step[0] && cell.j === j + step[1]);
      if (!to) return;
      this.#choose([to.i, to.j], code, block.explains ? block.live : "");
      to.button.focus();
    }
  }
}
