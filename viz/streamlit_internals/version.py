"""Ends a start with another version of Streamlit than those whose private names are known here."""

import os
import re
import sys
from importlib.metadata import version
from threading import current_thread, main_thread

LOWEST, BELOW = (1, 67), (1, 68)
"""The versions that are tested, as requirements.txt has them."""


def version_problem(installed: str) -> str:
    """Say that this version of Streamlit is not supported, and which are; "" if it is."""
    if LOWEST <= tuple(map(int, re.findall(r"\d+", installed)[:2])) < BELOW:
        return ""
    lowest, below = (".".join(map(str, numbers)) for numbers in (LOWEST, BELOW))
    return (
        f"Headlight supports Streamlit from {lowest} to below {below}, and {installed} is installed. "
        "To install a supported version: pip install -r requirements.txt"
    )


def end_start(problem: str) -> None:
    """End the program with a sentence."""
    if current_thread() is not main_thread():  # older ones begin in a user's thread, which is all that SystemExit ends
        sys.stderr.write(f"{problem}\n")
        sys.stderr.flush()
        os._exit(1)
    raise SystemExit(problem)


if problem := version_problem(version("streamlit")):
    end_start(problem)
