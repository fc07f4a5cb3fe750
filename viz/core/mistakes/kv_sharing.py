"""Keys and values copied for the query heads, done wrong on purpose: two ways that raise, and one that does not."""

from torch import Tensor

from viz.core.analysis.grouped_module import GroupedQueryAttention


class FiveAxes(GroupedQueryAttention):
    """The heads were never split off: five axes are asked of a tensor that has three."""

    def for_every_head(self, x: Tensor) -> Tensor:
        """Give every query head a group of its own, without cutting the groups out first."""
        B, T, width = x.shape
        groups = x[:, :, None, :, :]
        copies = groups.expand(B, self.n_kv_heads, self.n_heads, T, width // self.n_kv_heads)
        return copies.reshape(B, self.n_heads, T, -1)


class TooManyCopies(GroupedQueryAttention):
    """Split as it should be, but every group is copied H times where H / G would do: G times too many."""

    def for_every_head(self, x: Tensor) -> Tensor:
        """Cut the groups out, then copy each for all query heads."""
        groups = self.split(x, self.n_kv_heads)
        B, G, T, d = groups.shape
        copies = groups[:, :, None].expand(B, G, self.n_heads, T, d)
        return copies.reshape(B, self.n_heads // G, G, T, d)


class Tiled(GroupedQueryAttention):
    """The whole set of groups again and again (0 1 0 1, not 0 0 1 1): every shape is right, the pairs are wrong."""

    def for_every_head(self, x: Tensor) -> Tensor:
        """Cut the groups out, then lay the set of them end to end."""
        groups = self.split(x, self.n_kv_heads)
        return groups.repeat(1, self.n_heads // self.n_kv_heads, 1, 1)
