"""Ending of the processes that tests start."""

import signal
import subprocess
import sys

from tests.browser.drive import stop

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"


def test_process_ignoring_sigterm_is_killed():
    """JupyterLab did so once, and the whole test command waited for it."""
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        stop(process, seconds=0.1)
    assert process.returncode == -signal.SIGKILL
