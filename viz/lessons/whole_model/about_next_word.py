"""Answers about a decoder's next word: its probabilities, what a temperature does to them, and who wrote it."""

from torch import Tensor

from viz.core.analysis.lens import chances
from viz.lessons.key import Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import SPACE, Decoder, Subject

ANSWERS: Registry = {}
CLEAR = 0.005
"""Two probabilities nearer than this are no difference to ask for."""


def _decoder(subject: Subject) -> Decoder:
    """Return the decoder; raise PremiseError, "no_decoder", where the page shows none."""
    if subject.decoder is None:
        raise PremiseError("no_decoder")
    return subject.decoder


def _likeliest(subject: Subject, temperature: float = 1.0) -> tuple[Tensor, int, Values]:
    """Return the probabilities (V,), the likeliest word's number, and what sentences are filled in with."""
    decoder = _decoder(subject)
    probabilities = chances(decoder.logits[decoder.at].double() / temperature)
    best = int(decoder.logits[decoder.at].argmax())
    word, token = decoder.word(best).removeprefix(SPACE), subject.name(decoder.at)
    values: Values = {"word": word, "chance": Part(probabilities[best]), "token": token}
    return probabilities, best, values


@registered(ANSWERS, "option", codes=("one", "few", "all"))
def words_with_a_chance(subject: Subject) -> Key:
    """Number of words of the vocabulary with a probability above 0."""
    probabilities, _, values = _likeliest(subject)
    n = int((probabilities > 0).sum())
    return one_of(
        "all" if n == len(probabilities) else "one" if n == 1 else "few", n=n, vocabulary=len(probabilities), **values
    )


@registered(ANSWERS, "option", codes=("first", "second", "same"))
def likelier(subject: Subject, first: str, second: str) -> Key:
    """Return which of two words the model finds likelier to come next."""
    decoder = _decoder(subject)
    probabilities, _, values = _likeliest(subject)
    places = [decoder.token(word) for word in (first, second)]
    if None in places:
        raise PremiseError("not_writable", word=first if places[0] is None else second)
    if places[0] == places[1]:
        raise PremiseError("same_token", first=first, second=second)
    before, after = (float(probabilities[place]) for place in places)
    code = "same" if abs(before - after) < CLEAR else "first" if before > after else "second"
    both: Values = {"first": first, "second": second, "first_chance": Part(before), "second_chance": Part(after)}
    return one_of(code, **both, **values)


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def hotter(subject: Subject, temperature: float) -> Key:
    """Return what becomes of the likeliest word's probability at another temperature."""
    cold, best, values = _likeliest(subject)
    hot, *_ = _likeliest(subject, temperature)
    before, after = float(cold[best]), float(hot[best])
    code = "same" if abs(after - before) < CLEAR else "more" if after > before else "less"
    return one_of(code, T=temperature, hot=Part(after), vocabulary=len(cold), **values)


@registered(ANSWERS, "number", "never", "likeliest", "other")
def drawn_otherwise(subject: Subject) -> Key:
    """Number of a hundred words drawn by their probabilities are other than the likeliest, on average."""
    probabilities, best, values = _likeliest(subject)
    chance = float(probabilities[best])
    right = 100 * (1 - chance)
    # The two are printed as parts of 1; near 0 and 1 the probability has no two digits to subtract.
    rest = right if min(chance, 1 - chance) < 0.005 else 100 - round(100 * chance)
    return Key(right=(right,), values={"others": rest, **values}, traps={"never": 0.0, "likeliest": 100 - right})


@registered(ANSWERS, "number", "wrong_ones", "all", "other")
def guessed_right(subject: Subject) -> Key:
    """Number of places of a text at which the likeliest word is the one that comes next."""
    decoder = _decoder(subject)
    n = len(decoder.ids) - 1
    if n < 3:
        raise PremiseError("too_short", n=4)
    n_right = sum(int(row.argmax()) == after for row, after in zip(decoder.logits, decoder.ids[1:], strict=False))
    traps = {"wrong_ones": float(n - n_right), "all": float(n)}
    values: Values = {"n": n, "right": n_right, "wrong": n - n_right}
    return Key(
        right=(float(n_right),), values=values, traps={name: trap for name, trap in traps.items() if trap != n_right}
    )


@registered(ANSWERS, "option", codes=("heads", "feed_forward", "embedding"))
def writes_most(subject: Subject) -> Key:
    """Return which parts of the model write most of the followed word's logit: all heads, or all feed-forward parts."""
    decoder = _decoder(subject)
    parts = dict(decoder.parts)
    if not parts:
        raise PremiseError("no_decoder")
    first, second, _ = sorted(parts, key=lambda name: -parts[name])
    if parts[first] - parts[second] < CLEAR:
        raise PremiseError("parts_too_close")
    return one_of(first, followed=decoder.followed.removeprefix(SPACE), token=subject.name(decoder.at), **parts)
