// Heads that look at a place, live: on a sequence (sequence_heads.js) or on a picture (picture_heads.js).

import { unpack } from "./bytes.js";
import { PictureHeads } from "./picture_heads.js";
import { SequenceHeads } from "./sequence_heads.js";

const KINDS = { sequence: SequenceHeads, picture: PictureHeads }, views = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const received = unpack(data), view = views.get(parentElement) ?? new KINDS[received.kind](parentElement);
  views.set(parentElement, view);
  view.receive(received, setStateValue);
  return () => {
    view.close();
    views.delete(parentElement);
  };
}
