// A view's messages and their numbers, and when its picture is drawn anew: in another size than it was drawn in, and
// not when the browser reports the first one.

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
const made = () => ({ append() {}, remove() {}, setAttribute() {}, addEventListener() {}, dispatchEvent() {} });
globalThis.document = { querySelector: () => null, createElement: made };
const { LiveView, mount, Size } = await import("../../../viz/components/client/lib/view.js");

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

test("messages are numbered, and go on from the last that Python has seen", () => {
  const sent = [];
  let view = null;
  class Live extends LiveView {
    receive(data) {
      view = this;
      this.take(data);
    }
  }
  const show = mount((parent) => new Live(parent, "live")),
    parentElement = made(),
    setStateValue = (...message) => sent.push(message);
  const end = show({ data: { choice: { a: 1 }, sent: 7 }, parentElement, setStateValue });
  view.choice.a = 2;
  view.tell();
  view.send("other", "b");
  assert.deepEqual(sent, [
    ["choice", { value: { a: 2 }, sent: 8 }],
    ["other", { value: "b", sent: 9 }],
  ]);
  show({ data: { choice: { a: 1 }, sent: 8 }, parentElement, setStateValue });
  assert.deepEqual(view.choice, { a: 2 }, "an answer to an older message is out of date");
  show({ data: { choice: { a: 3 }, sent: 9 }, parentElement, setStateValue });
  assert.deepEqual(view.choice, { a: 3 });
  end();
});

test("a part of the data is another one once", () => {
  const view = new LiveView(made(), "live");
  assert.deepEqual(
    [["a"], ["a"], ["b"], ["a"]].map((labels) => view.hasChanged("labels", labels)),
    [true, false, true, true],
  );
  view.close();
});
