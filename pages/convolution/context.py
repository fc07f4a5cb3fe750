"""Context of the Convolution page's sections: the user's text, and whether all sections are shown."""

from dataclasses import dataclass

import streamlit as st

from viz import limits
from viz.frame.scene import SceneContext

SHARP = 46.0
"""An alpha at which e^-alpha is below float32's last digit: the layer is the convolution."""


@dataclass(frozen=True, kw_only=True)
class ConvolutionContext(SceneContext):
    """A text as a layer's heads see it; what a section needs beyond that it computes itself."""

    @property
    def n(self) -> int:
        """The number of tokens drawn."""
        return min(len(self.scene.labels), limits.WINDOW_TOKENS)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the tokens drawn."""
        return self.scene.labels[: self.n]


def say_first(context: ConvolutionContext) -> None:
    """Show a note where only the first tokens are drawn."""
    if context.n < len(context.scene.labels):
        st.caption(context.t("convolution.first", n=context.n))
