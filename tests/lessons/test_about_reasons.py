"""The answers about reasons: of random numbers beside plain Python, and of the lesson's own pages."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import Sample, hold, sample
from viz.lessons.about_reasons import ANSWERS
from viz.lessons.answers import key_of
from viz.lessons.key import PremiseError
from viz.lessons.lesson_file import lesson_named


def reason_kind(example: Sample) -> Any:
    facts = example.subject.facts
    best = max(("word", "place", "head", "feed_forward"), key=facts.__getitem__)
    return best if 2 * facts[best] >= facts["total"] else None


def meeting_word(example: Sample) -> Any:
    facts, labels = example.subject.facts, example.subject.labels
    are_words = all(labels[int(facts[name])].isalpha() for name in ("mine", "met"))
    return facts["met"] if are_words and 2 * facts["amount"] >= facts["total"] else None


def rows_after_exchange(example: Sample) -> Any:
    """Each weight as a part of the way from its own to the other's."""
    first, second, after, after_b = (example.subject.facts[name] for name in ("before", "before_b", "after", "after_b"))
    if abs(first - second) <= 0.1:
        return None
    ways = np.array([after - first, after_b - second]) / np.array([second - first, first - second])
    return "places" if (ways > 0.75).all() else "same" if (ways < 0.25).all() else "between"


REFERENCES = {work.__name__: work for work in (reason_kind, meeting_word, rows_after_exchange)}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_numpy(name):
    hold(ANSWERS[name], REFERENCES[name], {}, asks=40)


def test_without_numbers_nothing_is_asked():
    for function in ANSWERS.values():
        with pytest.raises(PremiseError, match="too_even"):
            function.work(replace(sample(0).subject, facts={}))


@pytest.mark.parametrize(("number", "right"), [(0, "place"), (1, 4), (2, "places")])
def test_lesson_asks_on_its_pages(number, right, open_app, monkeypatch):
    """By place; the red before bird; and the weights of old and steep change places."""
    from viz.modes.lesson import asked

    keys = []
    monkeypatch.setattr(asked, "key_of", lambda *args: keys.append(key_of(*args)) or keys[-1])
    step = lesson_named("why_there").steps[number]
    app = open_app("heads", lesson="why_there", lesson_step=number + 1, **step.link("en", is_open=True))
    assert not app.exception and [key.right for key in keys[:1]] == [(right,)]
