"""The words that the page's views in the browser are sent."""

from pages.long_text.context import LongTextContext
from viz.text import sentences


def words_of(context: LongTextContext, view: str) -> dict[str, str]:
    """A view's own words, to be filled in by the browser: the texts below ``long_text.<view>``."""
    prefix = f"long_text.{view}."
    names = [name.removeprefix(prefix) for name in sentences(context.scene.choice.lang) if name.startswith(prefix)]
    return {name: context.t(f"long_text.{view}.{name}") for name in names}
