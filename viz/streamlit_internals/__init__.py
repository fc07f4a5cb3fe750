"""All private names of Streamlit's that a public server uses for its safety; ``required.py`` lists them.

A local server uses none.
"""

import viz.streamlit_internals.version  # noqa: F401 - before any private name is imported
