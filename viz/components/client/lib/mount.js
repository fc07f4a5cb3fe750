// @ts-check
// Streamlit calls a component's module again with every change of its data, and keeps its element meanwhile: so the
// view of an element is made once, is handed each change, and is closed when its place on the page goes.

/**
 * @template Data
 * @param {(parent: HTMLElement, data: Data) => {receive: (data: Data, setStateValue: Function) => void, close: () => void}} make
 * @param {(sent: any) => Data} read what is sent, as the view takes it: unpacked bytes, or what JSON holds as it is
 */
export function mount(make, read = (sent) => sent) {
  const views = new WeakMap();
  return (
    /** @type {{data: any, parentElement: HTMLElement, setStateValue: Function}} */ {
      data,
      parentElement,
      setStateValue,
    },
  ) => {
    const received = read(data),
      view = views.get(parentElement) ?? make(parentElement, received);
    if (!views.has(parentElement)) {
      views.set(parentElement, view);
      Object.assign(parentElement, { view }); // where the menu of pictures finds it (frame/figures.js)
      parentElement.dispatchEvent(new Event("headlight-view", { bubbles: true, composed: true }));
    }
    view.receive(received, setStateValue);
    return () => {
      view.close();
      views.delete(parentElement);
    };
  };
}
