"""Words of a text by their place in it, and which word each token is a piece of."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from viz.models.spelling.pieces import Span


@cache
def _splitter() -> Any:
    from tokenizers import Regex, pre_tokenizers

    # Of scripts without spaces each character is a token.
    single = r"\p{Han}\p{Hiragana}\p{Katakana}"
    letter = rf"(?![{single}])[\p{{L}}\p{{M}}\p{{N}}_]"
    # Persian, Sinhala and others join and part letters by these.
    word = rf"{letter}(?:{letter}|[\x{{200C}}\x{{200D}}])*"
    # These marks part no word (UAX #29).
    inside = r"['’\x{B7}\x{387}\x{55F}\x{5F3}\x{5F4}\x{2027}]"
    inside = rf'(?:{inside}|(?<=\p{{Hebrew}})"(?=\p{{Hebrew}}))'
    # At each flag \X counts all flags before it, which is quadratic: they are cut two letters at a time.
    flag = r"[\x{1F1E6}-\x{1F1FF}]{2}[\p{M}\x{200C}\x{200D}\x{1F3FB}-\x{1F3FF}]*"
    pattern = Regex(rf"[{single}]\p{{M}}*|{word}(?:{inside}{word})*|{flag}|(?!\s)\X")
    return pre_tokenizers.Split(pattern, behavior="removed", invert=True)


def words_in(text: str) -> list[tuple[str, Span]]:
    """The words of a text and where they stand: Chinese characters and punctuation marks one by one."""
    words: list[tuple[str, Span]] = _splitter().pre_tokenize_str(text)
    return words


def number_words(text: str, spans: Sequence[Span], added: Sequence[bool]) -> tuple[tuple[int, ...], tuple[Span, ...]]:
    """Number the words from 0, and give each token the part of the text that it stands for.

    Tokens that touch one word are its pieces, whatever they hold; a token that touches several makes them one. A
    token of spaces alone belongs to the word right behind it, other white space is a word of its own, and so is what
    the tokenizer added. The pieces of a word cover all of it, with what the tokenizer leaves out (accents, joiners).
    """
    places, text_spans = [place for _, place in words_in(text)], _order_spans(spans)
    word_ranges = _find_word_ranges(text_spans, places)
    # A word begins behind what the tokenizer added, and at what it added.
    apart = [True, *map(bool, added)]
    numbers: list[int] = []
    number = -1
    for i, is_added in enumerate(added):
        if is_added or apart[i] or not _continues(text, text_spans, word_ranges, i):
            number += 1
        numbers.append(number)
    _fill(text_spans, numbers, word_ranges, places, added)
    return tuple(numbers), tuple(text_spans)


def _order_spans(spans: Sequence[Span]) -> list[Span]:
    """The spans in order; of tokens that stand for no text, an empty one at the end of the one before."""
    placements: list[Span] = []
    before, end_before = 0, 0
    for start, end in spans:
        if start >= end:
            before = end_before
        else:
            before, end_before = max(start, before), max(end, end_before)
        placements.append((before, end_before))
    return placements


def _find_word_ranges(spans: Sequence[Span], places: Sequence[Span]) -> list[Span]:
    """For each token the first of the words that it touches, and the one behind the last; equal if it touches none."""
    ranges: list[Span] = []
    starts, ends = [start for start, _ in places], [end for _, end in places]
    first = behind = 0
    n = len(places)
    for start, end in spans:
        while first < n and ends[first] <= start:
            first += 1
        behind = max(behind, first)
        while behind < n and starts[behind] < end:
            behind += 1
        ranges.append((first, behind))
    return ranges


def _continues(text: str, spans: Sequence[Span], word_ranges: Sequence[Span], i: int) -> bool:
    """Return True if a token is a further piece of the word that the one before it belongs to."""
    (first_before, behind_before), (first, behind) = word_ranges[i - 1], word_ranges[i]
    if first_before < behind_before:
        return first < behind_before and first < behind
    (start_before, end_before), (start, _) = spans[i - 1], spans[i]
    if first == behind:
        return start < end_before
    return text[start] != " " and not text[start_before:start].strip(" ")


def _fill(
    spans: list[Span],
    numbers: Sequence[int],
    word_ranges: Sequence[Span],
    places: Sequence[Span],
    added: Sequence[bool],
) -> None:
    """Let the first and the last piece of each word reach as far as the word does."""
    n = len(spans)
    for i, (first, behind) in enumerate(word_ranges):
        start, end = spans[i]
        if start == end:
            spans[i] = (spans[i - 1][1], spans[i - 1][1]) if i else (0, 0)
        if first == behind or added[i]:
            continue
        if places[first][0] < start and (i == 0 or numbers[i - 1] < numbers[i]):
            start = places[first][0]
        if end < places[behind - 1][1] and (i == n - 1 or numbers[i] < numbers[i + 1]):
            end = places[behind - 1][1]
        spans[i] = (start, end)
