// Painting cells: a stroke of the mouse, the pen or a finger from cell to cell, and the keyboard's, which ends when the
// keys rest.

const REST_MS = 500;
const HOLD_MS = 350,
  STILL = 8; // a finger that stays this long, within so many pixels, means to paint and not to scroll

/** The cells on the line between two of them, {query, key}, both included: a fast finger skips none. */
export function between(from, to) {
  const steps = Math.max(Math.abs(to.query - from.query), Math.abs(to.key - from.key), 1);
  return Array.from({ length: steps + 1 }, (_, i) => ({
    query: Math.round(from.query + ((to.query - from.query) * i) / steps),
    key: Math.round(from.key + ((to.key - from.key) * i) / steps),
  }));
}

/** Follow strokes on a canvas. `at` gives the cell under an event, of which one half is null on a label, or null;
 * `begin` is called with the first, `over` with each that is crossed from then on, `end` when it is over, `look` with
 * every one that is pointed at. Where a finger `scrolls` the page, it paints when it taps or holds. */
export function strokes(canvas, { at, begin, over, end, look = (_cell) => {}, scrolls = false }) {
  let last = null,
    finger = null,
    hold = 0;
  const isCell = (cell) => cell.query !== null && cell.key !== null;
  const lift = () => {
    clearTimeout(hold);
    finger = null;
  };
  const start = (cell) => {
    finger = null;
    last = cell;
    begin(cell);
  };
  const release = (/** @type {Event | null} */ event = null) => {
    const tapped = finger;
    lift();
    if (tapped && event) start(tapped.cell);
    if (!last) return;
    last = null;
    end();
  };
  canvas.addEventListener("pointerdown", (event) => {
    const cell = at(event);
    if (!cell || event.button) return;
    if (!scrolls || event.pointerType !== "touch") {
      canvas.setPointerCapture(event.pointerId);
      start(cell);
      return;
    }
    finger = { cell, x: event.clientX, y: event.clientY };
    clearTimeout(hold);
    hold = setTimeout(() => finger && start(finger.cell), HOLD_MS);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (finger && Math.hypot(event.clientX - finger.x, event.clientY - finger.y) > STILL) lift();
    const cell = at(event);
    if (!cell) return;
    if (last && isCell(last) && isCell(cell)) {
      for (const crossed of between(last, cell)) over(crossed);
      last = cell;
    }
    look(cell);
  });
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", () => release(null)); // the browser took the finger to scroll
  if (scrolls) {
    canvas.addEventListener("touchmove", (event) => last && event.preventDefault(), { passive: false });
    canvas.addEventListener("contextmenu", (event) => last && event.preventDefault());
  }
  return {
    stop: lift,
    /** True during a stroke. */
    get isOn() {
      return last !== null;
    },
  };
}

/** A debounced action: `later` schedules it, `now` runs it if it is pending. */
export class Debouncer {
  constructor(act) {
    this.act = act;
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), REST_MS);
  }

  now() {
    if (!this.timer) return;
    this.stop();
    this.act();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
  }
}
