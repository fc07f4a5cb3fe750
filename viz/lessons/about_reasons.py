"""Answers about what a score is made of, and about heads whose outputs two texts exchange."""

from viz.lessons.key import Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
KINDS = ("word", "place", "head", "feed_forward")


def _holds(subject: Subject, amount: float, *places: str) -> Values:
    """Return the values of sentences about an amount that is half of a score or more.

    Raises:
        PremiseError: "too_even" if it is not, or the page says nothing of a score.
    """
    total = subject.facts.get("total", 0.0)
    if amount < total / 2 or total < 1:
        raise PremiseError("too_even")
    return {name: subject.name(int(subject.facts[name])) for name in places} | {"amount": amount, "total": total}


@registered(ANSWERS, "option", codes=KINDS)
def reason_kind(subject: Subject) -> Key:
    """Kind of parts that brings most of a score where it stands at both ends, if that is half of it."""
    kind = max(KINDS, key=lambda kind: subject.facts.get(kind, 0.0))
    return one_of(kind, **_holds(subject, subject.facts.get(kind, 0.0), "query", "key"))


@registered(ANSWERS, "word", "other")
def meeting_word(subject: Subject) -> Key:
    """Word that a head matches with a word at the query, of those that were brought to the key."""
    values = _holds(subject, subject.facts.get("amount", 0.0), "query", "key", "mine", "met")
    if not {subject.facts["mine"], subject.facts["met"]} <= {*subject.words}:
        raise PremiseError("too_even")
    return Key(right=(int(subject.facts["met"]),), values=values)


@registered(ANSWERS, "option", codes=("places", "same", "between"))
def rows_after_exchange(subject: Subject) -> Key:
    """Return whether a key's weights in two texts change places when heads are exchanged."""
    values = {name: Part(subject.facts.get(name, 0.0)) for name in ("before", "before_b", "after", "after_b")}
    before, before_b, after, after_b = values.values()
    gap = before - before_b
    if abs(gap) <= 0.1:
        raise PremiseError("too_even")
    shares = (before - after) / gap, (after_b - before_b) / gap
    code = "places" if min(shares) > 0.75 else "same" if max(shares) < 0.25 else "between"
    return one_of(code, key=subject.name(int(subject.facts["key"])), **values)
