"""What is left out of a run is what the browser holds: beside a browser that is told everything, it shows the same."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from streamlit.proto.AutoRerun_pb2 import AutoRerun
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Navigation_pb2 import Navigation
from streamlit.proto.PageConfig_pb2 import PageConfig
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed

from viz.streamlit_internals.changes import KEPT_BYTES, Held

FINISHED, EARLY = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
ALL, CHANGES = 4, 2
"""Messages of a run of two elements that is told as a whole, and of one that has nothing to tell."""
NOTHING = "st.empty"
BLOCKS = "flex_container", "popover", "expandable"
KEYS = "xy"
"""The texts of elements that have a key."""
Drawn = tuple[str, list[Any]]
"""A block: its kind, and what is in it; an element is its text."""


@dataclass
class Node:
    """What a browser holds in one place; a block has a list of what is in it."""

    said: str
    kind: str
    run: str
    inside: list["Node"] | None = None
    key: str = ""

    def shown(self) -> Any:
        if self.inside is None:
            return self.said
        assert not self.inside or any(node.said != NOTHING for node in self.inside), "it would take room"
        return self.said, [node.shown() for node in self.inside if node.said != NOTHING]


def _page() -> Node:
    return Node("", "", "", [Node("", "", "", []) for _ in range(4)])


@dataclass
class Browser:
    """Streamlit's page, as far as it holds elements (its AppRoot, and what it does when a run is finished)."""

    page: str = ""
    run: str = ""
    parts: list[str] = field(default_factory=list)
    messages: int = 0
    root: Node = field(default_factory=_page)
    settings: dict[str, str] = field(default_factory=dict)
    retained: list[Node] = field(default_factory=list)
    """What had a key, of an earlier run, and has another in its place: it is kept until a whole run has ended."""
    keys: dict[str, str] = field(default_factory=dict)
    """Of messages that may come again by their names."""
    reported: set[str] = field(default_factory=set)
    """The controls whose values go to the server with every change."""
    is_running: bool = False
    timed: set[str] = field(default_factory=set)
    """The parts that are drawn again by themselves."""

    def take(self, message: ForwardMsg) -> None:
        self.messages += 1
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.run, self.parts = message.metadata.run.script_run_id, [*message.metadata.run.fragment_ids]
            if not self.parts:
                self.page = message.new_session.page_script_hash
                self.timed.clear()
        elif kind == "navigation":
            self.page = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self.timed.add(message.auto_rerun.fragment_id)
        elif kind == "page_config_changed":
            self.settings["title"] = message.page_config_changed.title or self.settings.get("title", "")
            self.settings["icon"] = message.page_config_changed.favicon or self.settings.get("icon", "")
        elif kind == "session_status_changed":
            self.is_running = message.session_status_changed.script_is_running
        elif kind == "script_finished" and message.metadata.run.script_run_id:  # without it nothing is tidied
            assert [*message.metadata.run.fragment_ids] == self.parts
            if message.script_finished == FINISHED and not self.parts:
                self._clear(self.root)
                self.retained.clear()
            if message.script_finished == FINISHED:
                self.reported &= set(self._controls(self.root))
        elif kind == "stop_auto_rerun":
            self.timed -= {*message.stop_auto_rerun.fragment_ids}
        elif kind == "script_finished":
            pass
        else:
            self._put(message)

    def _put(self, message: ForwardMsg) -> None:
        *way, at = message.metadata.delta_path
        inside = self.root.inside
        for place in way:
            assert inside is not None
            inside[place].run = self.run
            inside = inside[place].inside
        assert inside is not None and at <= len(inside)
        said, delta = message.hash or message.ref_hash, message.delta
        if delta.new_element.HasField("empty"):
            said = NOTHING
        kind = (delta.add_block.WhichOneof("type") or "") if delta.HasField("add_block") else ""
        before = inside[at] if at < len(inside) else None
        held: list[Node] | None = [] if kind else None
        if kind and before is not None and before.kind == kind:
            held = before.inside
        key = delta.new_element.slider.id if delta.HasField("new_element") else self.keys.get(said, "")
        self.keys[said] = key
        self.reported |= {key} - {""}
        if before is not None and before.key and before.key != key and before.run != self.run:
            self.retained.append(before)
        inside[at : at + 1] = [Node(said, kind, self.run, held, key)]

    def _controls(self, node: Node) -> Iterator[str]:
        yield node.key
        for each in node.inside or ():
            yield from self._controls(each)

    def _clear(self, block: Node) -> None:
        """Take away what was not said in a run that told all; of a part nothing of ours is taken away."""
        assert block.inside is not None
        for node in block.inside:
            if node.inside is not None:
                self._clear(node)
        if block is not self.root:
            block.inside[:] = [node for node in block.inside if node.run == self.run]


def begin(run: int, page: str = "a page") -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.metadata.run.script_run_id = str(run)
    return message


def end(run: int, status: Any = FINISHED) -> ForwardMsg:
    message = ForwardMsg(script_finished=status)
    message.metadata.run.script_run_id = str(run)
    return message


def status(*, is_running: bool) -> ForwardMsg:
    message = ForwardMsg()
    message.session_status_changed.script_is_running = is_running
    return message


def named(message: ForwardMsg) -> ForwardMsg:
    """The message with the name that Streamlit gives it by what is in it."""
    populate_hash_if_needed(message)
    return message


def title(text: str) -> ForwardMsg:
    return named(ForwardMsg(page_config_changed=PageConfig(title=text)))


def navigation(page: str) -> ForwardMsg:
    return named(ForwardMsg(navigation=Navigation(page_script_hash=page)))


def timer(part: str) -> ForwardMsg:
    return named(ForwardMsg(auto_rerun=AutoRerun(fragment_id=part)))


def element(place: list[int], text: str, *, forced: bool = False) -> ForwardMsg:
    message = ForwardMsg()
    if text in KEYS:
        message.delta.new_element.slider.id = text
    elif forced:
        message.delta.new_element.slider.id, message.delta.new_element.slider.label = "slider", text
        message.delta.new_element.has_one_shot_effect = message.delta.new_element.slider.set_value = True
    else:
        message.delta.new_element.markdown.body = text
    message.metadata.delta_path[:] = place
    return named(message)


def block(place: list[int], kind: str, name: str = "") -> ForwardMsg:
    message = ForwardMsg()
    getattr(message.delta.add_block, kind).SetInParent()
    message.delta.add_block.id = name
    message.metadata.delta_path[:] = place
    return named(message)


def drawn(inside: list[Any], place: tuple[int, ...] = (0,)) -> Iterator[ForwardMsg]:
    """The messages of a page's main part."""
    for at, each in enumerate(inside):
        here = [*place, at]
        if isinstance(each, str):
            yield element(here, each)
        else:
            yield block(here, each[0])
            yield from drawn(each[1], tuple(here))


def changed(page: list[Any], draw: random.Random, depth: int = 0) -> list[Any]:
    """The page after somebody has changed something: texts, blocks, how many there are."""
    after: list[Any] = []
    for each in page:
        what = draw.random()
        if what < 0.015:
            continue
        if what < 0.05:
            after.append(draw.choice("abcabcabcxy"))
        elif isinstance(each, str):
            after.append(each)
        else:
            after.append((each[0], changed(each[1], draw, depth + 1)))
        if what > 0.97 and depth < 3:
            after.append((draw.choice(BLOCKS), [draw.choice("abc"), draw.choice("abc")]))
    return after


@pytest.mark.parametrize("seed", range(10))
def test_a_browser_that_is_told_the_changes_shows_what_one_shows_that_is_told_all(seed):
    draw = random.Random(seed)
    page: list[Any] = ["a", ("flex_container", ["b", ("popover", ["a", "c"]), ("flex_container", ["a"])]), "c"]
    held, ours, theirs = Held(), Browser(), Browser()
    known: set[str] = set()
    for run in range(60):
        page = changed(page, draw) or ["a"]
        path = draw.choice(["a page"] * 3 + ["another"])
        timers = [timer(part) for part in ("measured", f"of {path}") if part != "measured" or draw.random() < 0.3]
        messages = [title("a title"), navigation(path), title(draw.choice("aaab")), *drawn(page), *timers]
        messages = [create_reference_msg(each) if each.hash in known else each for each in messages]
        is_early = draw.random() < 0.15
        if is_early:
            del messages[draw.randrange(len(messages)) :]
        for each in messages:
            if each.delta.HasField("new_element") and draw.random() < 0.2:
                each.metadata.cacheable = True
                known.add(each.hash)
        for message in (
            begin(run, path),
            status(is_running=True),
            *messages,
            end(run, EARLY if is_early else FINISHED),
            status(is_running=False),
        ):
            theirs.take(message)
            for told in held.to_send(message, is_over=run % 2 == 0):
                ours.take(told)
        if not is_early:
            assert (ours.root.shown(), ours.settings) == (theirs.root.shown(), theirs.settings)
            assert ours.reported == theirs.reported and not ours.is_running
            assert (ours.page, ours.timed) == (theirs.page, theirs.timed)
            assert not ours.retained
    assert ours.messages < theirs.messages


def told(held: Held, *messages: ForwardMsg, run: int = 0) -> int:
    """How many messages are sent of a run."""
    return sum(len(held.to_send(message)) for message in (begin(run), *messages, end(run)))


def test_a_browser_is_told_that_a_run_is_under_way_if_it_still_is():
    held, page = Held(), [element([0, 0], "a")]
    kinds = []
    for is_over in (False, True, False, True):
        run = [begin(1), status(is_running=True), *page, end(1), status(is_running=False)]
        sent = [each for message in run for each in held.to_send(message, is_over=is_over)]
        kinds.append([each.WhichOneof("type") for each in sent])
    wake, said = "stop_auto_rerun", "session_status_changed"
    assert kinds == [
        ["new_session", said, "delta", "script_finished", said],
        ["new_session", "script_finished"],  # of a part, from now on
        [wake, said, "script_finished", said],
        [wake, "script_finished"],
    ]


def test_a_browser_that_only_asks_for_another_run_waits_to_be_told_of_it():
    held, page = Held(), [element([0, 0], "a")]
    said = []
    for value, pressed in ((1, False), (2, False), (2, True), (2, False), (2, False), (1, False)):
        asked = ClientState()
        asked.widget_states.widgets.add(id="slider", int_value=value)
        if pressed:
            asked.widget_states.widgets.add(id="button", trigger_value=True)
        held.note_request(asked)
        run = [begin(1), status(is_running=True), *page, end(1), status(is_running=False)]
        sent = [each for message in run for each in held.to_send(message, is_over=True)]
        said.append([each.WhichOneof("type") for each in sent].count("session_status_changed"))
    assert said == [2, 0, 0, 2, 2, 0]


def test_whoever_asked_for_another_run_is_told_of_one_though_something_else_is_changed_at_once():
    held, page = Held(), [element([0, 0], "a")]
    for value in (1, 2, 2, 3):  # the last two before either is answered
        asked = ClientState()
        asked.widget_states.widgets.add(id="slider", int_value=value)
        held.note_request(asked)
        if value == 1:
            told(held, *page)
    run = [begin(1), status(is_running=True), *page, end(1), status(is_running=False)]
    said = []
    for _ in range(2):
        sent = [each for message in run for each in held.to_send(message, is_over=True)]
        said.append([each.WhichOneof("type") for each in sent].count("session_status_changed"))
    assert said == [2, 0]


def test_a_run_that_back_asked_for_is_told_to_begin():
    held, page, back = Held(), [element([0, 0], "a")], ClientState(is_history_navigation=True)
    begun = []
    for asked in (ClientState(), ClientState(), ClientState(), back, ClientState()):
        held.note_request(asked)
        sent = [each for message in (begin(1), *page, end(1)) for each in held.to_send(message)]
        begun.append(sent[0].WhichOneof("type"))
    assert begun == ["new_session", "new_session", "stop_auto_rerun", "new_session", "stop_auto_rerun"]


def test_a_run_after_one_that_was_cut_short_is_told_to_begin():
    held, page = Held(), [element([0, 0], "a")]
    assert [told(held, *page, run=run) for run in (1, 2, 3)] == [ALL - 1, CHANGES, CHANGES]
    cut = [each for message in (begin(4), end(4, EARLY)) for each in held.to_send(message)]
    assert [each.metadata.run.fragment_ids[:] for each in cut] == [[], ["changes"]]
    (first,) = held.to_send(begin(5))
    assert first.WhichOneof("type") == "new_session" and first.metadata.run.fragment_ids[:] == ["changes"]


def test_the_controls_of_a_run_that_was_cut_short_are_forgotten_after_the_next():
    held, there, gone = Held(), [element([0, 0], "x")], [element([0, 0], "a")]
    assert [told(held, *there, run=run) for run in (1, 2)] == [ALL - 1, CHANGES]
    for message in (begin(3), *gone, end(3, EARLY), begin(4), *gone):
        held.to_send(message)
    (last,) = held.to_send(end(4))
    assert last.metadata.run.script_run_id == "1", "it is tidied after this one"
    for message in (begin(5), *gone):
        held.to_send(message)
    (last,) = held.to_send(end(5))
    assert not last.metadata.run.script_run_id, "and not again"


def test_nothing_is_told_once_in_the_place_of_what_is_gone():
    held, less, more = Held(), [element([0, 0], "a")], [block([0, 1], "popover"), element([0, 1, 0], "b")]
    assert told(held, *less, *more) == ALL + 1
    assert [told(held, *less) for _ in range(2)] == [CHANGES + 1, CHANGES]
    assert [told(held, *less, *more) for _ in range(2)] == [CHANGES + 2, CHANGES], "it comes back as it was"


def test_a_control_is_set_again_where_it_may_have_been_moved_meanwhile():
    held, page = Held(), [element([0, 0], "a"), element([0, 1], "b", forced=True)]
    assert [told(held, *page) for _ in range(2)] == [ALL, CHANGES], "nobody has seen it: it is set when it is unfolded"
    asked = ClientState()
    asked.widget_states.widgets.add(id="slider")
    held.note_request(asked)
    assert told(held, *page) == CHANGES + 1


def test_after_a_run_of_a_fragment_and_after_an_error_a_page_is_told_as_a_whole():
    page = [element([0, 0], "a"), element([0, 1], "b")]
    of_fragment = begin(2)
    of_fragment.metadata.run.fragment_ids.append("a fragment")
    for interruption in (
        [of_fragment, element([0, 1], "c"), end(2)],
        [begin(3), end(3, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)],
    ):
        held = Held()
        assert [told(held, *page) for _ in range(2)] == [ALL, CHANGES]
        assert sum(len(held.to_send(message)) for message in interruption) == len(interruption), "as Streamlit tells it"
        assert [told(held, *page) for _ in range(2)] == [ALL, CHANGES]


def test_another_page_is_told_by_what_changes_unless_it_takes_long():
    held, there = Held(), [element([0, 0], "a"), timer("of a page")]
    assert told(held, *there) == ALL
    run = [begin(2, "another"), navigation("another"), element([0, 0], "a"), element([0, 1], "b"), timer("of another")]
    sent = [each for message in (*run, end(2)) for each in held.to_send(message, is_over=True)]
    kinds = ["new_session", "navigation", "delta", "stop_auto_rerun", "auto_rerun", "script_finished"]
    assert [each.WhichOneof("type") for each in sent] == kinds
    assert sent[0].metadata.run.fragment_ids[:] == ["changes"]
    assert sent[3].stop_auto_rerun.fragment_ids[:] == ["of a page"]
    long = [each for message in (begin(3), navigation("a page"), *there, end(3)) for each in held.to_send(message)]
    assert [each.WhichOneof("type") for each in long] == [
        "new_session",
        "navigation",
        "delta",
        "auto_rerun",
        "script_finished",
    ]
    assert not long[0].metadata.run.fragment_ids, "so that what is there is marked as out of date"


def test_what_goes_with_a_page_leaves_its_place():
    held, first = Held(), begin(1)
    first.new_session.main_script_hash = "the script"
    for message in (first, element([0, 0], "a"), element([0, 1], "b"), end(1)):
        held.to_send(message)
    second = begin(2, "another")
    second.new_session.main_script_hash = "the script"
    sent = [each for message in (second, element([0, 0], "a"), end(2)) for each in held.to_send(message, is_over=True)]
    (nothing,) = [each for each in sent if each.delta.new_element.HasField("empty")]
    assert (nothing.metadata.delta_path[:], nothing.metadata.active_script_hash) == ([0, 1], "the script")


def test_a_control_that_says_what_it_is_to_say_is_not_set_unless_it_has_gone_meanwhile():
    """Whoever goes to another page and back at once reports a control that is gone when the answer comes."""
    held, control = Held(), element([0, 0], "a", forced=True)
    asked = ClientState()
    asked.widget_states.widgets.add(id="slider").double_array_value.data[:] = []
    held.note_request(asked)

    def set_values(*page: ForwardMsg) -> list[bool]:
        sent = [each for message in (begin(1), *page, end(1)) for each in held.to_send(message)]
        return [each.delta.new_element.slider.set_value for each in sent if each.delta.new_element.HasField("slider")]

    assert [set_values(control) for _ in range(3)] == [[True], [False], []]
    assert set_values(element([0, 0], "b")) == []
    held.note_request(asked)  # sent before that came
    assert set_values(control) == [True], "it would come at its default"


def test_a_link_leads_to_the_page_that_its_path_names():
    held = Held()
    messages = navigation("the page of the path"), element([0, 0], "a")
    assert sum(len(held.to_send(message)) for message in (begin(1, "the first page"), *messages, end(1))) == ALL
    assert (
        sum(len(held.to_send(message)) for message in (begin(2, "the page of the path"), *messages, end(2))) == CHANGES
    )


def test_a_browser_is_not_left_to_keep_ever_more_large_messages():
    held, small = Held(), element([0, 0], "a")
    sent = []
    for number in range(12):
        large = element([0, 1], str(number) * (KEPT_BYTES // 8))
        assert large.metadata.cacheable
        sent.append(told(held, small, large))
    assert sent.count(ALL) == 2 and sent.count(CHANGES + 1) == 10


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_whole_run_after_failure_shows_all(seed, is_done):
    """A browser whose filter fails anywhere in a run, before or after its work, shows at the end what others show."""
    draw = random.Random(seed)
    page: list[Any] = ["a", ("flex_container", ["b", ("popover", ["a", "c"])]), "c", "b"]
    held, ours, theirs = Held(), Browser(), Browser()
    fails_in = draw.randrange(1, 5)
    for run in range(6):
        page = changed(page, draw) or ["a"]
        messages = [begin(run), status(is_running=True), *drawn(page), end(run), status(is_running=False)]
        fails_at = draw.randrange(len(messages))
        for at, message in enumerate(messages):
            theirs.take(message)
            if (run, at) < (fails_in, fails_at):
                answers = held.to_send(message, is_over=True)
            elif (run, at) == (fails_in, fails_at):
                if is_done and at + 2 < len(messages):  # at the end of a run it has let go of all of it
                    held.to_send(message, is_over=True)
                answers = held.whole_run(message)
            else:
                answers = [message]
            for each in answers:
                ours.take(each)
        assert ours.root.shown() == theirs.root.shown()
        assert ours.is_running is False
