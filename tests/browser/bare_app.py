"""Somebody's own app: two grids and a matrix on one page, and what is chosen in them."""

import streamlit as st

import viz.streamlit as hl
from viz.models.load import load


@st.cache_resource
def open_model():
    return load("twin-g2")


model, tokenizer = open_model().model, open_model().tokenizer
for number, text in enumerate(("the cat has the cat", "a dog has a dog and a cat")):
    choice = hl.heads(model, tokenizer, text, key=f"grid{number}")
    st.text(f"picked {number}: {choice.layer} {choice.head} {choice.query}")
st.text(f"cell: {hl.matrix([[0.25, 0.75], [1, 0]], ['a', 'b'], ['a', 'b'], key='matrix')}")
