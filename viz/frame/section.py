"""A section of a page: one idea, or several pictures of it that are views of one section."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from viz.frame.checks import Check
from viz.models.layout import LoadedModel
from viz.params import Choice

if TYPE_CHECKING:
    from viz.lessons.subject import Subject

Reads = bool | Callable[[LoadedModel | None], bool]
"""True if a section reads a choice; or whether it does so with a model's own heads (None: with seeded ones)."""


@dataclass(frozen=True)
class Section:
    """One idea: a picture, what it shows, and the checks that it is so.

    Its title and its one-sentence lead are the texts ``<page>.<name>.title`` and ``.lead``.

    Args:
        name: in the link, in the texts.
        draw: draws it from the page's context, and returns its live checks, if it has any.
        code: the functions that ran, shown as they are; or what gives them, of what is drawn.
        formula: LaTeX, or what draws it; below it stands the text ``<page>.<name>.why``, if there is
            one, and for whoever asks what other books call its letters.
        downloads: draws what can be taken away.
        in_menu: whether it has no tab, and is opened from the menu *More*.
        reads_text: False where no text would change anything, with no model or with this one: then its box is not
            there, nor the chip of the model, unless ``reads_model``.
        reads_model: of a section without a text: True where another model changes something.
        reads_mask: False where the page's mask would change nothing: then its chip is not there.
        reads_layer, reads_head: the same of the layer and the head.
        subject: of a section with numbers of its own, what a lesson may ask of them; else it is the page's text.
        is_fragment: False for a section that draws a chip, above itself: a control of it has all sections drawn.
        default_model, default_text: where the section opens on another model or text than its page.
        knows: what the section shows of a model's layer beside what its page does, as in ``Page.knows``.
        shares_controls: whether a view has a control in common with the view before it: where all are shown, it is not.
        views, switch: the views, and the parameter that says which is open; see :func:`with_views`.
        view: the name of the view that is open, where there are some; its texts are the section's then.
    """

    name: str
    draw: Callable[[Any], Iterable[Check] | None]
    code: tuple[Callable[..., Any], ...] | Callable[[Any], tuple[Callable[..., Any], ...]] = ()
    formula: str | Callable[[Any], object] = ""
    downloads: Callable[[Any], None] | None = None
    in_menu: bool = False
    reads_text: Reads = True
    reads_model: bool = False
    reads_mask: bool = True
    reads_layer: Reads = True
    reads_head: Reads = True
    subject: Callable[[Any], "Subject"] | None = None
    is_fragment: bool = True
    default_model: Callable[[], str] | None = None
    default_text: Callable[[], str] | None = None
    knows: tuple[str, ...] = ()
    shares_controls: bool = False
    views: tuple["Section", ...] = ()
    switch: str = ""
    view: str = ""

    @property
    def texts(self) -> str:
        """Below which name of the page its texts stand."""
        return self.view or self.name

    @property
    def opened_view(self) -> Choice:
        """The parameter that says which of the views is open."""
        return Choice(self.switch, among=[view.name for view in self.views])

    def opened_views(self, *, all_views: bool) -> tuple["Section", ...]:
        """Return the section as the view that is open, or if ``all_views`` as each of its views."""
        if not self.views:
            return (self,)
        view_names = self.opened_view.options() if all_views else [self.opened_view.read()]
        return tuple(
            replace(view, name=self.name, view=view.name, views=self.views, switch=self.switch, in_menu=self.in_menu)
            for view in self.views
            if view.name in view_names and not (all_views and view.shares_controls)
        )


def with_views(switch: str, *views: Section, in_menu: bool = False) -> Section:
    """Return one section with several pictures of one idea, one at a time; buttons above it choose.

    Each view is a section with texts, checks and code of its own. The first gives the name, and is open at first.
    """
    return replace(views[0], views=views, switch=switch, in_menu=in_menu)


standalone = partial(Section, reads_text=False, reads_mask=False, reads_layer=False, reads_head=False)
"""A section with numbers of its own, which no mask, no layer and no head changes."""
