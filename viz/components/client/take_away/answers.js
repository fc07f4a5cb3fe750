// Numbers that Python has and this view has not: each is asked for once, and the last ones are kept.

const MOST = 8; // a map of 1,024 tokens is about 2 MB

export class Answers {
  constructor(model) {
    this.model = model;
    this.canAsk = typeof model.send === "function"; // a file has nobody to ask
    this.asked = new Map(); // the last ones at the end
    this.hear = (message, buffers) => this.#hear(message, buffers);
    if (this.canAsk) model.on("msg:custom", this.hear);
  }

  close() {
    if (this.canAsk) this.model.off("msg:custom", this.hear);
  }

  /** Ask Python; gives {answer, bytes} when it has answered. */
  ask(request) {
    const key = JSON.stringify(request);
    if (!this.asked.has(key)) {
      let resolve;
      const promise = new Promise((done) => (resolve = done));
      this.asked.set(key, { promise, resolve });
      for (const old of [...this.asked.keys()].slice(0, -MOST)) this.asked.delete(old);
      this.model.send({ request });
    }
    return this.asked.get(key).promise;
  }

  #hear(answer, buffers) {
    const [sent] = buffers ?? []; // a DataView
    const bytes = sent ? new Uint8Array(sent.buffer ?? sent, sent.byteOffset ?? 0, sent.byteLength) : null;
    this.asked.get(JSON.stringify(answer.request))?.resolve({ answer, bytes });
  }
}
