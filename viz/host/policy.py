"""Security headers of every answer."""

import base64
import hashlib
import re
from pathlib import Path
from urllib.parse import parse_qs

import streamlit as st
from starlette.types import Scope

from viz import limits
from viz.frame.view.assets import translator_script

OF_PAGES = frozenset((b"permissions-policy", b"cross-origin-opener-policy"))
"""Headers that a browser reads only in a page's answer."""
PARTS = re.compile(r"(?:application|text)/javascript|text/css|font/")
"""Types of a page's parts. A first visit loads a hundred of them, and headers are not compressed."""


def inline_script_hashes() -> list[str]:
    """Return the CSP hashes of our inline script and of those in Streamlit's page."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text("utf8")
    scripts = [translator_script(), *re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page, re.DOTALL)]
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def is_embedded(scope: Scope) -> bool:
    """Return whether a request is for an embedded section."""
    # Of bytes parse_qs takes ASCII alone.
    asked_for = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return asked_for.get("embed", [""])[-1] in ("true", "1")


def headers(frames: tuple[str, ...] = limits.FRAMES, *, tls: bool = limits.TLS) -> list[tuple[bytes, bytes]]:
    """Return the security headers: scripts and requests are limited to this server, and no referrer is sent.

    Addresses hold users' texts. With TLS, browsers must use TLS from then on.

    Styles may be inline: Streamlit, plotly and KaTeX write them into elements.
    """
    policy = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *inline_script_hashes()]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(frames),
    }
    fields = {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "cross-origin-opener-policy": "same-origin",
    }
    if tls:
        fields["strict-transport-security"] = "max-age=31536000"
    return [(name.encode(), value.encode()) for name, value in fields.items()]


def headers_of(kind: str, every: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers that have an effect in an answer of this content type."""
    return [header for header in every if header[0] not in OF_PAGES] if PARTS.match(kind) else every
