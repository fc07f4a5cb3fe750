"""Parameters of the link: each an object that a module declares once, named as its widget's key.

Declared, read and drawn::

    LAYER = Int("layer", 3, high=lambda model: model.n_layers - 1)  # or low=, among=(1, 3, 5)
    layer = LAYER.read(model)  # declares it: the value of the link or the user if valid, else the default
    layer = LAYER.slider(t("choice.layer"), model)  # declares it and draws its control: number_input, selectbox ...
    LAYER.choose(5)  # in a callback; also set, forget, value, is_chosen, is_known

The argument ``about`` of ``read`` and of the controls is the page's data: a context, a model, a list. Functions for a
default, a range or an owner are called with it. Kinds: ``Int``, ``Real``, ``Choice`` (of codes), ``Flag``, ``Text``,
``Ints`` and ``TokenIndex``, which follows its word (``scope=Scope(lambda context: context.labels)``).

A page that gives a shared parameter another default or range has a variant: ``QUERY.variant(default=0)``.
``scope=Scope(owner)`` keeps a separate value for each owner. A family of parameters is a
function: ``def tap(i): return Real(f"tap{i}", low=-9.0, high=9.0)``. :mod:`viz.params.link` is the link as a whole,
:mod:`viz.frame.shared` has the parameters that pages share.
"""

from viz.params.kinds import Choice, Flag, Int, Ints, Real, Text, TokenIndex
from viz.params.parameter import Parameter, Scope

__all__ = ["Choice", "Flag", "Int", "Ints", "Parameter", "Real", "Scope", "Text", "TokenIndex"]
