"""Startup check of Streamlit's version: refuses older ones, warns of untested newer ones."""

import os
import re
import sys
from importlib.metadata import version
from threading import current_thread, main_thread

LOWEST, HIGHEST = (1, 65), (1, 67)
"""The versions on which the smoke test passes; with 1.64 Back and Forward ask for no run."""


def numbers_of(installed: str) -> tuple[int, ...]:
    """Return a version's first two numbers."""
    return tuple(map(int, re.findall(r"\d+", installed)[:2]))


def version_problem(installed: str) -> str:
    """Return a message if this version of Streamlit is too old; "" if it is not."""
    if numbers_of(installed) >= LOWEST:
        return ""
    lowest = ".".join(map(str, LOWEST))
    return (
        f"Headlight needs Streamlit {lowest} or later, and {installed} is installed. "
        "To install a supported version: pip install -r requirements.txt"
    )


def version_notice(installed: str) -> str:
    """Return a notice if the app was not tested with this version of Streamlit; "" if it was."""
    if numbers_of(installed) <= HIGHEST:
        return ""
    highest = ".".join(map(str, HIGHEST))
    return f"Headlight is tested with Streamlit up to {highest}, and {installed} is installed."


def end_start(problem: str) -> None:
    """End the program with a message."""
    # Older versions begin in a user's thread, and SystemExit ends that thread alone.
    if current_thread() is not main_thread():
        sys.stderr.write(f"{problem}\n")
        sys.stderr.flush()
        os._exit(1)
    raise SystemExit(problem)


if problem := version_problem(version("streamlit")):
    end_start(problem)
if notice := version_notice(version("streamlit")):
    sys.stderr.write(f"{notice}\n")
