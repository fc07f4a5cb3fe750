// @ts-check
// Takes apart what viz/components/take_away.py packs: every head of one or several stacks of layers, compressed.

/** @typedef {import("../lib/numbers.js").Axis & {labels: string[]}} Axis */
/**
 * @typedef {object} Stack the heads of an encoder, of a decoder, or of what is between them
 * @property {string} name
 * @property {number} n_layers
 * @property {number[]} numbers of the layers in the model
 * @property {number} n_heads
 * @property {string[]} order
 * @property {(number | null)[]} measures
 * @property {number[]} ranges
 * @property {[number, number] | null} wall where its small maps lie; null: they are the heads' own
 * @property {[number, number, number, number][]} heads where each head lies, and the ends of its scale of small weights
 * @property {number} rows
 * @property {number} columns
 * @property {{queries: Axis, keys: Axis, same: boolean, renormalise: boolean, plain: boolean}} axes
 */

const TOP = 65535;
const SMALL = 16; // codes below it are too coarse for another temperature: their logarithm was sent, too
const NONE = -1e4; // the logarithm of a weight of 0 that no mask made: 0 at every temperature
const LEVELS = 253,
  ZERO = 254,
  MASKED = 255;

/** The header, and the bytes behind it. @param {Uint8Array} bytes */
export function open(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { header, body: bytes.subarray(4 + length) };
}

/** @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
export async function inflate(bytes) {
  const stream = new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers of 16 bits, whose high bytes stand before all low ones. @param {Uint8Array} bytes @param {number} count */
export function codes(bytes, count) {
  return Uint16Array.from({ length: count }, (_, at) => (bytes[at] << 8) | bytes[count + at]);
}

/**
 * The logarithms of a head's weights: scores up to what a softmax does not see. -Infinity where a query may not look.
 *
 * @param {Uint8Array} bytes the head's codes, then a byte for each code that is small
 * @param {number} count
 * @param {number} low what the byte 0 stands for
 * @param {number} high what the highest byte stands for
 */
export function logarithms(bytes, count, low, high) {
  const table = new Float32Array(256);
  for (let level = 0; level <= LEVELS; level++) table[level] = low + ((high - low) * level) / LEVELS;
  [table[ZERO], table[MASKED]] = [NONE, -Infinity];
  const logs = new Float32Array(count),
    code = codes(bytes, count);
  for (let at = 0, small = 2 * count; at < count; at++) {
    logs[at] = code[at] < SMALL ? table[bytes[small++]] : Math.log(code[at] / TOP);
  }
  return logs;
}

/** A stack and its values in the grid's format of a wall. @param {Stack} stack @param {Uint16Array} values @param
 * {string} id
 * @returns {any} */
export function wallOf(stack, values, id) {
  const measures = Float32Array.from(stack.measures, (number) => number ?? NaN);
  return { ...stack, kind: "wall", id, values, measures, ranges: Float32Array.from(stack.ranges) };
}
