"""Files of ``assets/`` that stand on every page, read once: a run that opens files waits for each of them."""

from functools import cache

from viz import ASSETS


@cache
def picture(name: str) -> bytes:
    """A picture's file."""
    return (ASSETS / name).read_bytes()


@cache
def style(name: str) -> str:
    """A style sheet as what ``st.html`` takes: in one line, since Streamlit looks at every line in every run."""
    lines = (ASSETS / name).read_text("utf8").splitlines()
    return f"<style>{' '.join(line.strip() for line in lines)}</style>"
