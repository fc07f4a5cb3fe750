"""A fleet to visit."""

import os
from collections.abc import Iterator

import pytest

from tests.deploy.fleet import MISSING, Fleet, find_nginx, start


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Three replicas behind nginx."""
    nginx = find_nginx()
    if nginx is None:
        if os.environ.get("HEADLIGHT_NGINX") == "required":
            pytest.fail(MISSING + " (HEADLIGHT_NGINX=required)", pytrace=False)
        pytest.skip(MISSING)
    with start(nginx, tmp_path_factory.mktemp("fleet")) as running:
        yield running
