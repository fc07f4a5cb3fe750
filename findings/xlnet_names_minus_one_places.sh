#!/usr/bin/env bash
# XLNet's configuration says that the model has -1 places, where a model without a limit was expected to say nothing.
#
# Versions: transformers 5.24.0.
# Guessed: a configuration's max_position_embeddings is the number of places of its longest text, and a family without
# such a limit (relative positions, RoPE alone, a state) has no such attribute, or None.
# Seen: of all families that are listed, one has a number below 1. XLNetConfig has a property that returns -1, which
# passes for a number and is true: min(-1, the tokenizer's limit) is -1. It is not in the dictionary of the
# configuration, so config.json does not show it, and it cannot be set. T5, with relative positions too, has none.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check transformers==5.24.0 2>/dev/null
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import transformers
from transformers import CONFIG_MAPPING, T5Config, XLNetConfig

below_one = {}
for name in CONFIG_MAPPING:
    try:
        places = getattr(CONFIG_MAPPING[name](), "max_position_embeddings", None)
    except Exception:
        continue  # some need sizes, or a package that is not here
    if isinstance(places, int) and places < 1:
        below_one[name] = places
config = XLNetConfig()
print("transformers", transformers.__version__, "families:", len(list(CONFIG_MAPPING)), "below one:", below_one)
print("in the dictionary:", "max_position_embeddings" in config.to_dict(), "T5:", getattr(T5Config(), "max_position_embeddings", None))
assert below_one == {"xlnet": -1}
assert bool(config.max_position_embeddings) and "max_position_embeddings" not in config.to_dict()
assert getattr(T5Config(), "max_position_embeddings", None) is None
try:
    config.max_position_embeddings = 512
except NotImplementedError as error:
    print(type(error).__name__, error)
else:
    raise AssertionError("it can be set")
print("as described")
PYTHON
