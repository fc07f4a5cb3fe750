"""The cover of a picture."""

from viz.components.cover import Cover, covering, current


def test_cover_ends_with_its_block():
    with covering(Cover()):
        assert current() == Cover()
    assert current() is None
