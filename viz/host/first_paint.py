"""What the page that a browser is sent first has beside Streamlit's own: the app's style, and where the server is.

Streamlit brings the style with the first run, and its sidebar after an empty page: both would push what is there aside.
"""

import json
import re
from pathlib import Path

from viz import ASSETS
from viz.streamlit_internals.static import SENDS

FRAME = """
@media (min-width: 768px) { :where(.stApp:not(:has(.stSidebar))) .stAppViewContainer { padding-left: 300px; } }
.stSidebar:not(:has([data-testid="stSidebarNavItems"])) [data-testid="stSidebarUserContent"] { visibility: hidden; }
"""
"""The sidebar's place before it is there, and what stands below the pages hidden until they are. A page that will have
none gives the place back (present.css, notes.css, paper.css). It is in an element of its own, which is taken away when
the sidebar is there (frame/document.js): with a rule of this kind, whatever has a test id is styled anew at each click.
"""

_HERE = Path(__file__).parent
AT_ONCE = f"({(_HERE / 'at_once.js').read_text('utf8')})({json.dumps(SENDS)});"
"""Has the browser send what a visitor changes before it draws."""
COME = f"({(_HERE / 'come.js').read_text('utf8')})();"
"""Has a view whose code is there drawn as soon as its place is."""

CONNECT = f"""window.__streamlit = {{
  BACKEND_BASE_URL: new URL(".", location.href).href,
  HOST_CONFIG: {{ allowedOrigins: [location.origin], useExternalAuthToken: false }},
}};
{AT_ONCE}
{COME}"""
"""Told where the server is, and that no other site's page may direct it, Streamlit's page connects at once. Left to
itself it asks for both before, and on every page but the first it asks in a wrong place before that."""


def style(*, embedded: bool) -> str:
    """The elements. They stand in the body: behind Streamlit's rules, which are in the head, before those of a page."""
    rules = re.sub(r"/\*.*?\*/", "", (ASSETS / "style.css").read_text("utf8"), flags=re.DOTALL)
    return f"<style>{rules}</style>" + ("" if embedded else f'<style id="frame">{FRAME}</style>')
