"""What a server of Streamlit's need not do as it begins."""

import importlib.metadata

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.component_manager import BidiComponentManager

from viz.streamlit_internals import seek_no_components


@pytest.mark.parametrize("told", [False, True])
def test_installed_packages_are_not_read_for_components(monkeypatch, told):
    sought, packages = [], importlib.metadata.distributions
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: sought.append("all") or packages())
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", SCAN)
    if told:
        seek_no_components()
    BidiComponentManager().discover_and_register_components(start_file_watching=False)
    assert sought == ([] if told else ["all"])


SCAN = manifest_scanner.scan_component_manifests
