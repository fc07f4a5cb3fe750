"""Context of the Block page's sections: the blocks and their design."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps

import streamlit as st

from pages.block.side import Side, decoder_side, encoder_side, kind_of
from viz import limits
from viz.core.spec import OddWidthError
from viz.errors import ModelError
from viz.frame.checks import Check
from viz.frame.compute import blocks, stack_tokens
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.examples import default_target
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, SceneContext, chosen_head, mask_has_effect, model_own, say_error, source_line
from viz.frame.shared import TARGET, Options
from viz.frame.specs import Mask, Source
from viz.params import Choice, Flag
from viz.text import Translate, paragraph

BLOCK = Choice("block", among=("encoder", "decoder", "both"))
BOX = Choice("box", lambda codes: codes.first, among=lambda codes: codes.among)
NORM = Choice("norm", among=lambda built: ("own", "pre" if built == "post" else "post"))
RESIDUAL, NORMALIZE = Flag("residual", True), Flag("normalize", True)


@dataclass(frozen=True, kw_only=True)
class BlockContext(SceneContext):
    """An encoder's block, a decoder's or both, how they are put together, and the head whose weights are shown.

    ``target`` is what a decoder writes, "" where only an encoder is shown. What the blocks compute is computed when a
    section first asks for it.
    """

    kind: str
    plan: BlockPlan
    target: str
    head: int

    @property
    def source(self) -> Source:
        """The source of the tokens and the weights."""
        return replace(self.scene.choice.source, target="")

    @property
    def mask(self) -> Mask:
        """The mask that is added in every block."""
        return self.scene.choice.mask

    @property
    def layer(self) -> int:
        """The layer that is shown."""
        return self.scene.choice.layer

    @property
    def is_decoder_only(self) -> bool:
        """Return whether the model has decoder blocks without cross-attention."""
        return "decoder" in self.scene.capture.stacks and not blocks.has_decoder(self.source)

    @lazy
    def encoder(self) -> Side:
        """The source's own first stack."""
        return encoder_side(self.source, self.plan, self.mask, self.layer)

    def decoder(self, target: str) -> Side:
        """The blocks that write a target: the source's own, or seeded ones."""
        return decoder_side(self.source, target, self.plan, self.mask, self.layer)

    @lazy
    def sides(self) -> tuple[Side, ...]:
        """The sides that were chosen: the encoder's, the decoder's or both."""
        sides = [] if self.kind == "decoder" else [self.encoder]
        return (*sides, self.decoder(self.target)) if self.kind != "encoder" else tuple(sides)

    @lazy
    def box(self) -> str:
        """The code of the box that is open in the diagram."""
        codes = [code for side in self.sides for code in side.boxes]
        standard = next(code for code in codes if kind_of(code) == "attention")
        return BOX.read(Options(codes, standard))

    def side_of(self, code: str) -> Side:
        """The side a box belongs to."""
        return next(side for side in self.sides if code.startswith(side.code))

    @property
    def source_labels(self) -> tuple[str, ...]:
        """The tokens a decoder's cross-attention looks at."""
        return blocks.reading(self.source, self.plan.positions).tokens.labels

    def labels_of(self, code: str) -> tuple[str, ...]:
        """The tokens a box's rows stand for: the memory's are the source's."""
        return self.source_labels if kind_of(code) == "memory" else self.side_of(code).labels


def about(scene: Scene) -> None:
    """Show the source of the numbers: seeded blocks have positions, and a mask applies to every block."""
    t, source, masked = scene.t, scene.choice.source, mask_has_effect(scene)
    line = source_line(scene, "block", d_ff=blocks.WIDER * scene.trace.projections.spec.d_model)
    st.caption(line if masked or source.kind != "model" else paragraph(line, model_own(t, source.model)))
    if masked:
        st.caption(t("block.masked", mask=t(f"mask.{scene.choice.mask.kind}")))


def open_block(scene: Scene) -> BlockContext:
    """Draw the chips of the blocks and of the head, the settings of their design, and the target where one is written.

    Raises:
        ModelError: "block", if it is not known how this model's blocks are put together.
    """
    t = scene.t
    built = blocks.own_norm(scene.choice.source)
    plan = BlockPlan(norm=NORM.read(built), residual=RESIDUAL.read(), normalize=NORMALIZE.read())
    kind = BLOCK.read()
    context = BlockContext(scene=scene, kind=kind, plan=plan, target="", head=0)

    names = {code: t(f"block.which_{code}") for code in BLOCK.options()}
    if context.is_decoder_only:
        names["encoder"] = t("block.which_own")
    with scene.chips.add(BLOCK.name, names[kind]):
        BLOCK.segments(t("block.which"), says=names.__getitem__)
    with scene.chips.add_setting():
        _design_controls(scene, built)
    context = replace(context, head=chosen_head(scene, t("block.head"), scene.trace.projections.spec.H))
    if kind == "encoder":
        return context
    # An empty target would mean that no decoder is shown.
    return replace(context, target=target_control(t, scene.choice.source.text) or " ")


def _design_controls(scene: Scene, built: str) -> None:
    t = scene.t

    def says(code: str) -> str:
        if code == "own":
            return t("block.as_built", name=t(f"block.variant_{built}"))
        return t(f"block.variant_{code}")

    NORM.segments(t("block.norm"), built, says=says, help=t("block.norm_help"))
    RESIDUAL.toggle(t("block.residual"), help=t("block.residual_help"))
    NORMALIZE.toggle(t("block.normalize"), help=t("block.normalize_help"))


def target_control(t: Translate, text: str) -> str:
    """The text a decoder writes, shared with every page that has two texts."""
    target = TARGET.text_box(
        t("block.target"),
        default_target(text),
        draw=st.text_area,
        height="content",
        help=t("block.target_help"),
    )
    return target[: limits.CHARACTERS]


Draw = Callable[[BlockContext], list[Check]]


def with_target(draw: Draw) -> Draw:
    """Draw a section; where a decoder cannot read the target, say so in its place.

    The target may have no word (the source's were read before), or vectors too odd in width for sinusoids.
    """

    @wraps(draw)
    def draw_or_say(context: BlockContext) -> list[Check]:
        try:
            return draw(context)
        except ModelError as error:
            if error.code != "empty":
                raise
            st.error(context.t("block.no_target"))
        except OddWidthError as error:
            say_error(context.t, error)
        return []

    return draw_or_say


def warn_of_changes(context: BlockContext) -> None:
    """Warn where the design is not the one that the model was trained with."""
    if context.source.kind == "model" and not context.plan.as_is and not all(side.lent for side in context.sides):
        st.warning(context.t("block.not_trained", model=context.source.model))


def say_outgrown(context: BlockContext, sides: tuple[Side, ...]) -> bool:
    """Show a notice where a side's numbers overflow; return whether one does."""
    if not any(side.is_outgrown for side in sides):
        return False
    st.info(context.t("block.outgrown"))
    return True


def caption_stack(context: BlockContext, n: int) -> None:
    """Say whose blocks a whole stack of n has: the model's, which were trained one way only, or seeded ones."""
    t, source = context.t, context.source
    if context.sides[-1].lent:
        st.caption(t("block.lent_stack", model=source.model, n=n))
    elif source.kind == "model":
        st.caption(t("block.only_as_built", model=source.model))
    else:
        st.caption(t("block.seeded_stack", n=n))


def notes(context: BlockContext, sides: tuple[Side, ...]) -> None:
    """Show the limits of the pictures of these sides."""
    t, model = context.t, context.source.model
    if any(side.lent for side in sides):
        st.caption(t("block.lent", model=model))
    if len(context.scene.labels) > (most := stack_tokens(context.source)):
        st.caption(t("block.first", n=most))
    if sides[-1].code != "dec" and context.is_decoder_only:
        st.caption(t("block.decoder_only", model=model))
