#!/usr/bin/env bash
# A tokenizer class of transformers cuts a text by its own rules for spaces, whatever the SentencePiece file says.
#
# Versions: transformers 5.24.0, sentencepiece 0.2.1, tokenizers as pip chooses it.
# Guessed: LlamaTokenizer, opened from a folder with a SentencePiece file, cuts as that file says, also where the file
# squeezes repeated spaces (normalizer_spec.remove_extra_whitespaces, SentencePiece's default).
# Seen: the file's own processor gives the same pieces for "the  cat" (two spaces) as for "the cat"; the class keeps the
# second space as a piece of its own, without a warning. Both agree on the text with one space.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check transformers==5.24.0 sentencepiece==0.2.1 protobuf==6.33.1 2>/dev/null
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import io

import sentencepiece as spm
import transformers

words = "the cat sees a dog and the dog sees a cat while a bird sings to the cat and the dog".split()
lines = [" ".join(words[i:] + words[:i]) for i in range(len(words))] * 20
model = io.BytesIO()
spm.SentencePieceTrainer.train(
    sentence_iterator=iter(lines), model_writer=model, vocab_size=60, model_type="bpe", hard_vocab_limit=False,
    pad_id=-1, minloglevel=2,
)
with open("tokenizer.model", "wb") as file:
    file.write(model.getvalue())
own = spm.SentencePieceProcessor(model_file="tokenizer.model")
with open("tokenizer_config.json", "w") as file:
    file.write('{"tokenizer_class": "LlamaTokenizer", "legacy": false}')
theirs = transformers.LlamaTokenizer.from_pretrained(".")

print("transformers", transformers.__version__, "sentencepiece", spm.__version__)
pieces = {}
for text in ("the cat", "the  cat"):
    pieces[text] = own.encode(text, out_type=str), theirs.tokenize(text)
    print(repr(text), "file:", pieces[text][0], "class:", pieces[text][1])
one, two = pieces["the cat"], pieces["the  cat"]
assert one[0] == one[1], "with one space both agree"
assert two[0] == one[0], "the file squeezes spaces"
assert two[1] != two[0], "the class does not"
print("as described")
PYTHON
