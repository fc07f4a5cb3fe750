"""A container's host and memory, read from its environment and from files like the system's; what follows from them."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from viz import ROOT
from viz.container import CLOUD, NO_LIMIT, SIGNS, fit_threads, host_of, memory_limit, thread_limit

LIMITS = """
import json
from viz import limits
from viz.models import registry
fits = [entry.id for entry in registry.entries() if 4 * entry.parameters <= limits.MODELS_BYTES]
names = ("TOKENS", "MEMORY_BYTES", "CONTAINER_BYTES", "PASS_BYTES", "CACHE_BYTES", "LONG_KEPT_BYTES", "MODELS_BYTES")
found = {name: getattr(limits, name) for name in (*names, "ATLAS_NOW", "SOCKETS_EACH", "FRAMES")}
print(json.dumps(found | {"fits": fits}))
"""
ENTRY = """
from streamlit.web.server.app_discovery import discover_asgi_app
import app, json
print(json.dumps([layer.cls.__name__ for layer in app.app._user_middleware]))
"""


@cache
def run(code, **environment):
    """Return the output of Python code in a process whose environment has these variables."""
    plain = {name: value for name, value in os.environ.items() if name not in SIGNS}
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=plain | environment, capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout.splitlines()[-1])


@pytest.mark.parametrize("sign", SIGNS)
def test_host_known_by_variable(sign):
    """Each host sets one; HEADLIGHT_HOSTED has the last word."""
    assert host_of({sign: "x"}, Path("/srv/headlight")) == SIGNS[sign]
    assert host_of({sign: "x", "HEADLIGHT_HOSTED": "0"}, Path("/srv/headlight")) == ""


def test_community_cloud_known_by_folder():
    """It sets no variable that it documents."""
    assert host_of({}, Path("/mount/src/headlight")) == CLOUD
    assert host_of({}, Path("/mount/srcs/headlight")) == host_of({}, Path.home()) == ""
    assert host_of({"HEADLIGHT_HOSTED": "1"}, Path.home()) == "HEADLIGHT_HOSTED"


def test_smallest_limit_of_groups_counts(tmp_path):
    """Of the process's own group and of those around it (cgroup v2)."""
    proc = tmp_path / "cgroup"
    proc.write_text("0::/pod/app\n", "utf-8")
    (tmp_path / "pod/app").mkdir(parents=True)
    assert memory_limit(proc, tmp_path) == 0
    (tmp_path / "pod/memory.max").write_text("3000000000\n", "ascii")
    (tmp_path / "pod/app/memory.max").write_text("max\n", "ascii")
    assert memory_limit(proc, tmp_path) == 3_000_000_000
    (tmp_path / "pod/app/memory.max").write_text("1000000000\n", "ascii")
    assert memory_limit(proc, tmp_path) == 1_000_000_000


def test_tabs_fit_into_threads(tmp_path):
    """Each takes one while its page is drawn, or waits."""
    (tmp_path / "pids.max").write_text("512\n", "ascii")
    assert thread_limit(tmp_path / "none", tmp_path) == 512
    assert [fit_threads(600, limit) for limit in (0, 512, 1024, 50)] == [600, 412, 600, 1]


def test_limit_of_old_groups_read(tmp_path):
    """cgroup v1 has one file, with a number of 2^63 where there is no limit."""
    (tmp_path / "memory").mkdir()
    file = tmp_path / "memory/memory.limit_in_bytes"
    file.write_text(f"{(1 << 63) - 4096}\n", "ascii")
    assert NO_LIMIT < (1 << 63) - 4096 and memory_limit(tmp_path / "none", tmp_path) == 0
    file.write_text("2700000000\n", "ascii")
    assert memory_limit(tmp_path / "none", tmp_path) == 2_700_000_000


@pytest.mark.parametrize("megabytes", [900, 1_000, 2_700, 8_000])
def test_limits_fit_into_container(megabytes):
    """Models, what is kept, and one computation, beside 0.65 GB of Python, torch, Streamlit and the pages."""
    sizes = run(LIMITS, HEADLIGHT_CONTAINER_MB=str(megabytes))
    assert sizes["MEMORY_BYTES"] <= sizes["CONTAINER_BYTES"] < megabytes * 10**6
    total = sizes["MODELS_BYTES"] + sizes["CACHE_BYTES"] + sizes["PASS_BYTES"] + 450_000_000
    assert total <= megabytes * 10**6 * (1 if megabytes > 1_000 else 0.92)


def test_small_container_offers_default_model():
    """And the small ones of this project, with texts of half the length and no atlas made meanwhile."""
    sizes = run(LIMITS, HEADLIGHT_CONTAINER_MB="1000")
    assert sizes["fits"] == ["all-MiniLM-L6-v2", "twin-g8", "twin-g2", "twin-g1", "animals-en-zh"]
    assert (sizes["TOKENS"], sizes["ATLAS_NOW"]) == (256, False)


def test_middle_container_offers_all_three():
    """The packaged models beside the default one, all at once."""
    sizes = run(LIMITS, HEADLIGHT_CONTAINER_MB="2700")
    assert {"all-MiniLM-L6-v2", "SmolLM2-135M-Instruct", "multilingual-e5-small"} <= set(sizes["fits"])
    assert sizes["MODELS_BYTES"] > 4 * (22_713_216 + 134_515_008 + 117_505_920)
    assert (sizes["TOKENS"], sizes["ATLAS_NOW"]) == (512, True)


def test_desk_keeps_default_limits():
    """No container, no host: what docs/settings.md says."""
    sizes = run(LIMITS, HEADLIGHT_CONTAINER_MB="0", HEADLIGHT_HOSTED="0")
    assert (sizes["MEMORY_BYTES"], sizes["CACHE_BYTES"], sizes["MODELS_BYTES"]) == (1_700e6, 270e6, 4_200e6)
    assert (sizes["SOCKETS_EACH"], sizes["FRAMES"]) == (300, ["'self'"])


def test_space_may_be_framed():
    """Its page stands in a frame of huggingface.co, and all of its users come by one proxy."""
    sizes = run(LIMITS, SPACE_ID="someone/headlight")
    assert (sizes["SOCKETS_EACH"], sizes["FRAMES"]) == (600, ["https://huggingface.co"])


@pytest.mark.parametrize(("hosted", "guarded"), [("0", False), ("1", True)])
def test_app_guarded_where_hosted(hosted, guarded):
    """The default entry of a host's form is app.py: there it is the public server."""
    assert ("Guard" in run(ENTRY, HEADLIGHT_HOSTED=hosted)) == guarded
