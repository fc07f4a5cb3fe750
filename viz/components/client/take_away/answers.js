// @ts-check
// Numbers that Python has and this view has not: each is asked for once, and the last ones are kept.

const MOST = 8; // a map of 1,024 tokens is about 2 MB

/**
 * @typedef {{answer: any, bytes: Uint8Array | null}} Answer
 * @typedef {{promise: Promise<Answer>, resolve: (answer: Answer) => void}} Asked
 */

export class Answers {
  /** @param {any} model of the widget; that of a file cannot send */
  constructor(model) {
    this.model = model;
    this.canAsk = typeof model.send === "function"; // a file has nobody to ask
    /** @type {Map<string, Asked>} */
    this.requests = new Map(); // the last ones at the end
    /** @param {any} message @param {DataView[]} [buffers] */
    this.hear = (message, buffers) => this.#hear(message, buffers);
    if (this.canAsk) model.on("msg:custom", this.hear);
  }

  close() {
    if (this.canAsk) this.model.off("msg:custom", this.hear);
  }

  /** Ask Python; gives the answer when it has come. @param {any} request @returns {Promise<Answer>} */
  ask(request) {
    const key = JSON.stringify(request),
      before = this.requests.get(key);
    if (before) return before.promise;
    /** @type {(answer: Answer) => void} */
    let resolve = () => {};
    const promise = new Promise((/** @type {(answer: Answer) => void} */ fulfil) => (resolve = fulfil));
    this.requests.set(key, { promise, resolve });
    for (const old of [...this.requests.keys()].slice(0, -MOST)) this.requests.delete(old);
    this.model.send({ request });
    return promise;
  }

  /** @param {any} answer @param {DataView[]} [buffers] */
  #hear(answer, buffers) {
    const [view] = buffers ?? []; // a DataView
    const bytes = view
      ? new Uint8Array(/** @type {any} */ (view.buffer ?? view), view.byteOffset ?? 0, view.byteLength)
      : null;
    this.requests.get(JSON.stringify(answer.request))?.resolve({ answer, bytes });
  }
}
