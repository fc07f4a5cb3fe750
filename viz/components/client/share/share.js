// Sharing the current view: its address to copy, a code for phones (made when it is asked for), and a few lines of HTML
// that show the open section in somebody else's page, without the controls that are named; showing it to a class; and
// having it as a step of a lesson of one's own, which the browser keeps.

import { clickable, element, fill } from "../lib/dom.js";
import { View, mount } from "../lib/view.js";
import { drawCode } from "../lib/qr.js";
import { add } from "../lesson/store.js";
import { snippet } from "./snippet.js";

export default mount((parent) => new Share(parent));

class Share extends View {
  constructor(parent) {
    super(parent, "share");
    this.status = element("p", "said", { role: "status" });
    this.theme = "";
    this.without = new Set();
    this.keepKeys("Escape");
  }

  receive(data) {
    const before = this.data;
    this.data = data;
    if (before?.address !== data.address || before?.words !== data.words || before?.code !== data.code) this.#draw();
  }

  #draw() {
    const { words, address, code, local } = this.data;
    this.status.textContent = "";
    const parts = [this.#copyField("link", words.link, address, local && words.local)];
    const camera = element("details");
    camera.append(element("summary", "", {}, words.code));
    if (code) {
      camera.open = true;
      camera.append(code.length ? drawCode(code, words.code_alt) : element("p", "note", {}, words.too_long));
    }
    camera.addEventListener("toggle", () => camera.open && !code && this.send("code", address));
    const show = element("a", "present", { href: this.data.present, target: "_self" }, words.present);
    const paper = element("div", "row");
    for (const [print, label] of [
      ["1", words.print],
      ["answers", words.print_answers],
    ]) {
      const link = new URL(address);
      link.searchParams.set("print", print);
      paper.append(element("a", "present", { href: link.href, target: "_blank" }, label));
    }
    parts.push(camera, this.#embed(), show, paper, ...this.#lesson(), this.status);
    this.root.replaceChildren(...parts);
  }

  /** A labelled field with a button that copies its text. */
  #copyField(name, label, text, note = "") {
    const box = element("div", `given ${name}`),
      caption = element("label", "", {}, label),
      row = element("div", "row");
    const field = element(name === "link" ? "input" : "textarea", "", { readonly: "", rows: "4", spellcheck: "false" });
    field.value = text;
    field.addEventListener("focus", () => field.select());
    caption.append(field);
    row.append(
      caption,
      clickable("", this.data.words.copy, () => this.#copy(field)),
    );
    box.append(row, ...(note ? [element("p", "note", {}, note)] : []));
    return box;
  }

  async #copy(field) {
    const { words } = this.data;
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      // no clipboard outside TLS: what is selected can be copied by hand, if the browser does not do it
      field.select();
      if (!document.execCommand("copy")) {
        this.status.textContent = words.by_hand;
        return;
      }
    }
    this.status.textContent = words.copied;
  }

  /** The button that adds the current view as a step to the user's lesson. */
  #lesson() {
    const { words, step, most_steps: most, lessons } = this.data,
      row = element("div", "row");
    if (!step) return [];
    const mine = element("a", "present", { href: lessons, target: "_self" }, words.my_lesson);
    const button = clickable("add", words.add, () => {
      const number = add(step, most);
      this.status.textContent = number ? fill(words.added, { n: number }) : fill(words.full, { most });
    });
    row.append(button, mine);
    return [row];
  }

  #embed() {
    const { words, controls } = this.data,
      details = element("details", "embed"),
      choices = element("div", "choices");
    details.append(element("summary", "", {}, words.embed), element("p", "note", {}, words.embed_note), choices);
    const theme = element("select", "", { "aria-label": words.theme });
    for (const code of ["", "light", "dark"])
      theme.append(element("option", "", { value: code }, words[`theme_${code || "own"}`]));
    theme.value = this.theme;
    theme.addEventListener("change", () => {
      this.theme = theme.value;
      write();
    });
    const look = element("label", "", {}, `${words.theme} `);
    look.append(theme);
    choices.append(look, element("span", "", {}, words.without));
    for (const [code, label] of controls) {
      const option = element("label"),
        box = element("input", "", { type: "checkbox", value: code });
      box.checked = this.without.has(code);
      box.addEventListener("change", () => {
        if (box.checked) this.without.add(code);
        else this.without.delete(code);
        write();
      });
      option.append(box, element("span", "", {}, label));
      choices.append(option);
    }
    const embedField = this.#copyField("html", words.html, "");
    details.append(embedField);
    const write = () => {
      embedField.querySelector("textarea").value = snippet(this.data.embed, {
        theme: this.theme,
        without: [...this.without],
        title: this.data.title,
      });
    };
    write();
    return details;
  }
}
