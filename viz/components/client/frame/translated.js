// @ts-check
// A browser's translator puts a <font> in the place of each text. React goes on writing to the text that is gone, so
// that an old number would stay on the screen, and stops the page when it removes it
// (github.com/facebook/react/issues/11538). With this, what React writes is shown, and what it removes goes. It is in
// the page's HTML, before React: of a text that was translated earlier nothing would say which element came for it.

/** @type {WeakMap<Node, Element>} */
const translations = new WeakMap(); // of a text, while they stand in its place
const texts = new MutationObserver((changes) => changes.forEach(({ target }) => restore(target)));

/** @param {Node | null} node @returns {node is Element} */
const isFont = (node) => node instanceof Element && node.localName === "font";

/** Note which text an element has come for, beside it or in its place. @param {MutationRecord} change */
function note({ removedNodes, addedNodes, previousSibling, nextSibling }) {
  for (const text of removedNodes) {
    const font = [...addedNodes, text.parentNode, nextSibling, previousSibling].find(isFont);
    if (!(text instanceof Text) || !font) continue;
    translations.set(text, font);
    texts.observe(text, { characterData: true });
  }
}

/** The outermost element that a translator has put in the place of a text. @param {Node} text */
function standIn(text) {
  let font = translations.get(text);
  while (font && isFont(font.parentNode)) font = font.parentNode;
  return font;
}

/** Show a text again that has changed: the translator translates it as all that is new. @param {Node} text */
function restore(text) {
  const font = standIn(text);
  if (!font?.isConnected) return;
  translations.delete(text);
  font.replaceWith(text);
}

/**
 * Have a method take the translation for the text that it is asked for and that is elsewhere.
 *
 * @param {"removeChild" | "insertBefore"} name
 * @param {number} at which argument is the text
 */
function tolerate(name, at) {
  const method = Node.prototype[name];
  /** @this {Node} @param {any[]} args */
  const tolerant = function (...args) {
    const text = args[at],
      font = text && text.parentNode !== this && standIn(text);
    if (font && font.parentNode === this) args[at] = font;
    return Reflect.apply(method, this, args);
  };
  Object.assign(Node.prototype, { [name]: tolerant });
}

new MutationObserver((changes) => changes.forEach(note)).observe(document.body, { childList: true, subtree: true });
tolerate("removeChild", 0);
tolerate("insertBefore", 1);
