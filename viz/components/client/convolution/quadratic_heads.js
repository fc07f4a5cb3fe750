// @ts-check
// Heads that look at a place, live: on a sequence (sequence_heads.js) or on a picture (picture_heads.js).

import { mount } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { PictureHeads } from "./picture_heads.js";
import { SequenceHeads } from "./sequence_heads.js";

const KINDS = { sequence: SequenceHeads, picture: PictureHeads };

export default mount((parent, props) => new KINDS[/** @type {keyof typeof KINDS} */ (props.kind)](parent), unpack);
