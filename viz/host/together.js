// What a run tells comes as dozens of messages. Streamlit handles each as it comes, and goes through its whole page for
// the first, to mark it as out of date, before the next: here those that come together are handed on together. Those of
// a visit's first run are not kept: there is nothing yet that could be out of date, and the page grows as they come.
(ends, gap, longest) => {
  const isEnd = (message) => {
    const parts = new Uint8Array(message);
    return parts.length < 128 && ends.some((end) => end.every((part, i) => parts.at(i - end.length) === part));
  };
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      const waiting = [];
      let isFirstRun = true, isHandingOn = false, since = 0, timer = 0;
      const handOn = () => {
        clearTimeout(timer);
        isHandingOn = true;
        for (const data of waiting.splice(0)) this.dispatchEvent(new MessageEvent("message", { data }));
        isHandingOn = false;
      };
      this.addEventListener("message", (event) => {
        if (isHandingOn) return;
        if (isFirstRun) return void (isFirstRun = !isEnd(event.data));
        event.stopImmediatePropagation();
        if (!waiting.length) since = event.timeStamp;
        waiting.push(event.data);
        clearTimeout(timer);
        if (event.timeStamp - since > longest) handOn();
        else timer = setTimeout(handOn, isEnd(event.data) ? 0 : gap);
      });
      this.addEventListener("close", handOn);
    }
  };
}
