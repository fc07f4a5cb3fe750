"""Small tokenizers of every kind, and texts in many scripts."""

import json
from functools import cache
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers import models as algorithms
from transformers import PreTrainedTokenizerFast

from tests.checkpoints import MAKERS, SENTENCES, SPECIAL

FALLBACK = [f"<0x{byte:02X}>" for byte in range(256)]
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
CLIP_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"

TEXTS = {
    "Arabic": "القطة جلست على السجادة، وكانت متعبة.",
    "Arabic with vowels": "القِطَّةُ جَلَسَتْ عَلَى السَّجَّادَةِ",
    "Burmese": "ကြောင်က ဖျာပေါ်မှာ ထိုင်တယ်။",
    "Chinese": "猫坐在垫子上，因为它太累了。",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Devanagari": "बिल्ली सो रही है, क्योंकि वह थकी थी।",
    "English": "The animal didn't cross the street — it was “too” tired.",
    "Gothic": "𐌺𐌰𐍄𐍄𐌰 𐍃𐌹𐍄𐌹𐌸",
    "Greek": "Η γάτα κάθισε στο χαλί· ήταν κουρασμένη.",
    "Hebrew": "החתול ישב על השטיח, צה״ל.",
    "Hebrew with points": "הֶחָתוּל יָשַׁב",
    "Japanese": "猫がマットの上に座った。パーティー",
    "Korean": "고양이가 매트 위에 앉았다.",
    "Malayalam": "പൂച്ച പായയിൽ ഇരുന്നു. അവന്\u200d",
    "Persian": "گربه روی فرش نشست؛ می\u200cخواهم بروم.",
    "Polish": "Zażółć gęślą jaźń, mały Łoś.",
    "Russian": "Кошка сидела на коврике, ёлки.",
    "Sinhala": "පූසා පැදුරේ වාඩි විය. ක්\u200dෂ",
    "Thai": "แมวนั่งบนเสื่อเพราะมันเหนื่อย",
    "Tibetan": "ཞི་མི་གདན་ལ་བསྡད།",
    "Turkish": "İstanbul'da ışık DİYARBAKIR, ığdır.",
    "Vietnamese": "Con mèo ngồi trên tấm thảm vì nó mệt.",
    "decomposed Vietnamese": "Con me\u0300o ngo\u0302\u0300i tre\u0302n ta\u0302\u0301m tha\u0309m.",
    "decomposed Korean": "\u1100\u1169\u110b\u1163\u11bc\u110b\u1175",
    "decomposed Japanese": "か\u3099っこう は\u309aん",
    "emoji": f"😂😂 {FAMILY}{FAMILY} 👍🏽👍🏿 ❤\ufe0f\u200d🔥 🇩🇪🇫🇷 1\ufe0f\u20e3 {ENGLAND} 🫨",
    "white space": "a\tb\n\nc   d\u00a0e\u3000f  \u2003g ",
    "old characters": "ſo ﬁne ½ ① Ⅷ ㎏ ｆｕｌｌ",
    "marks alone": "\u0301 a \u0301\u0302 ! ?! ... \u200b \u00ad",
    "both directions": "abc שלום 123 مرحبا def",
    "surrogates": "a \ud800 b\udc00c",
    "marks that tokenizers use": "</w> ## ▁ Ġ <0xE7> a</w>b x▁y",
    "replacement": "a\ufffdb \ufffd\ufffd 猫\ufffd",
}


def _unigram(byte_fallback: bool) -> Tokenizer:
    trainer = trainers.UnigramTrainer(vocab_size=90, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    learned = Tokenizer(algorithms.Unigram())
    learned.pre_tokenizer = pre_tokenizers.Metaspace()
    learned.train_from_iterator(SENTENCES[:3], trainer)
    vocabulary = sorted(learned.get_vocab().items(), key=lambda piece: piece[1])
    piece_scores = [(piece, -1.0 - i / 9) for i, (piece, _) in enumerate(vocabulary)]
    if byte_fallback:
        piece_scores += [(piece, -99.0) for piece in FALLBACK]
    return Tokenizer(algorithms.Unigram(piece_scores, 0, byte_fallback))


def _llama() -> Tokenizer:
    """Unigram with byte fallback; its "word" is the whole text."""
    tokenizer = _unigram(byte_fallback=True)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def _gemma() -> Tokenizer:
    """Unigram with byte fallback, and no space before the first word."""
    tokenizer = _unigram(byte_fallback=True)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def _marian() -> Tokenizer:
    """Marian's: SentencePiece with its own normal forms, spaces made one, an end mark."""
    tokenizer = _unigram(byte_fallback=False)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["</s>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", tokenizer.token_to_id("</s>"))]
    )
    return tokenizer


def _clip() -> Tokenizer:
    """CLIP's: bytes, small letters, and a mark behind the last piece of a word."""
    tokenizer = Tokenizer(algorithms.BPE(end_of_word_suffix="</w>", unk_token="<|endoftext|>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    split = pre_tokenizers.Split(Regex(CLIP_WORDS), behavior="removed", invert=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=700, initial_alphabet=[*alphabet, *(f"{letter}</w>" for letter in alphabet)],
        special_tokens=["<|startoftext|>", "<|endoftext|>"], end_of_word_suffix="</w>", show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(SENTENCES[:3], trainer)
    tokenizer_config = json.loads(tokenizer.to_str())
    vocabulary = tokenizer_config["model"]["vocab"]
    for letter in alphabet:
        vocabulary.setdefault(f"{letter}</w>", len(vocabulary))
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_config))
    ends = [(name, tokenizer.token_to_id(name)) for name in ("<|startoftext|>", "<|endoftext|>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|startoftext|> $A <|endoftext|>", special_tokens=ends
    )
    return tokenizer


def _gpt1() -> Tokenizer:
    """GPT-1's: letters with a mark behind the last piece of a word, no bytes."""
    tokenizer = Tokenizer(algorithms.BPE(end_of_word_suffix="</w>", unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(
        vocab_size=120, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES[:3], trainer)
    return tokenizer


def _roberta() -> Tokenizer:
    """RoBERTa's: bytes, a space before the first word, and places without their spaces."""
    tokenizer = MAKERS["bytes"]()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.add_special_tokens(["<s>", "</s>"])
    first, last = ((name, int(tokenizer.token_to_id(name) or 0)) for name in ("<s>", "</s>"))
    tokenizer.post_processor = processors.RobertaProcessing(last, first, trim_offsets=True)
    return tokenizer


def _letters() -> Tokenizer:
    """One character per token."""
    tokenizer = Tokenizer(algorithms.WordLevel({"[UNK]": 0} | {chr(97 + i): i + 1 for i in range(26)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    return tokenizer


def _raw_bytes() -> Tokenizer:
    """One byte per token, without a rule for words."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(algorithms.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _cased() -> Tokenizer:
    """WordPiece that keeps case and accents."""
    tokenizer = MAKERS["wordpiece"]()
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


KINDS = MAKERS | {
    "unigram with bytes": _llama, "unigram with bytes, no first space": _gemma, "Marian": _marian, "CLIP": _clip,
    "GPT-1": _gpt1, "RoBERTa": _roberta, "letters": _letters, "raw bytes": _raw_bytes, "cased": _cased,
}  # fmt: skip


@cache
def tokenizer_of(kind: str) -> Any:
    """Return a tokenizer of a kind."""
    unknown = {"unk_token": SPECIAL[1]} if kind in ("wordpiece", "metaspace", "bare", "letters", "cased") else {}
    return PreTrainedTokenizerFast(tokenizer_object=KINDS[kind](), model_max_length=10_000, **unknown)
