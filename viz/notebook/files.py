"""Files that a grid is saved in: where they can be, and sentences where they cannot."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from viz.components.take_away import PooledStack
from viz.text import fill


def file_at(path: Any) -> Path:
    """Return the file that a path names; ``~`` is the home folder.

    Raises:
        ValueError: a sentence, if it is no path.
        OSError: a sentence, if no file can be there.
    """
    try:
        file = Path(os.fsdecode(path)).expanduser()
        is_folder, has_folder = file.is_dir(), file.parent.is_dir()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path!r} is no name of a file ({error}): save_html('heads.html').") from error
    except OSError as error:
        raise _refusal(file, error) from error
    if is_folder:
        raise IsADirectoryError(f"{file} is a folder: name a file in it, such as {str(file / 'heads.html')!r}.")
    if not has_folder or "\0" in str(file):
        raise FileNotFoundError(f"There is no folder {file.parent} in which a file {file.name!r} can be.")
    return file


def write_file(file: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        OSError: of the system's own class, with a sentence.
    """
    try:
        file.write_bytes(content)
    except OSError as error:
        raise _refusal(file, error) from error


def _refusal(file: Path, error: OSError) -> OSError:
    return type(error)(f"{file} could not be written: {error.strerror}.")


def places_of(heads: Any) -> list[tuple[int, int]]:
    """Return the (layer, head) that are named; none for "all".

    Raises:
        ValueError: if they are no such list.
    """
    if isinstance(heads, str) and heads == "all":
        return []
    places = list(heads) if isinstance(heads, Iterable) and not isinstance(heads, str) else [heads]
    if any(not isinstance(place, tuple | list) or len(place) != 2 for place in places):
        raise ValueError(f'heads={heads!r} is no list of (layer, head): heads=[(3, 1), (3, 4)], or heads="all".')
    return [(layer, head) for layer, head in places]


def megabytes(size: int) -> str:
    """Return a number of bytes in megabytes."""
    return f"{size / 1e6:,.1f}"


def pooled_fact(around: Mapping[str, str], stacks: Sequence[PooledStack]) -> str:
    """Say of each stack in a file how its maps were pooled, and which heads are whole."""
    sentences = []
    for stack in stacks:
        exact_places = [divmod(index, stack.n_heads) for index in stack.exact]
        names = ", ".join(f"{stack.numbers[place]}·{head}" for place, head in exact_places)
        values = {"name": around[f"stack_{stack.name}"], "p": stack.pool, "heads": names}
        sentences.append(fill(around["pooled_with" if exact_places else "pooled_all"], **values))
    return " ".join(sentences)


def size_facts(around: Mapping[str, str], n_layers: int, n_heads: int, n: int) -> tuple[str, str]:
    """Say how many heads of how many tokens there are, and the day."""
    what = fill(around["layers"], layers=n_layers, heads=n_heads, n=n)
    return what, fill(around["saved"], date=date.today().isoformat())


def no_head(layer: int, head: int, layers: Iterable[int], n_heads: int) -> str:
    """Say which heads there are, in place of one that is not."""
    numbers = ", ".join(map(str, layers))
    return f"There is no layer {layer}, head {head} here: layers are {numbers}, with {n_heads} heads each."


def with_heads(stack: PooledStack, places: Sequence[tuple[str, int, int]] | None) -> PooledStack:
    """Return a stack with these of its heads whole.

    Raises:
        ValueError: if it has no such head.
    """
    if places is None:
        return replace(stack, exact=range(stack.n_layers * stack.n_heads))
    head_indices = []
    for layer, head in ((layer, head) for name, layer, head in places if name == stack.name):
        if layer not in stack.numbers or not 0 <= head < stack.n_heads:
            raise ValueError(no_head(layer, head, stack.numbers, stack.n_heads))
        head_indices.append(stack.numbers.index(layer) * stack.n_heads + head)
    return replace(stack, exact=tuple(dict.fromkeys(head_indices)))
