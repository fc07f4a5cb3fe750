// The height of a row: as on a desk, or less where the whole picture then stands on the first screen.

import assert from "node:assert/strict";
import test from "node:test";

const style = { "--fit": "1" };
globalThis.getComputedStyle = () => ({ getPropertyValue: (name) => style[name] ?? "" });
globalThis.document = { querySelector: () => ({ scrollTop: 0 }), documentElement: { clientHeight: 720 } };
const { fitHeight, fitRow } = await import("../../../viz/components/client/lib/fit.js");
const at = (top, zoom = 1) => ({ getBoundingClientRect: () => ({ top }), currentCSSZoom: zoom });

test("a row is as usual where there is room, and lower where the map would not fit", () => {
  assert.equal(fitRow(at(260), { height: 26, rows: 10, around: 100 }), 26);
  assert.equal(fitRow(at(260), { height: 26, rows: 16, around: 100 }), 22); // (720 - 8 - 260 - 100) / 16
  assert.equal(fitRow(at(260), { height: 5, rows: 10, around: 100 }), 5);
});

test("a map that begins too low fits into a window that is scrolled to it, and its labels can be read", () => {
  assert.equal(fitRow(at(600), { height: 26, rows: 24, around: 100 }), 25.5); // (720 - 8 - 100) / 24
  assert.equal(fitRow(at(260), { height: 26, rows: 100, around: 100 }), 11);
});

test("a picture keeps its size on paper, and where the window is as high as it", () => {
  for (const other of [{ "--fit": "0" }, { "--paper": "1" }]) {
    const before = { ...style };
    Object.assign(style, other);
    assert.equal(fitRow(at(600), { height: 26, rows: 30, around: 100 }), 26);
    for (const name of Object.keys(other)) delete style[name];
    Object.assign(style, before);
  }
});

test("in front of a class it grows into the room that is left", () => {
  Object.assign(style, { "--fit-times": "3", "--fit-below": "48px" });
  assert.equal(fitHeight(at(72, 2), { height: 260 }), 300); // (720 - 48 - 72) / 2
  delete style["--fit-times"];
  assert.equal(fitHeight(at(72, 2), { height: 260 }), 260);
  delete style["--fit-below"];
});
