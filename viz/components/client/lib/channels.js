// @ts-check
// A picture in parts: bytes that stay, and words and choices that change. Each part is mounted by itself, so that a
// choice sends no bytes again; what has come is kept here, by the channel of the picture and the kind of the part.

/**
 * @typedef {{view?: {refresh: (part?: {kind: string}) => void} | null, [kind: string]: any}} Parts what has come, and
 *   the view that draws it
 */

export class Channels {
  constructor() {
    this.channels = /** @type {Map<string, Parts>} */ (new Map());
  }

  /** @param {string} name @returns {Parts} */
  of(name) {
    const parts = this.channels.get(name) ?? {};
    this.channels.set(name, parts);
    return parts;
  }

  /**
   * Store a part, and have the view draw it; the part's own element on the page stays empty.
   *
   * @param {{channel: string, kind: string}} part
   */
  keep(part) {
    const parts = this.of(part.channel);
    parts[part.kind] = part;
    parts.view?.refresh(part);
    return () => {};
  }
}
