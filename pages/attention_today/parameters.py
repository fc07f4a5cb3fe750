"""The parameters of the page: one in each section has a value at which the variant is standard attention."""

from viz.params import Choice, Real

STANDARD = "off"
"""The value of every switch at which a section shows standard attention."""

NOBODY = Choice("nobody", among=("learned", "word", "by_one", STANDARD))
SIGMA = Real("sigma", lambda default: default, low=-10.0, high=40.0)
"""The score of a sink, where it is chosen and not 0. The default is the head's own, :func:`nobody.equal_sink`."""
TAMED = Choice("tamed", among=("cap", "norm", STANDARD))
CAP = Real("cap", 2.0, low=0.5, high=50.0)
NORM_GAIN = Real("norm_gain", 1.0, low=0.5, high=3.0)
"""The gain of both norms, the same in every dimension."""
GATED = Choice("gated", among=("head", "dimension", STANDARD))
GATE_BIAS = Real("gate_bias", 0.0, low=-4.0, high=4.0)
SUBTRACTED = Real("subtracted", lambda default: default, high=1.0)
"""λ, the share of the second map, or of what lies along a word's own value, that is taken away; 0 is standard."""
STATE = Choice("state", among=("delta", "linear", STANDARD))
FADE = Real("fade", 1.0, low=0.5, high=1.0)
"""Share of a state that stays from one token to the next."""
BETA = Real("beta", 1.0, low=0.1, high=1.0)
