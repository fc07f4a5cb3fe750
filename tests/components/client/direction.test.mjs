// Words from right to left are set apart; those from left to right stay as they are.

import assert from "node:assert/strict";
import test from "node:test";

const { direction, isolate, isolateAll, nameToken, readingDirection } = await import(
  "../../../viz/components/client/lib/direction.js"
);
const rtl = (text) => `\u2067${text}\u2069`,
  ltr = (text) => `\u2066${text}\u2069`;

test("words of a text in Latin letters stay as they are, the list included", () => {
  const labels = ["[CLS]", "the", "␣12", "猫", "."];
  assert.equal(isolateAll(labels), labels);
  assert.equal(readingDirection(labels), "ltr");
});

test("a word without letters takes the direction of its text, a tokenizer's mark its own", () => {
  const labels = ["<s>", "␣שלום", ",", "␣20", "␣Python", "</s>"];
  assert.equal(readingDirection(labels), "rtl");
  assert.deepEqual(isolateAll(labels), ["<s>", rtl("␣שלום"), rtl(","), rtl("␣20"), "␣Python", "</s>"]);
});

test("a word with letters of both kinds runs as its first one", () => {
  assert.equal(isolate("A4-דף"), ltr("A4-דף"));
  assert.equal(isolate("דף-A4"), rtl("דף-A4"));
  assert.equal(isolate("۱۲٪ خانه"), rtl("۱۲٪ خانه"));
});

test("what is set apart already is not set apart again", () => {
  const list = `“${isolate("של")}” 0.5, “${isolate("قط")}” 0.3`;
  assert.equal(direction(list), "");
  assert.equal(isolate(list), list);
});

test("a token that comes again is named with its place", () => {
  assert.equal(nameToken(["a", "cat", "a"], 1), "cat");
  assert.equal(nameToken(["a", "cat", "a"], 2), "2 · a");
  assert.equal(nameToken(["a", "cat", "a"], 2, [1, 2, 4]), "4 · a"); // a token before them is hidden
  assert.equal(nameToken(["של", "של"], 1), `1 · ${rtl("של")}`);
});
