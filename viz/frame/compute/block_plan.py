"""The structure of blocks and their stack, as users can change it on the pages about blocks."""

from dataclasses import dataclass, replace

from viz.core.block import BlockDesign, Place
from viz.core.norm import no_norm


@dataclass(frozen=True, kw_only=True)
class BlockPlan:
    """The structure of blocks and their stack; the defaults are the source's own.

    ``norm`` is "post", "pre" or "own": a model's as it was trained, post for seeded blocks. ``layers`` says for each
    layer the number of the weights it uses, so (0, 0, 0) is one block three times; () is every block of a model, one
    seeded block. ``positions`` adds sinusoids to seeded tokens; a model keeps its own.
    """

    norm: str = "own"
    normalize: bool = True
    residual: bool = True
    layers: tuple[int, ...] = ()
    positions: bool = True

    @property
    def as_is(self) -> bool:
        """True if a model's blocks are put together as they were trained."""
        return self == BlockPlan(positions=self.positions)

    def design(self, design: BlockDesign) -> BlockDesign:
        """A design with what this plan changes."""
        places: dict[str, Place] = {"own": design.norm, "post": "post", "pre": "pre"}
        return replace(
            design,
            norm=places[self.norm],
            residual=self.residual,
            normalize=design.normalize if self.normalize else no_norm,
        )
