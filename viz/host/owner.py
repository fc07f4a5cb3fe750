"""Session ownership: a cookie, set by the guard and hidden from pages, ties a session to its browser.

Streamlit lets whoever says what a session is called go on in it, also while its visitor is there. Here a session is
opened under the mark of a cookie, and only who brings that cookie may go on in it or send files to it.

A browser that keeps no cookies (in another site's page, where they are blocked) has a new mark with every connection:
nobody can go on in its sessions, itself included. After a lost connection its page opens again from its link and its
text box, as it does at another replica.
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
"""Says to Streamlit under which mark a session is opened; what a visitor says there is not passed on."""
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

    It is the browser's until that is closed; scripts cannot read it, and it is not sent where another site asks. No
    cache between here and the browser may keep an answer that has one.
    """
    headers = MutableHeaders(raw=message["headers"])
    page = headers.get("content-type", "").startswith("text/html")
    if page or path.endswith("/_stcore/health"):
        secure = "; Secure" if tls else ""
        headers.append("set-cookie", f"{NAME}={secrets.token_urlsafe()}; Path=/; HttpOnly; SameSite=Lax{secure}")
        headers["cache-control"] = "private, no-cache"
        message["headers"] = headers.raw
