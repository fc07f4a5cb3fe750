"""The parameters of the page: which sentences, which head, which scores."""

from viz.models.atlas.corpus import LANGUAGES
from viz.params import Choice, Flag, Int

OWN_TEXTS = "own"
"""The corpus that is the text of the page."""


def score(name: str, first: str) -> Choice:
    """Return the parameter of a list of the scores; ``first`` is chosen at first, where an atlas has it."""
    return Choice(name, lambda names: first if first in names else names[0], among=lambda names: names)


ATLAS_CORPUS = Choice("atlas_corpus", lambda corpus: corpus, among=(*LANGUAGES, OWN_TEXTS))
ATLAS_NOW = Flag("atlas_now")
ATLAS_LAYER = Int("atlas_layer", lambda places: places.first, high=lambda places: places.among[-1])
ATLAS_HEAD = ATLAS_LAYER.variant(name="atlas_head")
