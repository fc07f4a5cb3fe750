"""Limits of uploaded files, which count from their first byte and are deleted when no page shows them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from starlette.responses import PlainTextResponse, Response

from viz import limits
from viz.streamlit_internals.hosted import files_shown, forget_file, uploaded_files

PATH = "/_stcore/upload_file/"
AROUND = 10_000
"""Bytes of the multipart headers around a file."""
MultiPartParser.spool_max_size = limits.PICTURE_BYTES + AROUND
"""Streamlit holds files in memory; a spool file on disk would fail on a read-only system."""
LONGEST_LENGTH = 20
"""Digits of a Content-Length."""


def session_of(path: str) -> str:
    """Return the session id in an upload's path."""
    return path.partition(PATH)[2].partition("/")[0]


class Uploads:
    """All uploaded files, complete and in progress: so many bytes of all, and so many files of one user at most."""

    def __init__(self, most: int = limits.UPLOADS_BYTES, most_each: int = limits.UPLOADS_EACH) -> None:
        self.most, self.most_each = most, most_each
        self._coming: list[tuple[str, int]] = []
        self._hidden_since: dict[tuple[str, str], float] = {}

    def refusal(self, session: str, headers: Headers) -> Response | None:
        """Return the refusal of a file, or None if it is accepted."""
        length = headers.get("content-length", "")
        # int() refuses thousands of digits.
        if not length.isdecimal() or len(length) > LONGEST_LENGTH:
            return PlainTextResponse("How long is it?", 411)
        if int(length) > limits.PICTURE_BYTES + AROUND:
            return PlainTextResponse("Too large.", 413)
        if files_shown(session) is None:
            return PlainTextResponse("Your page has no place for a file.", 403)
        files_by_session = uploaded_files()
        if (
            len(files_by_session.get(session, ())) + sum(whose == session for whose, _ in self._coming)
            >= self.most_each
        ):
            return PlainTextResponse("Too many files.", 413)
        coming = sum(size for _, size in self._coming) + int(length)
        if coming + sum(sum(files.values()) for files in files_by_session.values()) > self.most:
            return PlainTextResponse("Too many files of all visitors.", 503, {"retry-after": "60"})
        return None

    @contextmanager
    def coming(self, session: str, n_bytes: int) -> Iterator[None]:
        """Count an upload in progress inside the ``with``."""
        file = session, n_bytes
        self._coming.append(file)
        try:
            yield
        finally:
            self._coming.remove(file)

    def tidy(self) -> None:
        """Delete files whose session has ended, and those that no page has shown for ``UPLOAD_SECONDS``."""
        now, hidden_since = time.monotonic(), dict[tuple[str, str], float]()
        for session, files in uploaded_files().items():
            visible = files_shown(session)
            for file in files.keys() - (visible or set()):
                since = self._hidden_since.get((session, file), now)
                if visible is None or now - since > limits.UPLOAD_SECONDS:
                    forget_file(session, file)
                else:
                    hidden_since[session, file] = since
        self._hidden_since = hidden_since
