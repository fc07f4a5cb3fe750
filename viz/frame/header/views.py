"""The buttons above a section with several pictures of one idea."""

from typing import TYPE_CHECKING

from viz.frame import controls
from viz.text import Translate, has_text

if TYPE_CHECKING:
    from viz.frame.header.section import Section


def draw_views(t: Translate, page: str, section: "Section") -> None:
    """Draw a button for each view of a section, if it has several."""
    if not section.views:
        return

    def title(name: str) -> str:
        """Return a view's name beside the others, if there is one; else its title."""
        short = f"{page}.{name}.pill"
        return t(short if has_text(short) else f"{page}.{name}.title")

    controls.choice(
        t("page.views"),
        section.switch,
        [view.name for view in section.views],
        title,
        look="pills",
        label_visibility="collapsed",
        width="content",
    )
