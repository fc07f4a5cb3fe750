// @ts-check
// Takes apart what viz/components/head_grid.py packs: u32 length, JSON header, blocks of numbers, all padded to 4
// bytes.

const ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array };

/**
 * @param {Uint8Array} bytes
 * @returns {any} the header, and in it each block by its name
 */
export function unpack(bytes) {
  const buffer = bytes.slice().buffer; // a copy of its own: the message it came in is not aligned
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  for (const [name, type, count] of header.blocks) {
    header[name] = new ARRAYS[/** @type {keyof typeof ARRAYS} */ (type)](buffer, at, count);
    at += (header[name].byteLength + 3) & ~3;
  }
  return header;
}
