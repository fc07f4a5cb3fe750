// When a picture is drawn anew: in another size than it was drawn in, and not when the browser reports the first one.

import assert from "node:assert/strict";
import test from "node:test";

const observers = [];
globalThis.devicePixelRatio = 1;
globalThis.ResizeObserver = class {
  constructor(report) {
    this.report = report;
    observers.push(this);
  }
  observe(element) {
    this.element = element;
  }
  disconnect() {
    this.element = null;
  }
};
Object.assign(globalThis, { addEventListener() {}, removeEventListener() {}, cancelAnimationFrame() {} });
globalThis.document = { querySelector: () => null };
const { Size } = await import("../../../viz/components/client/lib/view.js");

test("what was drawn in this width is not drawn again", () => {
  const element = { clientWidth: 300, clientHeight: 20 };
  let drawn = 0;
  const size = new Size(element, () => drawn++),
    { report } = observers.at(-1);
  size.hold();
  element.clientHeight = 70; // what is drawn makes it so
  report();
  assert.equal(drawn, 0);
  element.clientWidth = 290;
  report();
  report();
  assert.equal(drawn, 1);
  globalThis.devicePixelRatio = 2; // another screen
  report();
  assert.equal(drawn, 2);
  size.close();
  assert.equal(observers.at(-1).element, null);
});

test("what had no room is drawn when it has some", () => {
  const element = { clientWidth: 0 };
  let drawn = 0;
  const size = new Size(element, () => drawn++);
  size.hold();
  element.clientWidth = 300;
  observers.at(-1).report();
  assert.equal(drawn, 1);
});

test("what depends on its height follows that, too", () => {
  const element = { clientWidth: 300, clientHeight: 20 };
  let drawn = 0;
  new Size(
    element,
    () => drawn++,
    ({ clientWidth, clientHeight }) => [clientWidth, clientHeight],
  ).hold();
  element.clientHeight = 70;
  observers.at(-1).report();
  assert.equal(drawn, 1);
});
