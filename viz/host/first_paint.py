"""What the page that a browser is sent first has beside Streamlit's own: the app's style, and where the server is.

Streamlit brings the style with the first run, and its sidebar after an empty page: both would push what is there aside.
"""

import re

from viz import ASSETS

FRAME = """
@media (min-width: 768px) { :where(.stApp:not(:has(.stSidebar))) .stAppViewContainer { padding-left: 300px; } }
.stSidebar:not(:has([data-testid="stSidebarNavItems"])) [data-testid="stSidebarUserContent"] { visibility: hidden; }
"""
"""The sidebar's place before it is there, and what stands below the pages hidden until they are. A page that will have
none gives the place back (present.css, notes.css, paper.css)."""

CONNECT = """window.__streamlit = {
  BACKEND_BASE_URL: new URL(".", location.href).href,
  HOST_CONFIG: { allowedOrigins: [location.origin], useExternalAuthToken: false },
};"""
"""Told where the server is, and that no other site's page may direct it, Streamlit's page connects at once. Left to
itself it asks for both before, and on every page but the first it asks in a wrong place before that."""


def style(*, embedded: bool) -> str:
    """The element. It stands in the body: behind Streamlit's rules, made in the head, before those of a run's pages."""
    rules = re.sub(r"/\*.*?\*/", "", (ASSETS / "style.css").read_text("utf8"), flags=re.DOTALL)
    return f"<style>{rules}{'' if embedded else FRAME}</style>"
