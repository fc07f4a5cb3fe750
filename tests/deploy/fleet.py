"""Three replicas behind nginx with ``deploy/nginx.conf``: the shape of compose.yaml, without containers."""

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import SAFETY_NET
from tests.browser.drive import PATIENCE, ROOT, Server, serve
from tests.deploy.files import NGINX, replicas

MISSING = "The test of replicas needs nginx, and none was found. On Debian or Ubuntu: apt-get install nginx."
COOKIE = "replica"
NAMES = "abc"


def find_nginx() -> str | None:
    """The installed nginx, if any; Debian's is where only root looks."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def localise(port: int, servers: list[Server]) -> str:
    """``deploy/nginx.conf`` with other addresses, and nothing else changed."""
    conf = NGINX.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    for service, server in zip(replicas().values(), servers, strict=True):
        address = f"{service['networks']['inside']['ipv4_address']}:8501"
        ours = server.url.removeprefix("http://")
        for old, new in ((address, ours), (address.replace(".", r"\."), ours.replace(".", r"\."))):
            assert old in conf
            conf = conf.replace(old, new)
    return conf


@dataclass(frozen=True)
class Fleet:
    """Replicas that live, by the names that nginx gives them, and the address that users open."""

    url: str
    log: Path
    servers: dict[str, Server]

    def kill(self, name: str) -> float:
        """End a replica without a word; when that was."""
        os.kill(self.servers.pop(name).pid, signal.SIGKILL)
        return time.monotonic()

    def arrive(self) -> str:
        """Open the page as a new user; return the replica."""
        with urllib.request.urlopen(f"{self.url}/", timeout=SAFETY_NET) as answer:
            cookies = answer.headers.get_all("set-cookie")
            (cookie,) = (header for header in cookies if header.startswith(f"{COOKIE}="))
            name: str = cookie.partition("=")[2].partition(";")[0]
            return name


def wait_until_ready(url: str) -> None:
    """Until a server is warm."""
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=SAFETY_NET):
                return
        except urllib.error.HTTPError:
            time.sleep(0.1)
    raise RuntimeError(f"{url} does not get ready")


@contextmanager
def start(nginx: str, folder: Path) -> Iterator[Fleet]:
    """Run nginx and three replicas until the block ends."""
    with ExitStack() as stack:
        settings = {"HEADLIGHT_PROXIES": "1", "FORWARDED_ALLOW_IPS": "", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        at_once = stack.enter_context(ThreadPoolExecutor(len(NAMES)))
        starting = (serve(ROOT / "serve.py", folder / f"{name}.txt", **settings) for name in NAMES)
        servers = list(at_once.map(stack.enter_context, starting))
        port, conf, log = free_port(), folder / "nginx.conf", folder / "nginx.txt"
        conf.write_text(localise(port, servers), "utf8")
        command = [nginx, "-e", "stderr", "-p", str(folder), "-c", str(conf), "-g", "daemon off;"]
        out = stack.enter_context(log.open("w"))
        running = stack.enter_context(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT))
        stack.callback(running.terminate)
        for server in servers:
            wait_until_ready(server.url)
        yield Fleet(f"http://127.0.0.1:{port}", log, dict(zip(NAMES, servers, strict=True)))
