// A number that may be changed: typed over, moved by arrow keys, dragged sideways. What is no number stays as it was
// typed, with a sentence that says so, until it is one.

import { element } from "../lib/dom.js";
import { formatNumber, parseNumber } from "./head_numbers.js";

const NEAR = 4,
  PIXELS = 3,
  FINE = 10; // a drag begins after so many pixels; so many are one step; ten steps are 1
const PAUSE = 150; // milliseconds after the last arrow key

/** An input for `value`. `on` has what to do: moved(value) at once, settled(value) when the change is over, draft(text)
 * with what is being typed, wrong(text) with what is no number (null: all is well again), busy(whether, sent) around a
 * drag, with whether it ended in a change. */
export function givenNumber({ name, place, value, draft, most }, on) {
  const input = element("input", "", {
    type: "text",
    "aria-label": name,
    "data-place": place,
    size: 4,
    autocomplete: "off",
    spellcheck: "false",
  });
  let [now, last, waiting] = [value, value, 0];
  input.value = draft ?? formatNumber(value);
  mark(input, draft !== undefined && parseNumber(draft, most) === null);

  function move(to) {
    on.draft(null);
    now = Math.round(100 * Math.min(most, Math.max(-most, to))) / 100;
    input.value = formatNumber(now);
    take();
  }
  function take() {
    mark(input, false);
    on.wrong(null);
    on.moved(now);
  }
  function settle() {
    clearTimeout(waiting);
    const isNew = now !== last;
    last = now;
    if (isNew) on.settled(now);
    return isNew;
  }

  input.addEventListener("focus", () => input.select());
  input.addEventListener("input", () => {
    const read = parseNumber(input.value, most);
    on.draft(input.value);
    if (read === null) return;
    now = read;
    take();
  });
  input.addEventListener("change", () => {
    const read = parseNumber(input.value, most);
    if (read === null) {
      now = last;
      on.moved(now);
      mark(input, true);
      on.wrong(input.value);
      return;
    }
    move(read);
    settle();
  });
  input.addEventListener("blur", settle);
  input.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!up) return;
    event.preventDefault();
    move((parseNumber(input.value, most) ?? now) + (event.shiftKey ? up / FINE : up));
    clearTimeout(waiting);
    waiting = setTimeout(settle, PAUSE);
  });
  drag(
    input,
    () => now,
    move,
    (isMoving) => on.busy(isMoving, !isMoving && settle()),
  );
  return input;
}

function mark(input, isWrong) {
  input.toggleAttribute("aria-invalid", false);
  if (isWrong) input.setAttribute("aria-invalid", "true");
}

/** Have a pointer that goes sideways move a number; one that does not may type in it, or scroll the page. */
function drag(input, read, move, busy) {
  let from = null;
  const isTyping = () => input.getRootNode().activeElement === input;
  input.addEventListener("pointerdown", (event) => {
    if (event.button || isTyping()) return;
    from = { x: event.clientX, value: read(), moving: false };
    if (event.pointerType === "mouse") event.preventDefault(); // no selection of text begins here
  });
  input.addEventListener("mousedown", (event) => {
    if (from) event.preventDefault();
  });
  input.addEventListener("pointermove", (event) => {
    if (!from) return;
    const way = event.clientX - from.x;
    if (!from.moving && Math.abs(way) < NEAR) return;
    if (!from.moving) {
      from.moving = true;
      input.setPointerCapture(event.pointerId);
      busy(true);
    }
    move(from.value + Math.round(way / PIXELS) / FINE);
  });
  const end = () => {
    const was = from;
    from = null;
    if (was?.moving) busy(false);
    return was;
  };
  input.addEventListener("pointerup", () => {
    if (end()?.moving === false) input.focus();
  });
  input.addEventListener("pointercancel", end);
  input.addEventListener("click", (event) => event.stopPropagation());
}
