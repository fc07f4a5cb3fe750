"""Answers about what a score is made of, and about heads whose outputs two texts exchange."""

from viz.lessons.key import Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
KINDS = ("word", "place", "head", "feed_forward")


def _facts(subject: Subject, *names: str) -> tuple[float, ...]:
    """Return what the page says of a score.

    Raises:
        PremiseError: "too_even" if it says nothing.
    """
    if not all(name in subject.facts for name in names):
        raise PremiseError("too_even")
    return tuple(subject.facts[name] for name in names)


@registered(ANSWERS, "option", codes=KINDS)
def reason_kind(subject: Subject) -> Key:
    """Kind of parts that brings most of a score where it stands at both ends, if that is half of it."""
    total, query, key, *amounts = _facts(subject, "total", "query", "key", *KINDS)
    amount = max(amounts)
    if amount < total / 2:
        raise PremiseError("too_even")
    names: Values = {"query": subject.name(int(query)), "key": subject.name(int(key))}
    return one_of(KINDS[amounts.index(amount)], **names, amount=amount, total=total)


@registered(ANSWERS, "word", "other")
def meeting_word(subject: Subject) -> Key:
    """Word that a head matches with a word at the query, of those that were brought to the key."""
    total, query, key, row, column, amount = _facts(subject, "total", "query", "key", "row", "column", "amount")
    if amount < total / 2 or not {row, column} <= set(subject.words):
        raise PremiseError("too_even")
    places = {"query": query, "key": key, "mine": row, "word": column}
    names: Values = {name: subject.name(int(place)) for name, place in places.items()}
    return Key(right=(int(column),), values={**names, "amount": amount, "total": total}, wrong=lambda _: ("other", {}))


@registered(ANSWERS, "option", codes=("places", "same", "between"))
def rows_after_exchange(subject: Subject) -> Key:
    """Return whether a key's weights in two texts change places when heads are exchanged."""
    key, *weights = _facts(subject, "key", "before", "before_b", "after", "after_b")
    before, before_b, after, after_b = weights
    gap = before - before_b
    shares = [(before - after) / gap, (after_b - before_b) / gap] if abs(gap) > 0.1 else []
    if not shares:
        raise PremiseError("too_even")
    code = "places" if min(shares) > 0.75 else "same" if max(shares) < 0.25 else "between"
    values = dict(zip(("before", "before_b", "after", "after_b"), map(Part, weights), strict=True))
    return one_of(code, key=subject.name(int(key)), **values)
