"""Attention as it is deployed today: sinks, caps, norms, gates, differences, states, latent caches, selections.

Each module names the switch at which its variant is standard attention; ``switches.py`` computes how far it is from
:func:`~viz.core.attention.attend` there, on any tokens. Linear attention has none, and says so.
"""
