"""The buttons above a section with several pictures of one idea."""

from typing import TYPE_CHECKING

from viz.text import Translate, has_text

if TYPE_CHECKING:
    from viz.frame.section import Section


def draw_views(t: Translate, page: str, section: "Section") -> None:
    """Draw a button for each view of a section, if it has several."""
    if not section.views:
        return

    def title(name: str) -> str:
        """Return a view's name beside the others, if there is one; else its title."""
        short = f"{page}.{name}.pill"
        return t(short if has_text(short) else f"{page}.{name}.title")

    section.opened_view.pills(t("page.views"), says=title, label_visibility="collapsed", width="content")
