"""Tokens that are bytes, as tiktoken has them, or written in GPT-2's alphabet for bytes, as readable text."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache

DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@cache
def byte_alphabet() -> dict[str, int]:
    """The letter that byte-level tokenizers write for each byte: printable Latin-1 as itself, others from U+0100 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + i): byte for i, byte in enumerate(others)}


def as_bytes(tokens: Sequence[str | bytes], is_special: Sequence[bool]) -> list[bytes | None] | None:
    """Return the bytes of each token (None for a special one), or None where the tokens are not written as bytes.

    Words of a Latin alphabet may use the same letters. So a token must begin with the letter for a space, or the
    letters must spell UTF-8 beyond ASCII, which words by chance do not.
    """
    if any(isinstance(token, bytes) for token in tokens):
        return [token if isinstance(token, bytes) else None for token in tokens]
    letters = byte_alphabet()
    found: list[bytes | None] = []
    for token, special in zip(tokens, is_special, strict=True):
        spelled = str(token)
        is_bytes = not special and all(letter in letters for letter in spelled)
        found.append(bytes(letters[letter] for letter in spelled) if is_bytes else None)
        if not is_bytes and not special:
            return None
    has_space = any(str(token).startswith("Ġ") for token in tokens)
    return found if has_space or _is_utf8_beyond_ascii(b"".join(part or b"" for part in found)) else None


def _is_utf8_beyond_ascii(content: bytes) -> bool:
    """Whether bytes are UTF-8 with a letter that ASCII lacks; a letter may be cut at either end."""
    while content and content[0] & 0xC0 == 0x80:
        content = content[1:]
    text = content.decode("utf-8", "replace")
    return "\ufffd" not in text.rstrip("\ufffd") and any(letter > "\x7f" for letter in text.rstrip("\ufffd"))


def spell(parts: Sequence[bytes | None]) -> list[str | None]:
    """Return the text of each part; one that holds a piece of a character is that character with the piece's number.

    Example:
        >>> spell(["猫".encode()[:2], "猫".encode()[2:], b"!"])
        ['猫₁', '猫₂', '!']
    """
    content = b"".join(part or b"" for part in parts)
    starts = _starts(content)
    shown: list[str | None] = []
    at, pieces = 0, dict[int, int]()
    for part in parts:
        if part is None:
            shown.append(None)
            continue
        end = at + len(part)
        first = starts[bisect_right(starts, at) - 1] if starts and starts[0] <= at else at
        last = next(iter(starts[bisect_left(starts, end) :][:1]), len(content))
        text = content[first:last].decode("utf-8", "replace")
        cut = [first] if first < at else []  # the characters it holds a piece of, by where they begin
        cut += [starts[bisect_left(starts, end) - 1]] if part and last > end else []
        for start in dict.fromkeys(cut):
            pieces[start] = pieces.get(start, 0) + 1
        text += str(pieces[cut[0]]).translate(DIGITS) if cut else ""
        if "\ufffd" in text:
            text = "".join(f"⟨{byte:02X}⟩" for byte in part)
        shown.append(text)
        at = end
    return shown


def _starts(content: bytes) -> list[int]:
    """Where characters begin."""
    return [at for at, byte in enumerate(content) if byte & 0xC0 != 0x80]
