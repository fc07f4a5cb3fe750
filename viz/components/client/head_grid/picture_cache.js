// @ts-check
// Cache of pictures: an example that was shown before is drawn from Python's last answer, before the new one comes.

/**
 * @typedef {{numbers: string, beside: string, choice: Record<string, any>}} Data as viz/frame/head_grid/grid.py sends
 *   it
 */
/** @typedef {{data: Data, wall: any, head: any}} Picture */

const MOST_BYTES = 8e6; // of the numbers of all that is kept

export class PictureCache {
  /**
   * @type {Map<string, Picture>} by the example's name in the list and what else was chosen; the one seen last at its
   *   end
   */
  pictures = new Map();
  /**
   * @type {{name: string, beside: string, numbers: string} | null} which example was chosen, and beside what, until
   *   Python has answered
   */
  pending = null;

  /**
   * The cached picture of a newly selected example, if it was shown before with the same settings.
   *
   * @param {string} name as the list has it
   * @param {Data} data what is shown
   * @returns {Picture | null} null too if it is being asked for already
   */
  choose(name, { beside, numbers }) {
    if (this.pending?.name === name && this.pending.beside === beside) return null;
    this.pending = { name, beside, numbers };
    return this.pictures.get(`${beside} ${name}`) ?? null;
  }

  /** Keep what Python has answered, if that is an example's. @param {Picture} picture */
  keep(picture) {
    const { pending: asked } = this;
    if (!asked || picture.data.numbers === asked.numbers || !picture.head) return;
    const key = `${asked.beside} ${asked.name}`;
    this.pending = null;
    this.pictures.delete(key);
    this.pictures.set(key, picture);
    let bytes = 0;
    for (const [name, { wall }] of [...this.pictures].reverse()) {
      bytes += wall.values.byteLength;
      if (bytes > MOST_BYTES) this.pictures.delete(name);
    }
  }
}
