"""Every name of Streamlit's that is not public, in one place: what to look at when its version changes.

``required.py`` lists those that the safety of a public server hangs on; the others are optional (``optional.py``).
"""

import viz.streamlit_internals.version  # noqa: F401 - before any private name is imported
