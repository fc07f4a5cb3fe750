"""Which weights each layer of a stack uses: its own, one set for all (ALBERT), or one for each group of neighbours."""


def layers_used(n_layers: int, n_sets: int) -> tuple[int, ...]:
    r"""For each layer the number of the layer whose weights it uses: the first one of its group.

    Layer l is in group :math:`\lfloor l\, S / L \rfloor`. S = L is a stack of independent layers, S = 1 uses the first
    layer again and again (Lan et al. 2020, sec. 3.1); between, neighbours share, as K and V heads do in
    :func:`~viz.core.heads.share_kv`. Groups differ by one layer at most.

    Raises:
        ValueError: if there are no sets, or more sets than layers.

    Example:
        >>> layers_used(6, 2), layers_used(5, 2)
        ((0, 0, 0, 3, 3, 3), (0, 0, 0, 3, 3))
    """
    if not 1 <= n_sets <= n_layers:
        raise ValueError(f"n_sets={n_sets} must be between 1 and n_layers={n_layers}")
    groups = [layer * n_sets // n_layers for layer in range(n_layers)]
    return tuple(groups.index(group) for group in groups)
