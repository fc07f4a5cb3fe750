"""A model's tokenizer, from tokenizer.json or from the files that older libraries wrote in its stead."""

from pathlib import Path
from typing import Any

from viz.errors import ModelError
from viz.models.checks import find_tokenizer_problem
from viz.models.folders import sentencepiece
from viz.models.folders.files import check_pointers, corrupt, read_if_object
from viz.models.registry import Entry

GENERIC = ("PreTrainedTokenizerFast", "PreTrainedTokenizer", "TokenizersBackend")
"""Classes of tokenizers that say nothing about how a text is cut."""
OPTIONS = {"trust_remote_code": False, "local_files_only": True}
TOGETHER = {"vocab.json": "merges.txt", "merges.txt": "vocab.json"}
"""Files of which neither is of use without the other."""


def read_tokenizer(entry: Entry, folder: Path) -> Any:
    """Return the tokenizer of a folder; a fast one, which says what characters each token stands for.

    Raises:
        ModelError: "sentencepiece", "not_sentencepiece", "slow_tokenizer", "pointer", "slow_class", "missing" or
            "corrupt".
    """
    if (file := sentencepiece.find_file(folder)) is not None:
        check_pointers(entry, [file])
        return _read_pieces(entry, file)
    if (fast := folder / "tokenizer.json").is_file():
        check_pointers(entry, [fast])
    else:
        _check_old_files(entry, folder)
    try:
        import transformers

        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **OPTIONS, **_kind(folder))
        if not tokenizer.is_fast:
            raise ModelError("slow_class", model=entry.id, kind=type(tokenizer).__name__)
    except ModelError:
        raise
    except Exception as error:
        raise corrupt(entry, error) from error
    if reason := find_tokenizer_problem(tokenizer) or _lost(tokenizer, folder):
        raise corrupt(entry, reason)
    return tokenizer


def _kind(folder: Path) -> dict[str, str]:
    """Name the model's family where only a class that reads tokenizer.json is named, and there is none."""
    settings, config = (read_if_object(folder / name) for name in ("tokenizer_config.json", "config.json"))
    if (folder / "tokenizer.json").is_file() or settings.get("tokenizer_class") not in GENERIC:
        return {}
    family = config.get("model_type")
    return {"tokenizer_type": family} if isinstance(family, str) else {}


def _read_pieces(entry: Entry, file: Path) -> Any:
    """The tokenizer of a folder with a file of SentencePiece alone."""
    proto = sentencepiece.check_file(entry, file)
    try:
        import transformers

        tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **OPTIONS)
        is_merged = proto.trainer_spec.model_type == proto.trainer_spec.BPE
        # Nothing in the folder names the tokenizer's class.
        if is_merged and type(tokenizer) is transformers.PreTrainedTokenizerFast:
            tokenizer = transformers.LlamaTokenizer.from_pretrained(file.parent, **OPTIONS)
        if not tokenizer.is_fast:
            raise sentencepiece.refusal(entry, file, "no fast tokenizer")
        sentencepiece.follow_file(tokenizer, proto)
        sentencepiece.add_begin(entry, tokenizer, file.parent)
        reason = find_tokenizer_problem(tokenizer) or sentencepiece.find_difference(tokenizer, proto)
    except ModelError:
        raise
    except Exception as error:
        raise sentencepiece.refusal(entry, file, type(error).__name__) from error
    if reason:
        raise sentencepiece.refusal(entry, file, reason)
    return tokenizer


def _check_old_files(entry: Entry, folder: Path) -> None:
    if (folder / "vocab.txt").is_file():
        return
    for name, partner in TOGETHER.items():
        if (folder / name).is_file() and not (folder / partner).is_file():
            raise ModelError("missing", model=entry.id, file=partner)


def _lost(tokenizer: Any, folder: Path) -> str | None:
    """Return how many words of vocab.txt a tokenizer did not read, if it is of another kind."""
    file = folder / "vocab.txt"
    if (folder / "tokenizer.json").is_file() or not file.is_file():
        return None
    words = set(file.read_text("utf-8-sig", "replace").split("\n")) - {""}
    lost = len(words - tokenizer.get_vocab().keys())
    return f"vocab.txt: {lost} of its {len(words)} words were not read" if lost else None
