"""As many of Streamlit's own elements as the page Heads has, and no picture: a script without anything of Headlight's.

``python -m bench controls_alone`` chooses its two pages in turn: none of ours is there before its own controls.
"""

from functools import partial

import streamlit as st

GROUPS = {"Read": 3, "See": 4, "Build": 4, "Share": 4, "About": 3}
PAGES = "Controls", "More controls"


def page(name: str) -> None:
    """Draw what stands on Heads, with texts of about the same length."""
    st.title(name, anchor=False)
    st.html(f"<div><p>{name}: what each of them does, in a sentence of some length.</p></div>")
    with st.container(horizontal=True):
        st.text_area("Text", "The animal didn't cross the street because it was too tired.", key="text")
        st.selectbox("Examples", ["one", "another", "a third"], key="example")
    with st.container(horizontal=True):
        for at in range(6):
            with st.popover(f"choice {at} of {name}"):
                st.text("what can be chosen")
    sections = [f"Section {at} of {name}" for at in range(7)]
    st.segmented_control("Sections", sections, default=sections[0], key="section", label_visibility="collapsed")
    with st.container(key=f"section_{name}"):
        st.header(sections[0], anchor=False)
        st.html(f"<div><p>{name}: what is to be seen in it, in a sentence of some length.</p></div>")
        st.html(f"<p>{name}: what was found.</p>")
        with st.container(horizontal=True):
            for at in range(4):
                st.button(f"Try sentence {at} of {name}", type="tertiary")
        st.pills("Below", ["Checked", "Code", "Download"], key=f"footer_{name}", label_visibility="collapsed")
    with st.container(horizontal=True):
        for linked_page, title in zip(all_pages[:2], PAGES, strict=True):
            st.page_link(linked_page, label=f"{title}, seen from {name}")


names = iter([*PAGES, *(f"Page {at}" for at in range(sum(GROUPS.values()) - len(PAGES)))])
groups = {
    group: [
        st.Page(partial(page, name), title=name, url_path=name.lower().replace(" ", "-"))
        for _, name in zip(range(n), names, strict=False)
    ]
    for group, n in GROUPS.items()
}
all_pages = [entry for pages in groups.values() for entry in pages]
st.navigation(groups, expanded=True).run()
