"""Session ownership: a cookie, set by the guard and hidden from pages, ties a session to its browser.

Streamlit lets anyone with a session's id resume it, even while its user is connected. Here a session is opened with
the owner mark of a cookie, and only a browser with that cookie may resume it or upload files to it.

A browser without cookies (in another site's page, where they are blocked) gets a new mark with every connection, so it
cannot resume its sessions. After a lost connection its page opens again from its link and its text box, as it does at
another replica.
"""

import hashlib
import re
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import Message, Scope

from viz import limits

NAME = "headlight"
HEADER = "x-headlight-visitor"
"""Header with the owner mark for Streamlit; a value that the browser sends is removed."""
VALUE = re.compile(r"[\w-]{43}")


def cookie_of(headers: Headers) -> str:
    """Return the guard's cookie of a request, or "" if it is missing or malformed."""
    value = cookie_parser(headers.get("cookie", "")).get(NAME, "")
    return value if VALUE.fullmatch(value) else ""


def mark_of(headers: Headers) -> str:
    """Return the owner mark of a browser, a hash of its cookie; a random one without a cookie."""
    return hashlib.sha256((cookie_of(headers) or secrets.token_urlsafe()).encode()).hexdigest()


def with_owner(scope: Scope, headers: Headers) -> Scope:
    """Return the scope with the owner header replaced by this browser's mark."""
    raw = MutableHeaders(raw=[*scope["headers"]])
    del raw[HEADER]
    raw[HEADER] = mark_of(headers)
    return {**scope, "headers": raw.raw}


def set_cookie(message: Message, path: str, *, tls: bool = limits.TLS) -> None:
    """Set the owner cookie on a page or on the health answer before a connection.

    It lasts until the browser is closed; scripts cannot read it, and requests from other sites do not carry it. Shared
    caches must not store an answer with a cookie.
    """
    headers = MutableHeaders(raw=message["headers"])
    page = headers.get("content-type", "").startswith("text/html")
    if page or path.endswith("/_stcore/health"):
        secure = "; Secure" if tls else ""
        headers.append("set-cookie", f"{NAME}={secrets.token_urlsafe()}; Path=/; HttpOnly; SameSite=Lax{secure}")
        headers["cache-control"] = "private, no-cache"
        message["headers"] = headers.raw
