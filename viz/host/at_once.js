// What a visitor changes is sent at once. Streamlit sends it by a timer of 0 ms, and a browser that has been clicked draws
// its next frame before timers. Here that one timer's work is done as soon as the code that asked for it has ended.
(name) => {
  const later = window.setTimeout;
  window.setTimeout = (work, delay, ...given) =>
    delay === 0 && typeof work === "function" && `${work}`.includes(name)
      ? void queueMicrotask(work)
      : later(work, delay, ...given);
}
