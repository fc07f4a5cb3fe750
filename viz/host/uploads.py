"""Files that visitors send: counted from their first byte, and let go of when no page shows them any more."""

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
"""Bytes around a file, for its name and kind."""
MultiPartParser.spool_max_size = limits.PICTURE_BYTES + AROUND
"""A file stays in memory, as it does after that: a read-only system has no place for a larger one."""
LONGEST_LENGTH = 20
"""Digits of a Content-Length."""


def session_of(path: str) -> str:
    """Return the session id in an upload's path."""
    return path.partition(PATH)[2].partition("/")[0]


class Uploads:
    """All files, here and on their way.

    Args:
        most: bytes of all.
        most_each: files of one visitor.
    """

    def __init__(self, most: int = limits.UPLOADS_BYTES, most_each: int = limits.UPLOADS_EACH) -> None:
        self.most, self.most_each = most, most_each
        self._coming: list[tuple[str, int]] = []
        self._hidden_since: dict[tuple[str, str], float] = {}

    def refusal(self, session: str, headers: Headers) -> Response | None:
        """Return the refusal of a file, or None if it is accepted."""
        length = headers.get("content-length", "")
        if not length.isdecimal() or len(length) > LONGEST_LENGTH:  # Python reads no number of thousands of digits
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
        """A file is on its way inside the ``with``."""
        file = session, n_bytes
        self._coming.append(file)
        try:
            yield
        finally:
            self._coming.remove(file)

    def tidy(self) -> None:
        """Let go of files whose page is over, and of those no page has shown for a while."""
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
