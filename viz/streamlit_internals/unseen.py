"""A run of the app's script that nobody sees: by Streamlit's private names, as all in this folder."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from uuid import uuid4

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunContext, add_script_run_ctx
from streamlit.runtime.scriptrunner_utils.exceptions import ScriptControlException
from streamlit.runtime.scriptrunner_utils.script_run_context_attr import SCRIPT_RUN_CONTEXT_ATTR_NAME
from streamlit.runtime.state import SafeSessionState, SessionState

from viz import ROOT


def unseen_run(
    query: str,
    check: Callable[[], None],
    work: Callable[[], None],
    page: str = "",
    told: Callable[[ForwardMsg], None] = lambda _: None,
) -> None:
    """Do, in this thread, what a page's script would do in a session that has just come, with nobody to see it.

    Args:
        query: the link it comes with.
        check: asked where a run may end; what it raises ends this one.
        work: draws.
        page: what Streamlit calls the page; "" for the script by itself.
        told: given what a browser would be sent.
    """
    name, thread = f"unseen-{uuid4()}", threading.current_thread()
    outer = getattr(thread, SCRIPT_RUN_CONTEXT_ATTR_NAME, None)
    script = str(ROOT / "app.py")
    context = ScriptRunContext(
        session_id=name,
        _enqueue=told,
        query_string=query,
        session_state=SafeSessionState(SessionState(), lambda: None),
        uploaded_file_mgr=MemoryUploadedFileManager(""),
        main_script_path=script,
        user_info={},
        fragment_storage=MemoryFragmentStorage(),
        pages_manager=PagesManager(script),
    )

    def run() -> None:
        add_script_run_ctx(thread, context)
        context.pages_manager.set_script_intent(page, "")
        context.pages_manager.set_current_page_script_hash(page)
        context.reset(query_string=query, page_script_hash=page, yield_check=check)
        context.on_script_start()
        try:
            work()
        except ScriptControlException:  # it would end here, or begin again
            return

    try:
        copy_context().run(run)
    finally:
        setattr(thread, SCRIPT_RUN_CONTEXT_ATTR_NAME, outer)
        if Runtime.exists():  # downloads and pictures are kept for a session until it lets go of them
            Runtime.instance().media_file_mgr.clear_session_refs(name)
            Runtime.instance().media_file_mgr.remove_orphaned_files()
