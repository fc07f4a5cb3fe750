"""Only what has changed of a page is sent: by Streamlit's private names, as all in this folder.

Streamlit sends every element in every run of the script, about sixty messages for a slider that changes one picture,
and the browser goes through its whole page at each. It knows runs that tell a part of the page, too, and leave the
rest as it is (a fragment's). So a run is told as such a run, without what the browser holds; also one that leads to
another page, if it is over by now. If it is not, the page that is there has to be marked as out of date meanwhile, and
so it is told as a whole. The script runs as ever. Of a run that tells a part, Streamlit's page takes nothing away: so
in the end nothing (``st.empty``) is told in the place of what is gone; a control that is gone is forgotten with it, as
at the end of every run. Settings that are gone cannot be told: then the run is told once more, as a whole. A run that
tells changes goes under the name of the last whole run: beside what comes in the place of another run's element the
page would keep that element, unseen, until a whole run ends, in case it comes back (its ``getRetained``).

That a run begins, that it is under way and that it is over has the browser go through its whole page, too. It is left
out where it says nothing new: the run before was told in the same way; it is over by now; no control is gone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from streamlit.proto.AutoRerun_pb2 import StopAutoRerun
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed

from viz.streamlit_internals.reported import control_of, without_what_is_said

Place = tuple[int, ...]

PART = "changes"
"""What the part is called of which such a run tells. Nothing is in it, so nothing is taken away."""
KEPT_BYTES = 8_000_000
"""The browser keeps large messages for when they come again, and lets go of old ones only at the end of a whole run."""
MOST_LARGE = 1_000
_SETTINGS = ("page_config_changed", "navigation", "logo", "auto_rerun")


@dataclass(frozen=True)
class _There:
    """What stands in one place: what it was told by, of which kind a block is, which control it is, what is to be set.

    ``control`` is "" where it is none. ``sets`` is None where nothing is set; "" is what has another effect each time
    it is told.
    """

    name: str
    block: str
    control: str
    sets: str | None


class Held:
    """What one browser holds of its page: given every message for it, it says which are to be sent."""

    def __init__(self) -> None:
        self._page: str | None = None  # unknown, until a whole run has come to its end
        self._asked = ""
        self._script = ""  # what draws every page; what another script has drawn goes with its page
        self._tells: str = ""  # "whole", "changes" or, of a real fragment or before any run, ""
        self._places: dict[Place, _There] = {}
        self._settings: dict[str, list[str]] = {kind: [] for kind in _SETTINGS}
        self._kept_bytes = 0
        self._large: dict[str, tuple[str, str | None]] = {}  # the control, and what is set, by names that come again
        self._controls: dict[str, WidgetState] = {}  # that it reports
        self._timed: list[str] = []  # the parts of the page that are drawn again by themselves
        self._run = ""  # the last one that was told as a whole, by name
        self._is_in_part = False  # it takes what comes for a part that tells changes
        self._is_running = False  # as it was told
        self._sent: frozenset[bytes] = frozenset()  # the controls that it reports, with their values
        self._is_asked_again = False  # it has once sent nothing new: it waits until it is told of a run
        self._has_lost_controls = False  # and still reports them: it tidies when a run that has a name is over
        self._begin()

    def note_request(self, asked: ClientState) -> None:
        """Take note of the controls that the browser reports; others are folded away, and stand as they were told."""
        controls = asked.widget_states.widgets
        self._controls = {control.id: control for control in controls}
        before, self._sent = self._sent, frozenset(control.SerializeToString() for control in controls)
        self._is_asked_again = self._is_asked_again or self._sent <= before
        # Until a run begins that it is told of, it takes each for the one that Back asked for.
        self._is_in_part = self._is_in_part and not asked.is_history_navigation

    def _begin(self) -> None:
        self._messages: list[ForwardMsg] = []
        self._drawn: set[Place] = set()
        self._n_settings = Counter[str]()

    def to_send(self, message: ForwardMsg, *, is_over: bool = False) -> list[ForwardMsg]:
        """The messages to send for this one: itself, nothing, or all of the run; ``is_over``: it has ended already."""
        kind = message.WhichOneof("type")
        if kind == "session_status_changed":
            return [message] if self._is_news(message.session_status_changed.script_is_running, is_over) else []
        if kind == "new_session":
            return [self._open(message, is_over=is_over)]
        if kind == "script_finished":
            messages = self._close(message)
            self._begin()
            return messages
        if kind == "navigation":  # says which page a link's path is; until then it was taken for the first
            self._asked = message.navigation.page_script_hash
        if kind == "delta" and self._is_in_its_place(message):
            message = without_what_is_said(message, self._controls)
        if self._tells and kind in (*_SETTINGS, "delta", "ref_hash"):
            is_held = self._is_set(kind, message) if kind in _SETTINGS else self._is_there(message)
            if self._tells == "changes":
                self._messages.append(message)
                if is_held:
                    return []
            self._kept_bytes += message.ByteSize() if message.metadata.cacheable else 0
            return [*self._stop_timers(message), message] if kind == "auto_rerun" else [message]
        return [message]

    def whole_run(self, message: ForwardMsg) -> list[ForwardMsg]:
        """All messages of this run up to this one, for a browser that was sent a part of them."""
        earlier = self._messages if self._tells == "changes" else []
        return [*(before for before in earlier if before is not message), message]

    def _stop_timers(self, message: ForwardMsg) -> list[ForwardMsg]:
        """What stops those that this one comes in place of; a run that is told as a whole stops all."""
        at = self._n_settings["auto_rerun"] - 1
        before, self._timed[at:] = self._timed[at:], [message.auto_rerun.fragment_id]
        return [ForwardMsg(stop_auto_rerun=StopAutoRerun(fragment_ids=before))] if before else []

    def _open(self, message: ForwardMsg, *, is_over: bool) -> ForwardMsg:
        self._begin()
        self._asked, self._script = message.new_session.page_script_hash, message.new_session.main_script_hash
        if message.metadata.run.fragment_ids:
            self._tells, self._page = "", None
        elif self._page is not None and (is_over or self._page == self._asked) and self._kept_bytes < KEPT_BYTES:
            self._tells = "changes"
        else:
            self._tells, self._page, self._kept_bytes = "whole", None, 0
            self._places.clear()
            for known in (self._timed, *self._settings.values()):
                known.clear()
            self._large = dict(list(self._large.items())[-MOST_LARGE:])
            self._run = message.metadata.run.script_run_id
        self._messages.append(message)
        was_in_part, self._is_in_part = self._is_in_part, self._tells == "changes"
        if was_in_part and self._is_in_part:
            return _wake()
        return self._of_part(message) if self._is_in_part else message

    def _close(self, message: ForwardMsg) -> list[ForwardMsg]:
        messages, drawn, n_settings = self._messages, self._drawn, self._n_settings
        finished, tells_changes = message.script_finished, self._tells == "changes"
        if finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:  # nothing is taken away
            self._is_in_part = False  # the next run is told to begin, for the same reason as after Back
            return [self._of_part(message) if tells_changes else message]
        if finished != ForwardMsg.FINISHED_SUCCESSFULLY or not self._tells:
            self._page = None
            return [self._of_part(message) if tells_changes else message]
        self._page = self._asked or None
        gone = self._places.keys() - drawn
        has_fewer_settings = any(n_settings[kind] < len(known) for kind, known in self._settings.items())
        for place in gone:
            del self._places[place]
        for kind, known in (*self._settings.items(), ("auto_rerun", self._timed)):
            del known[n_settings[kind] :]
        if tells_changes and not (has_fewer_settings or gone or self._has_lost_controls):
            return [ForwardMsg(script_finished=finished)]
        self._has_lost_controls = False
        if tells_changes and not has_fewer_settings:
            return [*self._take_away(gone, drawn, messages), self._of_part(message)]
        if tells_changes:
            self._run, self._is_in_part = messages[0].metadata.run.script_run_id, False
            return [*messages, message]
        return [message]

    def _is_news(self, is_running: bool, is_over: bool) -> bool:
        """Whether the browser has to be told that its run is under way, or that it is not."""
        is_known = is_running == self._is_running or (is_running and is_over)
        if is_known and self._tells == "changes" and not self._is_asked_again:
            return False
        if self._is_running and not is_running:
            self._is_asked_again = False
        self._is_running = is_running
        return True

    def _is_set(self, kind: str, message: ForwardMsg) -> bool:
        """Whether a setting is the one it was, and so are those of its kind before it."""
        known, at = self._settings[kind], self._n_settings[kind]
        self._n_settings[kind] += 1
        if known[at : at + 1] == [message.hash]:
            return True
        known[at:] = [message.hash]
        return False

    def _is_in_its_place(self, message: ForwardMsg) -> bool:
        """Whether this control stands there; one that has gone meanwhile is still reported, and comes back unset."""
        before = self._places.get(tuple(message.metadata.delta_path))
        return before is not None and before.control == control_of(message.delta)

    def _is_there(self, message: ForwardMsg) -> bool:
        """Whether what is drawn in a place is what stands there; if not, it stands there from now on."""
        place, delta = tuple(message.metadata.delta_path), message.delta
        kind = delta.WhichOneof("type")  # None: a message that the browser has kept from before, of an element
        if kind not in (None, "new_element", "add_block"):
            self._clear(place, itself=True)
            return False
        self._drawn.add(place)
        before, name = self._places.get(place), message.hash or message.ref_hash
        control, sets = control_of(delta), None
        if kind is None:
            control, sets = self._large.get(name, ("", None))
        elif kind == "new_element":
            sets = control if delta.new_element.has_one_shot_effect else None
            if message.metadata.cacheable:
                self._large[name] = control, sets
        block = delta.add_block.WhichOneof("type") or "block" if kind == "add_block" else ""
        there = self._places[place] = _There(name, block, control, sets)
        if there == before and (sets is None or (sets != "" and sets not in self._controls)):
            return True
        if before is not None and before.control not in ("", control):
            self._has_lost_controls = True
        if not block or before is None or before.block != block:  # else it keeps what is in it
            self._clear(place)
        return False

    def _take_away(self, gone: Set[Place], drawn: Set[Place], messages: Sequence[ForwardMsg]) -> Iterator[ForwardMsg]:
        """Nothing in the place of what is gone. A block that has lost all in it comes anew: it takes no room."""
        kept = {place[:-1] for place in drawn}
        for place in sorted({place[:-1] if place[:-1] in drawn - kept else place for place in gone}):
            if place[:-1] in gone:
                continue
            yield self._nothing(place)
            if place in drawn:
                yield next(message for message in messages if tuple(message.metadata.delta_path) == place)

    def _nothing(self, place: Place) -> ForwardMsg:
        message = ForwardMsg()
        message.delta.new_element.empty.SetInParent()
        message.metadata.delta_path[:] = place
        message.metadata.active_script_hash = self._script
        populate_hash_if_needed(message)
        return message

    def _of_part(self, message: ForwardMsg) -> ForwardMsg:
        """The beginning or the end of a run, as of one that tells a part of the page."""
        told = ForwardMsg()
        told.CopyFrom(message)
        told.metadata.run.script_run_id = self._run
        told.metadata.run.fragment_ids.append(PART)
        return told

    def _clear(self, place: Place, *, itself: bool = False) -> None:
        depth = len(place)
        for other in [other for other in self._places if other[:depth] == place and (itself or len(other) > depth)]:
            self._has_lost_controls = True
            del self._places[other]


def _wake() -> ForwardMsg:
    """A message that changes nothing, for a run's beginning.

    The browser goes through its page as soon as it has taken a message that changes something, and takes what has come
    with it only then. Of several it takes the first alone, and those after it together.
    """
    message = ForwardMsg()
    message.stop_auto_rerun.SetInParent()
    return message
