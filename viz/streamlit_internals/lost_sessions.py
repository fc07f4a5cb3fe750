"""Sessions whose browsers have gone for good.

Upstream: Streamlit ends those that are kept for too long when the next browser goes, and not by the clock
(``MemorySessionStorage``, Streamlit 1.24 to 1.67). Without the private names the last users of a day take their memory
until then.
"""

from typing import Any

from viz.streamlit_internals.optional import find


def end_lost_sessions() -> None:
    """End the sessions whose browsers have been gone for longer than they are kept.

    To be called in the thread of the server's loop, as all that concerns sessions.
    """
    runtime = find("streamlit.runtime:Runtime")
    if runtime is None or not runtime.exists():
        return
    kept: Any = getattr(getattr(runtime.instance(), "_session_mgr", None), "_session_storage", None)
    expire = getattr(getattr(kept, "_cache", None), "expire", None)
    for _, info in (expire() if expire else None) or ():
        info.session.shutdown()
