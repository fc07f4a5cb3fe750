#!/usr/bin/env bash
# transformers' T5 and XLM-R tokenizers open a SentencePiece BPE file without a word, and cut texts otherwise than it does.
#
# Versions: transformers 5.24.0, sentencepiece 0.2.3, tokenizers as transformers brings it.
# Guessed: a tokenizer class of transformers that is made from a SentencePiece file follows the kind of the file's model
# (unigram or BPE), as SentencePiece itself does, or refuses one that it cannot follow.
# Seen: T5Tokenizer and XLMRobertaTokenizer build a unigram model from a BPE file's pieces and take the BPE's ranks, which
# stand where a unigram model has logarithms of probabilities, for scores. No error and no warning is given, and many
# ordinary words are cut in other places than by the file itself. LlamaTokenizer follows the same file.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check transformers==5.24.0 sentencepiece==0.2.3 protobuf 2>/dev/null
cd "$folder"
venv/bin/python - 2>log <<'PYTHON'
import os
import shutil

import sentencepiece
import transformers
from transformers import LlamaTokenizer, T5Tokenizer, XLMRobertaTokenizer

parts = "un re dis over act form place light ing ed er est ly ness ment able ful".split()
lines = [" ".join(a + b + c for c in parts[8:]) for a in parts[:4] for b in parts[4:8]]
with open("text.txt", "w", encoding="utf-8") as file:
    file.write("\n".join(lines * 20))
sentencepiece.SentencePieceTrainer.train(
    input="text.txt", model_prefix="m", vocab_size=80, model_type="bpe", character_coverage=1.0, minloglevel=2,
    hard_vocab_limit=False, pad_id=3,
)
own = sentencepiece.SentencePieceProcessor(model_file="m.model")
words = sorted({word for line in lines for word in line.split()})
print("transformers", transformers.__version__, "sentencepiece", sentencepiece.__version__, "words:", len(words))
cut_otherwise = {}
files = {T5Tokenizer: "spiece.model", XLMRobertaTokenizer: "sentencepiece.bpe.model", LlamaTokenizer: "tokenizer.model"}
for name, file in files.items():
    os.makedirs(name.__name__)
    shutil.copy("m.model", os.path.join(name.__name__, file))
    tokenizer = name.from_pretrained(name.__name__)
    other = [(word, own.encode(word, out_type=str), tokenizer.tokenize(word)) for word in words]
    other = [pieces for pieces in other if pieces[1] != pieces[2]]
    cut_otherwise[name.__name__] = len(other)
    print(name.__name__, "cuts", len(other), "otherwise", other[:1])
assert cut_otherwise["T5Tokenizer"] > 10 and cut_otherwise["XLMRobertaTokenizer"] > 10
assert cut_otherwise["LlamaTokenizer"] == 0
print("as described")
PYTHON
