// Below the arcs, for the word that is chosen there: what it takes along, the map of every head, and the next words of
// a model that writes. Numbers are asked for when a user comes near.

import { css } from "../lib/colour.js";
import { partDigits } from "../lib/describe.js";
import { isolate } from "../lib/direction.js";
import { element, fill, wordOf } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { WORD_EVENT, LEAST, otherWords } from "./looks.js";

const MOST_ROWS = 3; // words with a row of their own

export default mount((parent) => new Story(parent));

class Story extends View {
  constructor(parent) {
    super(parent, "story", { tag: "section" });
    this.hear = (/** @type {any} */ event) => {
      this.chosen = event.detail;
      this.#show();
    };
    document.addEventListener(WORD_EVENT, this.hear);
    this.watch = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      this.watch.disconnect();
      this.send("asked", true);
    });
    this.watch.observe(this.root);
  }

  close() {
    this.watch.disconnect();
    document.removeEventListener(WORD_EVENT, this.hear);
    super.close();
  }

  receive(data) {
    this.data = data;
    this.#show();
  }

  #show() {
    const { stories, at, query } = this.data ?? { stories: [] },
      story = stories.find(({ text }) => text === this.chosen?.text) ?? stories[0];
    this.story = story;
    if (!story) return;
    const word = this.chosen?.text === story.text ? this.chosen.query : (at ?? story.labels.indexOf(query));
    this.root.replaceChildren(this.#takes(story, word), this.#heads(story), this.#next(story));
  }

  #part(name, title, picture, sentence, story) {
    const part = element("article", name);
    part.append(element("h2", "", {}, title), picture, element("p", "", {}, sentence));
    part.append(element("a", "see alone", { href: story.links[name] }, this.data.words[`${name}_more`]));
    return part;
  }

  /** Rows of a value, each times its weight, and below them their sum: what the head hands on for the word. */
  #takes(story, query) {
    const { words, hues, whole } = this.data,
      row = story.weights[query].map((weight) => weight / whole),
      keys = otherWords({ ...story, weights: { [query]: row } }, query)
        .filter((key) => row[key] >= LEAST)
        .slice(0, MOST_ROWS),
      product = (keys) => story.values[0].map((_, at) => sum(keys.map((key) => row[key] * story.values[key][at]))),
      rest = row.map((_, key) => key).filter((key) => !keys.includes(key));
    const rows = [
      ...keys.map((key) => [story.labels[key], row[key], product([key])]),
      [words.rest, sum(rest.map((key) => row[key])), product(rest)],
      [words.sum, 1, product([...keys, ...rest])],
    ];
    const limit = Math.max(...rows.flatMap(([, , numbers]) => numbers.map(Math.abs)));
    const picture = element("div", "rows", {
      role: "img",
      "aria-label": fill(words.takes_alt, { query: story.labels[query] }),
    });
    rows.forEach(([label, weight, numbers], at) => {
      const strip = element("i");
      strip.append(
        ...numbers.map((number) => {
          const cell = element("span");
          cell.style.background = css(number < 0 ? hues.negative : hues.positive, Math.sqrt(Math.abs(number) / limit));
          return cell;
        }),
      );
      picture.append(
        at < keys.length ? wordOf("b", "", {}, label) : element("em", "", {}, label),
        element("small", "", {}, at < rows.length - 1 ? partDigits(weight) : ""),
        strip,
      );
    });
    const sentence = fill(words.takes_says, {
      query: isolate(story.labels[query]),
      n: story.values[0].length,
      key: isolate(story.labels[keys[0] ?? query]),
      weight: partDigits(row[keys[0] ?? query]),
    });
    return this.#part("takes", fill(words.takes, { query: story.labels[query] }), picture, sentence, story);
  }

  #heads(story) {
    const { words, layer, head } = this.data,
      picture = element("div", "maps", { role: "img", "aria-label": fill(words.heads_alt, story) }),
      sheet = element("div", "sheet"),
      frame = element("div", "frame");
    const { layers, heads, cell, labels } = story;
    picture.style.aspectRatio = `${heads} / ${layers}`;
    sheet.style.setProperty("--maps", `url("${story.maps}")`);
    const gap = 1 - labels.length / cell; // to the right of each map, and below it
    Object.assign(frame.style, {
      left: `${(100 * head) / heads}%`,
      top: `${(100 * layer) / layers}%`,
      width: `${(100 * (1 - gap)) / heads}%`,
      height: `${(100 * (1 - gap)) / layers}%`,
    });
    picture.append(sheet, frame);
    const sentence = fill(words.heads_says, { n: layers * heads, layers, heads, layer, head });
    return this.#part("heads", words.heads, picture, sentence, story);
  }

  #next(story) {
    const { words } = this.data,
      { next } = story;
    if (!next) {
      const without = story.writes ? words.next_script : words.next_without;
      return this.#part("next", words.next, element("div"), without, story);
    }
    const picture = element("div", "rows bars", { role: "img", "aria-label": words.next_alt });
    next.words.forEach((word, at) => {
      const bar = element("i");
      bar.style.width = `${(100 * next.shares[at]) / next.shares[0]}%`;
      picture.append(wordOf("b", "", {}, word), element("small", "", {}, partDigits(next.shares[at])), bar);
    });
    const values = {
      prompt: isolate(next.prompt),
      model: next.model,
      word: isolate(next.words[0]),
      share: partDigits(next.shares[0]),
      last_word: isolate(next.last_word),
      of: partDigits(next.share),
    };
    const is = next.last_word && next.last_word === next.words[0],
      sentence = fill(words.next_says, values) + (next.last_word && !is ? ` ${fill(words.next_written, values)}` : "");
    return this.#part("next", words.next, picture, sentence, story);
  }

  /** For the menu of the picture. */
  asPictures() {
    return [...this.root.querySelectorAll(".rows")];
  }

  /** The next words with their shares. */
  asTables() {
    const next = this.story?.next;
    return next ? [{ columns: ["", ""], rows: next.words.map((word, at) => [word, next.shares[at]]) }] : [];
  }
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
