"""Every head of a layer at once, one of them large, and what leaves them."""

from viz.core.attention import attend
from viz.ui import layout

scene = layout.open_page("step_by_step")
layout.source_code(scene.t, attend)
