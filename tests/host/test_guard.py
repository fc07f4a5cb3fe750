"""The guard's refusals, tested without a server."""

import asyncio
import base64
import hashlib
import re
import threading

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from tests import SAFETY_NET
from tests.coroutines import finish
from viz import limits
from viz.frame.connection import loading
from viz.host import guard, message_filter, session_cookie, uploads
from viz.host import readiness as told
from viz.host.address import address_of
from viz.host.files import styled_page
from viz.host.guard import Guard
from viz.host.metrics import Metrics
from viz.host.policy import headers, headers_of
from viz.host.readiness import Readiness
from viz.host.sockets import Sockets

HOST = {"host": "demo.example.org"}
END = {"type": "websocket.disconnect"}
SAME_ORIGIN = HOST | {"origin": "https://demo.example.org"}


def inside(calls):
    """Stands for Streamlit: says yes to everything, and reads a socket until it is closed."""

    async def app(scope, receive, send):
        calls.append(scope["path"])
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"inside"})
            return
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] != "websocket.disconnect":
            calls.append(message["bytes"])

    return app


class Door:
    """A guard before an empty application."""

    def __init__(self, **options):
        self.requests, self.sockets = [], options.pop("sockets", Sockets())
        self.readiness = Readiness(self.sockets)
        self.readiness.can_open.set()
        self.guard = Guard(inside(self.requests), self.sockets, self.readiness, **options)

    async def knock(self, kind, path, headers, messages=(), **scope):
        answers, waiting = [], asyncio.Queue()
        for message in messages:
            waiting.put_nowait(message)

        async def send(message):
            answers.append(message)

        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": kind, "path": path, "headers": raw, "client": ("203.0.113.7", 1), **scope}
        await asyncio.wait_for(self.guard(scope, waiting.get, send), SAFETY_NET)
        return answers

    def ask(self, path, method="GET", headers=HOST):
        return finish(self.knock("http", path, headers, method=method))[0]

    def open(self, headers=SAME_ORIGIN, messages=(END,), **scope):
        return finish(self.knock("websocket", "/_stcore/stream", headers, messages, **scope))


@pytest.fixture
def door():
    return Door()


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://demo.example.org.evil.example", "null", "https://[", "demo.example.org"]
)
def test_guard_refuses_other_sites(door, origin):
    """Streamlit itself would ask the internet who this machine is, and everybody would wait (PLATFORM of 1.67)."""
    connect = {"type": "websocket.connect"}
    assert door.open(HOST | {"origin": origin}, (connect,)) == [{"type": "websocket.close", "code": 1008}]
    assert door.ask("/_stcore/upload_file/a/b", "PUT", HOST | {"origin": origin})["status"] == 403
    assert door.requests == []


def test_same_origin_and_scripts_connect(door):
    assert door.open(SAME_ORIGIN)[0]["type"] == "websocket.accept"
    assert door.open(HOST)[0]["type"] == "websocket.accept"


@pytest.mark.parametrize(
    ("origin", "extra_headers", "scheme", "expected"),
    [
        ("https", {}, "wss", True),
        ("http", {}, "ws", True),
        ("http", {}, "wss", False),  # a page without TLS may have been modified
        ("http", {"x-forwarded-proto": "https"}, "ws", False),
        ("http", {"x-forwarded-proto": "https, http"}, "ws", False),
        ("https", {"x-forwarded-proto": "https"}, "ws", True),
        ("https", {}, "ws", True),  # TLS ends before a proxy that does not say so
        ("chrome-extension", {}, "ws", False),
    ],
)
def test_page_without_tls_is_foreign(door, origin, extra_headers, scheme, expected):
    headers = HOST | {"origin": f"{origin}://demo.example.org"} | extra_headers
    answers = door.open(headers, (END,) if expected else ({"type": "websocket.connect"},), scheme=scheme)
    assert (answers[0]["type"] == "websocket.accept") is expected


def test_a_request_ends_where_it_says(door):
    both = HOST | {"content-length": "5", "transfer-encoding": "chunked"}
    answer = door.ask("/", headers=both)
    assert answer["status"] == 400 and (b"connection", b"close") in answer["headers"]
    assert door.requests == []


def test_head_in_one_piece_is_bounded(door):
    """h11 limits a head that arrives in parts; one that arrives at once passes at any size."""
    long = "a" * limits.HEAD_BYTES
    assert door.ask("/", headers=HOST | {"cookie": long})["status"] == 431
    assert finish(door.knock("http", "/", HOST, method="GET", query_string=long.encode()))[0]["status"] == 431
    connect = ({"type": "websocket.connect"},)
    assert door.open(SAME_ORIGIN | {"cookie": long}, connect) == [{"type": "websocket.close", "code": 1008}]
    assert door.requests == [] and door.readiness.refusals["head"] == 3
    assert door.ask("/", headers=HOST | {"cookie": long[:-100]})["status"] == 200


@pytest.mark.parametrize("name", ["a\nb", "\ud800", "\x00", "a b", "%", "词"])
def test_strange_names_below_core_are_hidden(door, name):
    """Streamlit logs what it did not find there."""
    for path in ("/_stcore/bidi-components/headlight.maps/", "/masks/_stcore/upload_file/"):
        assert door.ask(path + name)["status"] == 404
    assert door.requests == []


def test_unknown_path_is_404():
    door = Door(pages=("masks", "step_by_step"))
    for path in ("/.env", "/robots.txt", "/wp-login.php", "/nothing", "/masks/.env", "/masksx", "/static.", "/media"):
        assert door.ask(path)["status"] == 404, path
    for path in ("/", "/masks", "/masks/", "/step-by-step", "/static/js/a.js", "/media/x.png", "/favicon.png"):
        assert door.ask(path)["status"] == 200, path
    for path in ("/manifest.json", "/index.html", "/healthz", "/metrics", "/_stcore/health", "/masks/_stcore/health"):
        assert door.ask(path)["status"] == 200, path


def test_other_host_name_is_refused():
    door = Door(hosts=("demo.example.org",))
    assert door.ask("/")["status"] == 200
    wrong_host = {"host": "127.0.0.1:8501"}
    assert door.ask("/", headers=wrong_host)["status"] == 421
    assert (
        door.open(wrong_host | {"origin": "http://127.0.0.1:8501"}, ({"type": "websocket.connect"},))[0]["code"] == 1008
    )
    for path in ("/healthz", "/metrics"):
        assert door.ask(path, headers=wrong_host)["status"] == 200, "who watches the server asks by number"


@pytest.mark.parametrize("before", ["", "/some/path"])
def test_internal_routes_are_hidden(door, monkeypatch, before):
    for path in ("/_stcore/metrics", "/_stcore/script-health-check", "/_stcore/agent/interact", "/_stcore/new-in-1.68"):
        assert door.ask(before + path)["status"] == 404, path
    for path in ("/auth/login", "/oauth2callback", "/component/x/index.html"):
        assert door.ask(path)["status"] == 404, path
    for path in ("/_stcore/health", "/_stcore/host-config", "/_stcore/bidi-components/headlight.maps/maps.js"):
        assert door.ask(before + path)["status"] == 200, path
    monkeypatch.setattr(limits, "METRICS_TOKEN", "open sesame")
    bearer = HOST | {"authorization": "Bearer open sesame"}
    assert door.ask(before + "/_stcore/metrics", headers=bearer)["status"] == 404, "the metrics are at /metrics"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_is_sent_but_files(door, method):
    assert door.ask("/", method)["status"] == 405
    assert door.ask("/media/x", method)["status"] == 405


UPLOADS = "/_stcore/upload_file/"


@pytest.fixture
def files(monkeypatch):
    """Uploaded files by session; the page of session "nobody" has no file box."""
    storage = {"full": dict.fromkeys("abcd", 1_000), "new": {}}
    monkeypatch.setattr(uploads, "uploaded_files", lambda: storage)
    monkeypatch.setattr(uploads, "files_shown", lambda session: {"a", "z"} if session in storage else None)
    monkeypatch.setattr(uploads, "forget_file", lambda session, file: storage[session].pop(file))
    return storage


def sized(n_bytes):
    return SAME_ORIGIN | {"content-length": str(n_bytes)}


def test_files_of_user_are_limited(door, files):
    assert len(files["full"]) == limits.UPLOADS_EACH
    assert door.ask(f"{UPLOADS}full/e", "PUT", sized(10))["status"] == 413
    assert door.ask(f"{UPLOADS}full/a", "DELETE", SAME_ORIGIN)["status"] == 200
    assert door.ask(f"{UPLOADS}new/a", "PUT", sized(10))["status"] == 200


def test_upload_length_is_checked(door, files):
    assert door.ask(f"{UPLOADS}new/a", "PUT", SAME_ORIGIN)["status"] == 411
    assert door.ask(f"{UPLOADS}new/a", "PUT", SAME_ORIGIN | {"content-length": "-1"})["status"] == 411
    assert door.ask(f"{UPLOADS}new/a", "PUT", sized(limits.PICTURE_BYTES))["status"] == 200
    assert door.ask(f"{UPLOADS}new/a", "PUT", sized(limits.PICTURE_BYTES + 100_000))["status"] == 413


def test_upload_needs_an_uploader(door, files):
    assert door.ask(f"{UPLOADS}nobody/a", "PUT", sized(10))["status"] == 403
    assert door.requests == []


def test_uploads_in_progress_count(files, monkeypatch):
    """Two hundred that begin at once would all find room otherwise."""
    door, answers = Door(), []
    door.guard.uploads = uploads.Uploads(most=10_000 + 4_000)

    async def send_all(n, session):
        go = asyncio.Event()

        async def slowly(scope, receive, send):
            await go.wait()
            await guard.PlainTextResponse("")(scope, receive, send)

        door.guard.app = slowly
        tasks = [
            asyncio.create_task(door.knock("http", f"{UPLOADS}{session(i)}/{i}", sized(1_000), method="PUT"))
            for i in range(n)
        ]
        await asyncio.sleep(0.05)
        go.set()
        answers[:] = [(await task)[0]["status"] for task in tasks]

    finish(send_all(200, lambda _: "new"))
    assert answers.count(200) == limits.UPLOADS_EACH and answers.count(413) == 200 - limits.UPLOADS_EACH
    files |= {str(i): {} for i in range(20)}
    finish(send_all(20, str))
    assert (answers.count(200), answers.count(503)) == (10, 10), "4 kB are here, and 10 kB more are room for"
    finish(send_all(1, str))
    assert answers == [200], "those are no longer on their way"


def test_slow_upload_times_out(door, files, monkeypatch):
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)

    async def reads(scope, receive, send):
        await receive()

    door.guard.app = reads
    answer = door.ask(f"{UPLOADS}new/a", "PUT", sized(1_000))
    assert answer["status"] == 408 and (b"connection", b"close") in answer["headers"]
    assert door.guard.uploads._coming == []


def test_unused_uploads_are_deleted(files, monkeypatch):
    now = 1_000.0
    monkeypatch.setattr(uploads.time, "monotonic", lambda: now)
    all_uploads = uploads.Uploads()
    files["nobody"] = {"x": 1}
    monkeypatch.setattr(uploads, "files_shown", lambda session: None if session == "nobody" else {"a", "z"})
    all_uploads.tidy()
    assert files == {"full": dict.fromkeys("abcd", 1_000), "new": {}, "nobody": {}}, "the page was left"
    now += limits.UPLOAD_SECONDS + 1
    all_uploads.tidy()
    assert files["full"] == {"a": 1_000}, "a new picture took the place of the others"


def as_message(message):
    return {"type": "websocket.receive", "bytes": message}


def rerun(text=""):
    return BackMsg(rerun_script=ClientState(query_string=text)).SerializeToString()


def test_oversized_message_is_refused(door, monkeypatch):
    monkeypatch.setattr(limits, "MESSAGE_BYTES", len(rerun("1234567")))
    answers = door.open(messages=(as_message(rerun("1234567")), as_message(rerun("12345678")), as_message(rerun())))
    assert answers[-1] == {"type": "websocket.close", "code": 1009}
    assert door.requests == ["/_stcore/stream", rerun("1234567")]


def test_malformed_message_ends_connection(door):
    text = {"type": "websocket.receive", "text": "hello", "bytes": None}
    assert door.open(messages=(text,))[-1] == {"type": "websocket.close", "code": 1003}
    for malformed in (b"", b"\xff\xff"):
        assert door.open(messages=(as_message(malformed),))[-1] == {"type": "websocket.close", "code": 1002}


def test_invalid_names_end_connection(door):
    """Streamlit writes some of these into its log."""
    widget, long = f"$$ID-{'0' * 32}-text", "x" * 5_000
    fine = ClientState(page_script_hash="0" * 32, fragment_id="1" * 32)
    fine.widget_states.widgets.add(id=widget, string_value="any text, \x00 too")
    wrong = [ClientState(page_script_hash=long), ClientState(fragment_id="a text\n"), ClientState(fragment_id=long)]
    for name in ("", "text", "$$ID", f"$$ID-{long}-a", f"{widget}\n"):
        wrong.append(ClientState())
        wrong[-1].widget_states.widgets.add(id=name, string_value="a")
    files = [f"{n}.png" for n in range(limits.UPLOADS_EACH + 1)]
    messages = [
        *(BackMsg(rerun_script=state) for state in wrong),
        BackMsg(file_urls_request={"request_id": "a", "file_names": files}),
        BackMsg(backend_operation_request={"request_id": "a\nb", "deferred_file": {}}),
    ]
    for message in messages:
        assert door.open(messages=(as_message(message.SerializeToString()),))[-1]["code"] == 1002, message
    door.requests.clear()
    also = BackMsg(file_urls_request={"request_id": "a-1", "file_names": files[1:]})
    door.open(
        messages=(as_message(BackMsg(rerun_script=fine).SerializeToString()), as_message(also.SerializeToString()), END)
    )
    assert len(door.requests) == 3
    assert door.readiness.refusals == {"message 1002": len(messages)}


def test_clear_cache_message_is_dropped(door):
    orders = [BackMsg(clear_cache=True), BackMsg(set_run_on_save=True), BackMsg(debug_shutdown_runtime=True)]
    orders.append(BackMsg(backend_operation_request={"request_id": "a", "install_skills": {}}))
    door.open(messages=(*(as_message(order.SerializeToString()) for order in orders), as_message(rerun()), END))
    assert door.requests == ["/_stcore/stream", rerun()]


def test_fast_messages_are_delayed(door, monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(message_filter.asyncio, "sleep", sleep)
    monkeypatch.setattr(
        limits, "MESSAGES_A_SECOND", 0.001
    )  # the bucket does not fill meanwhile, however slow the machine
    messages = [as_message(rerun())] * (limits.MESSAGES_AT_ONCE + 3)
    door.open(messages=(*messages, END))
    assert door.requests.count(rerun()) == len(messages), "nothing is lost"
    assert len(slept) == 3
    assert slept == sorted(slept)


def test_sockets_count_by_address():
    door = Door(sockets=Sockets(most=5, most_each=2, idle=60))
    for _ in range(7):
        assert door.open()[0]["type"] == "websocket.accept"
    first, _ = (door.sockets.admit("203.0.113.7") for _ in range(2))
    assert door.open(messages=({"type": "websocket.connect"},)) == [{"type": "websocket.close", "code": 1013}]
    assert door.open(client=("203.0.113.8", 1))[0]["type"] == "websocket.accept", "others are not meant"
    full = door.ask("/", headers=HOST | {"accept": "text/html"})
    assert full["status"] == 503
    assert door.ask("/_stcore/health")["status"] == 503, "a browser that lost its socket waits"
    assert door.ask("/static/js/index.js")["status"] == door.ask("/healthz")["status"] == 200
    door.sockets.forget(first)
    assert door.open()[0]["type"] == "websocket.accept"


def test_idlest_socket_makes_room():
    sockets = Sockets(most=2, most_each=2, idle=60)
    old, young = sockets.admit("a"), sockets.admit("b")
    assert sockets.admit("c") is None
    old.last_message -= 61
    assert sockets.room("c")
    assert sockets.admit("c") is not None
    assert old.leave.is_set()
    assert not young.leave.is_set()
    assert len(sockets) == 2
    sockets.forget(old)
    assert len(sockets) == 2, "it was forgotten already"


def test_replaced_socket_is_closed(door):
    async def visit():
        coming = asyncio.create_task(door.knock("websocket", "/_stcore/stream", SAME_ORIGIN))
        while not len(door.sockets):
            await asyncio.sleep(0)
        next(iter(door.sockets._open.values()))[0].leave.set()
        return await coming

    assert finish(visit())[-1] == {"type": "websocket.close", "code": 1013}


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client", "expected"),
    [
        (0, "198.51.100.1", "203.0.113.7", "203.0.113.7"),  # the user's own header
        (1, "198.51.100.1", "10.0.0.1", "198.51.100.1"),
        (1, "1.2.3.4, 198.51.100.1", "10.0.0.1", "198.51.100.1"),  # what stands before the proxy's word is claimed
        (2, "1.2.3.4, 198.51.100.1, 10.0.0.2", "10.0.0.1", "198.51.100.1"),
        (2, "198.51.100.1", "10.0.0.1", "10.0.0.1"),  # it did not come through both
        (1, "", "10.0.0.1", "10.0.0.1"),
        (0, "", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),  # one user has the whole network
        (0, "", "::ffff:203.0.113.7", "203.0.113.7"),
        (1, "not an address", "10.0.0.1", "not an address"),
    ],
)
def test_address_is_added_by_proxy(proxies, forwarded, client, expected):
    request_headers = guard.Headers({"x-forwarded-for": forwarded} if forwarded else {})
    assert address_of({"client": (client, 1)}, request_headers, proxies) == expected


def test_every_answer_carries_the_policy(door):
    for path in ("/", "/_stcore/metrics", "/media/x"):
        fields = dict(door.ask(path)["headers"])
        assert fields[b"x-content-type-options"] == b"nosniff"
        assert fields[b"referrer-policy"] == b"no-referrer", "addresses hold users' texts"
        assert b"default-src 'self'" in fields[b"content-security-policy"]


def test_scripts_carry_no_headers_of_pages():
    """A browser reads these of a page alone, and of a font, a style or a script nothing is lost without them."""
    for kind in ("application/javascript", "text/javascript; charset=utf-8", "text/css", "font/woff2"):
        fields = dict(headers_of(kind, headers()))
        assert dict(headers()).keys() - fields.keys() == {b"permissions-policy", b"cross-origin-opener-policy"}
    for kind in ("text/html; charset=utf-8", "image/svg+xml", "application/json", ""):
        assert headers_of(kind, headers()) == headers()


def test_policy_allows_only_installed_scripts():
    policy = dict(headers(("'self'", "https://huggingface.co")))[b"content-security-policy"].decode()
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    page = styled_page()
    inline = [body for body in re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL) if body.strip()]
    digests = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in inline]
    assert rules["script-src"].split() == ["'self'", *(f"'sha256-{digest}'" for digest in digests)]
    assert rules["frame-ancestors"] == "'self' https://huggingface.co"
    strict = {"default-src": "'self'", "object-src": "'none'", "base-uri": "'self'", "connect-src": "'self'"}
    assert strict.items() <= rules.items()


@pytest.mark.parametrize(
    ("query", "sites"), [(b"embed=1", "*"), (b"embed=1&embed=0", "'self'"), (b"a=embed=1", "'self'")]
)
def test_embeds_allow_single_sections(monkeypatch, query, sites):
    monkeypatch.setattr(limits, "EMBEDS", ("*",))
    answer = finish(Door().knock("http", "/", HOST, method="GET", query_string=query))[0]
    policy = dict(answer["headers"])[b"content-security-policy"].decode()
    assert policy.endswith(f"frame-ancestors {sites}")


def test_readiness_lists_reasons(monkeypatch):
    readiness = Readiness(Sockets(most=1))
    assert readiness.reasons() == ["warm"]
    readiness.missing = []
    assert readiness.reasons() == []
    readiness.sockets.admit("a")
    monkeypatch.setattr(type(readiness.stores.turns), "waiting", property(lambda turns: turns.line))
    readiness.stopping = True
    assert readiness.reasons() == ["stopping", "sockets", "queue"]


def test_connected_users_enter_before_ready(monkeypatch):
    first, rest, problems = threading.Event(), threading.Event(), ["it has no title", ""]

    async def page_problem():
        assert readiness.reasons() == ["page"]
        return problems.pop(0)

    monkeypatch.setattr(told, "warm", lambda: first.wait(SAFETY_NET))
    monkeypatch.setattr(told, "set_ceiling", lambda stores: None)
    monkeypatch.setattr(told, "FIRST_USER", 0)
    monkeypatch.setattr(told, "page_problem", page_problem)
    monkeypatch.setattr(told, "PAGE_AGAIN", 0)
    readiness = Readiness(Sockets(), then=lambda: rest.wait(SAFETY_NET))

    async def start():
        loading.start_cold()
        warming = asyncio.create_task(readiness._warm())
        await asyncio.sleep(0)
        assert not readiness.can_open.is_set()
        first.set()
        await readiness.can_open.wait()
        loading.wait_until_warm()
        assert readiness.reasons() == ["warm"]
        rest.set()
        await warming
        assert readiness.reasons() == problems == []

    finish(start())


@pytest.mark.parametrize(
    ("is_asked", "n_users", "expected"),
    [(False, 0, ["user"]), (False, 1, ["user", "picture"]), (True, 1, ["user"])],
)
def test_warmup_waits_for_first_picture(monkeypatch, is_asked, n_users, expected):
    waits, sockets = [], Sockets()
    for _ in range(n_users):
        sockets.admit("203.0.113.7")
    monkeypatch.setattr(told, "FIRST_USER", "user")
    monkeypatch.setattr(told, "FIRST_PICTURE", "picture")
    monkeypatch.setattr(loading, "is_asked", lambda seconds: waits.append(seconds) or is_asked)
    monkeypatch.setattr(told, "warm", lambda: None)
    monkeypatch.setattr(told, "set_ceiling", lambda stores: None)
    Readiness(sockets)._warm_in_time()
    assert waits == expected


def test_failed_session_end_leaks_no_tab(door, raise_once):
    """The tab is served, and counted no longer than it is connected."""
    log = raise_once(guard, "end_lost_sessions")
    door.open(SAME_ORIGIN)
    assert (door.requests, len(door.sockets)) == (["/_stcore/stream"], 0)
    assert log() == ["end of lost sessions failed: FaultError"]


def test_cold_server_admits_few(door, monkeypatch):
    monkeypatch.setattr(guard, "EARLY", 2)
    door.readiness.can_open.clear()

    async def visit():
        coming = [asyncio.create_task(door.knock("websocket", "/_stcore/stream", SAME_ORIGIN)) for _ in range(3)]
        while len(door.sockets) < 3:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)
        assert door.requests == ["/_stcore/stream"] * 2
        door.readiness.can_open.set()
        while len(door.requests) < 3:
            await asyncio.sleep(0)
        for socket in list(door.sockets._open["203.0.113.7"]):
            socket.leave.set()
        await asyncio.gather(*coming)

    finish(visit())


def test_operator_reads_refusals():
    door = Door(pages=("masks",))
    for path, method in (("/.env", "GET"), ("/robots.txt", "GET"), ("/masks", "GET"), ("/", "POST")):
        door.ask(path, method)
    door.open(HOST | {"origin": "https://elsewhere.example"}, ({"type": "websocket.connect"},))
    assert door.readiness.refusals == {"unknown": 2, "writing": 1, "foreign socket": 1}
    lines = Metrics(door.sockets, door.readiness.refusals).text().splitlines()
    assert 'headlight_refusals_total{rule="unknown"} 2' in lines, "and nothing of what was asked"


def test_tls_sends_hsts():
    assert (b"strict-transport-security", b"max-age=31536000") in headers(tls=True)
    assert b"strict-transport-security" not in dict(headers(tls=False))


SET_COOKIE = re.compile(r"headlight=([\w-]{43}); Path=/; HttpOnly; SameSite=Lax")


def test_cookie_is_set_once(door):
    def set_cookies(path, **headers):
        fields = [(name, value.decode()) for name, value in door.ask(path, headers=HOST | headers)["headers"]]
        return [value for name, value in fields if name == b"set-cookie"]

    (cookie,) = set_cookies("/_stcore/health")
    assert SET_COOKIE.fullmatch(cookie)
    assert set_cookies("/_stcore/health") != [cookie], "nobody can guess it"
    assert set_cookies("/static/js/a.js") == [], "what is kept for all has none"
    mine = cookie.partition(";")[0]
    assert set_cookies("/_stcore/health", cookie=f"other={{1}}; _streamlit_xsrf=2|a|b|1; {mine}") == []
    assert set_cookies("/_stcore/health", cookie="headlight=mine") != [], "that is none of the guard's"
    page = {
        "type": "http.response.start",
        "headers": [(b"content-type", b"text/html"), (b"cache-control", b"no-cache")],
    }
    session_cookie.set_cookie(page, "/masks", tls=True)
    fields = guard.Headers(raw=page["headers"])
    assert fields["set-cookie"].endswith("; SameSite=Lax; Secure") and fields["cache-control"] == "private, no-cache"


def test_owner_mark_hides_cookie(door, monkeypatch):
    scopes = []

    async def note(scope, receive, send):
        scopes.append(scope)

    door.guard.app = note
    mine, second = (SAME_ORIGIN | {"cookie": f"headlight={letter * 43}"} for letter in "ab")
    for request_headers in (
        mine,
        mine,
        second,
        SAME_ORIGIN,
        SAME_ORIGIN,
        SAME_ORIGIN | {session_cookie.HEADER: "mine"},
        mine | {session_cookie.HEADER: "mine"},
    ):
        door.open(request_headers)
    owners = [guard.Headers(scope=scope).getlist(session_cookie.HEADER) for scope in scopes]
    assert all(len(mark) == 1 and re.fullmatch("[0-9a-f]{64}", mark[0]) for mark in owners)
    marks = [mark for (mark,) in owners]
    assert marks[0] == marks[1] == marks[6], "several tabs, one browser"
    assert len(set(marks)) == 5, "a browser without cookies has a new mark each time"


def test_files_go_to_ones_own_session(door, files, monkeypatch):
    mine = SAME_ORIGIN | {"cookie": f"headlight={'a' * 43}"}
    monkeypatch.setattr(guard, "session_owner", lambda session: session_cookie.mark_of(guard.Headers(mine)))
    assert door.ask(f"{UPLOADS}new/a", "PUT", mine | {"content-length": "10"})["status"] == 200
    assert door.ask(f"{UPLOADS}new/a", "DELETE", mine)["status"] == 200
    for foreign in (SAME_ORIGIN, SAME_ORIGIN | {"cookie": f"headlight={'b' * 43}"}):
        assert door.ask(f"{UPLOADS}new/a", "PUT", foreign | {"content-length": "10"})["status"] == 403
        assert door.ask(f"{UPLOADS}new/a", "DELETE", foreign)["status"] == 403
    assert door.readiness.refusals == {"another's session": 4}
