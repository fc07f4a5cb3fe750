"""Title, language and metadata in a page's HTML for search engines, link previews and screen readers."""

import html
import re
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Scope

from viz import ASSETS
from viz.frame.sidebar import tab_title
from viz.text import LANGUAGES, translator

PREVIEW = "preview.png"
"""The picture beside a shared link, 1200 x 630 (``python -m tools.pictures``)."""


async def preview(_: Request) -> Response:
    """Send the preview picture."""
    return FileResponse(ASSETS / "screens" / PREVIEW)


def language_of(scope: Scope, headers: Headers) -> str:
    """Return the page's language: the link's, or the browser's preferred one."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    if (choice := query.get("lang", [""])[-1]) in LANGUAGES:
        return choice
    first = headers.get("accept-language", "").partition(",")[0].strip().lower()
    return "zh" if first.startswith("zh") else "en"


def site_of(scope: Scope, headers: Headers) -> str:
    """Return scheme and host as the user's browser sees them."""
    scheme = headers.get("x-forwarded-proto", scope.get("scheme", "http")).split(",")[0].strip()
    return f"{'https' if scheme == 'https' else 'http'}://{headers.get('host', '')}"


def with_head(page: str, *, name: str, path: str, lang: str, site: str) -> str:
    """Return Streamlit's page with the title, language, description, address and picture of a page."""
    t = translator(lang)
    title, about = tab_title(t, name), t(f"{name}.lead")
    address = f"{site}/{path}"
    properties = {
        "og:type": "website", "og:site_name": "Headlight", "og:title": title, "og:description": about,
        "og:url": address, "og:image": f"{site}/{PREVIEW}", "og:image:width": "1200", "og:image:height": "630",
        "og:locale": {"en": "en_US", "zh": "zh_CN"}[lang],
    }  # fmt: skip
    lines = [
        f'<meta name="description" content="{html.escape(about)}">',
        f'<link rel="canonical" href="{html.escape(address)}">',
        *(f'<link rel="alternate" hreflang="{code}" href="{html.escape(address)}?lang={code}">' for code in LANGUAGES),
        *(f'<meta property="{key}" content="{html.escape(value)}">' for key, value in properties.items()),
        '<meta name="twitter:card" content="summary_large_image">',
    ]
    page = page.replace('<html lang="en">', f'<html lang="{lang}">', 1)
    page = re.sub(r"<title>[^<]*</title>", lambda _: f"<title>{html.escape(title)}</title>", page, count=1)
    return page.replace("  </head>", "".join(f"    {line}\n" for line in lines) + "  </head>", 1)
