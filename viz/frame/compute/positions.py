"""Every way to tell a source's heads where a word is, scaled to suit its tokens."""

from torch import Tensor

from viz.core.variants.encodings import Encoding, encodings
from viz.frame.compute import bare, cached, model
from viz.frame.specs import Placing, Source
from viz.models import positions


def own_rows(source: Source) -> Tensor | None:
    """The table of positions of the model the tokens come from, if there is a model and it has one."""
    return model(source.model).positions() if source.model else None


@cached
def row_gain(source: Source) -> float:
    """By how much a formula's rows are scaled to suit a model's tokens; the formula's own beside N(0, 1) numbers."""
    _, vectors = bare(source)
    return positions.row_length(vectors, own_rows(source)) / (vectors.shape[1] / 2) ** 0.5 if source.model else 1.0


def every_encoding(source: Source, placing: Placing) -> dict[str, Encoding]:
    """Every way to tell this source's heads where a word is, by its code."""
    every = encodings(
        base=placing.base, alpha=placing.alpha, delta=placing.delta, seed=source.seed, rows=own_rows(source)
    )
    return every | {"sinusoidal": every["sinusoidal"].scale_table(row_gain(source))}
