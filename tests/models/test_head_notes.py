"""Every number in a head note is measured again on its original sentences (SYLLABUS section 3, F3 to F6)."""

from functools import cache

import pytest
import torch

from tests.sentences import SET_A
from viz.core.analysis.map_statistics import message_norms
from viz.frame.examples import examples
from viz.models import capture, head_notes
from viz.models.load import load
from viz.models.registry import entries

REPEATS = (
    "The dog slept while the {dog/cat} ate.", "My book is red but your {book/car} is green.",
    "The king spoke, then the young {king/man} left.", "Every city needs water, and this {city/farm} has none.",
    "Good music is rare, but {music/food} is everywhere.", "The teacher praised the other {teacher/boy}.",
    "One bird sang before another {bird/plane} flew away.", "We saw a river, and the {river/road} was wide.",
    "Her brother met my {brother/friend} at school.", "I like tea because {tea/soup} is warm.",
)  # fmt: skip
VERBS = (
    "The boy kicked {} ball.", "My sister wrote {} letter.", "The farmer planted {} tree.", "We ate {} soup.",
    "He bought {} clock.", "They built {} house.", "The girl painted {} picture.", "The dog chased {} cat.",
    "She drives {} car.", "The man opened {} door.", "The child broke {} toy.", "I read {} book.",
)  # fmt: skip
NOUNS = ("man", "tree", "dog", "king", "sun", "wind", "river", "village", "girl", "car", "house", "book")
IT = (
    ("The animal didn't cross the street because it was too tired.", "animal", "street"),
    ("The trophy didn't fit in the suitcase because it was too big.", "trophy", "suitcase"),
    ("The cat ignored the mouse because it was sleepy.", "cat", "mouse"),
    ("The dog left the garden because it was hungry.", "dog", "garden"),
    ("The machine stopped on the floor because it was broken.", "machine", "floor"),
    ("The bird left the tree because it was scared.", "bird", "tree"),
    ("The car hit the wall because it was fast.", "car", "wall"),
    ("The horse refused the fence because it was afraid.", "horse", "fence"),
    ("The boat missed the bridge because it was slow.", "boat", "bridge"),
    ("The bear avoided the river because it was sick.", "bear", "river"),
    ("The plane left the airport because it was ready.", "plane", "airport"),
    ("The child left the school because it was late.", "child", "school"),
)


SIZES = {entries()[0].id: (6, 12), "multilingual-e5-small": (12, 12), "SmolLM2-135M-Instruct": (30, 9)}
"""Layers and heads of the models that notes are on."""


@pytest.fixture(scope="module")
def weight():
    model = load(entries()[0].id)
    read = cache(lambda text: capture(model, text))

    def find(text, layer, head, query, key):
        text_capture = read(text)
        labels = list(text_capture.tokens.labels)
        place = {"first": labels.index, "last": lambda token: len(labels) - 1 - labels[::-1].index(token)}
        (query, which), (key, where) = query, key
        return text_capture.layer(layer).weights[head, place[which](query), place[where](key)].item()

    return find


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def test_same_word_head(weight):
    def fill_choice(sentence, i):
        before, rest = sentence.split("{")
        choice, after = rest.split("}")
        return before + choice.split("/")[i] + after, [word.lower() for word in choice.split("/")]

    same_weights, control_weights = [], []
    for sentence in REPEATS:
        text, (word, _) = fill_choice(sentence, 0)
        same_weights.append(weight(text, 2, 9, (word, "last"), (word, "first")))
        text, (word, control) = fill_choice(sentence, 1)
        control_weights.append(weight(text, 2, 9, (control, "last"), (word, "first")))
    assert mean(same_weights) == pytest.approx(0.55, abs=0.02)
    assert mean(control_weights) == pytest.approx(0.01, abs=0.01)
    assert all(a > b for a, b in zip(same_weights, control_weights, strict=True))


def test_object_looks_at_its_verb(weight):
    def weights_of(filler):
        for sentence in VERBS:
            words = sentence.format(filler).lower().rstrip(".").split()
            verb = sentence.split(" {}")[0].split()[-1]
            yield weight(sentence.format(filler), 2, 0, (words[-1], "first"), (verb, "first"))

    means = [mean(weights_of(filler)) for filler in ("the", "the old", "the very old", "the very old red")]
    assert means == pytest.approx([0.52, 0.45, 0.38, 0.34], abs=0.02)


def test_determiner_looks_at_its_noun(weight):
    def weights_of(filler):
        for noun in NOUNS:
            yield weight(f"The {filler}{noun} was there.", 2, 8, ("the", "first"), (noun, "first"))

    means = [mean(weights_of(filler)) for filler in ("", "old ", "very old ", "very old red ")]
    assert means == pytest.approx([0.63, 0.60, 0.61, 0.49], abs=0.02)


def test_it_heads_prefer_subject_most_often(weight):
    def subject_wins(layer, head):
        for text, subject, distractor in IT:
            a, b = (weight(text, layer, head, ("it", "first"), (noun, "first")) for noun in (subject, distractor))
            yield a > b

    assert sum(subject_wins(3, 1)) == 8
    assert sum(subject_wins(5, 11)) == 10


def test_sink_has_short_value_adds_least():
    model = load(entries()[0].id)
    ratios = []
    for text, *_ in IT:
        trace = capture(model, text).multi_head(4)
        norms = message_norms(trace.v, trace.projections.w_o.unflatten(0, (12, 32)))[5]
        ratios.append(float(norms[1:].mean() / norms[0]))
    assert min(ratios) > 30 and max(ratios) < 37
    trace = capture(model, IT[0][0]).multi_head(4)
    norms = message_norms(trace.v, trace.projections.w_o.unflatten(0, (12, 32)))[5]
    arrives = (trace.weights[5] * norms).sum(0)
    assert float(trace.weights[5, :, 0].mean()) == pytest.approx(0.90, abs=0.005)
    assert float(arrives[0] / arrives.sum()) == pytest.approx(0.22, abs=0.005)
    added = trace.contributions.norm(dim=-1).mean(-1).tolist()
    assert added.pop(5) == pytest.approx(0.38, abs=0.005)
    assert (min(added), max(added)) == pytest.approx((0.59, 1.24), abs=0.005)


ITS = (
    ("这只动物没过马路，它太{}了。", "动物", "马路", "累", "宽"),
    ("这只动物没有穿过街道，它太{}了。", "动物", "街道", "累", "宽"),
    ("这只动物没有过马路，它太{}了。", "动物", "马路", "累", "宽"),
    ("那只动物没能过河，它太{}了。", "动物", "河", "累", "深"),
    ("奖杯放不进箱子，它太{}了。", "奖杯", "箱子", "大", "小"),
    ("小猫没有追老鼠，它太{}了。", "小猫", "老鼠", "困", "快"),
    ("狗没有吃骨头，它太{}了。", "狗", "骨头", "饱", "硬"),
    ("这辆车没有开过桥，它太{}了。", "车", "桥", "重", "窄"),
    ("马没有跳过围墙，它太{}了。", "马", "围墙", "累", "高"),
    ("机器人没有搬桌子，它太{}了。", "机器人", "桌子", "旧", "重"),
    ("船没有进港口，它太{}了。", "船", "港口", "大", "小"),
    ("小鸟没有飞过大山，它太{}了。", "小鸟", "大山", "累", "高"),
    ("孩子没有吃苹果，它太{}了。", "孩子", "苹果", "饱", "酸"),
    ("猴子没有爬上那棵树，它太{}了。", "猴子", "树", "累", "高"),
)
"""Sentences whose 它 is one of two nouns, these nouns, and what is said of the one and of the other."""


def test_e5_head_follows_subject_two_languages(e5):
    def pieces(text, word):
        offsets = e5.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
        start = text.index(word)
        return [i for i, (a, b) in enumerate(offsets) if a < b and a < start + len(word) and b > start]

    def weights_on(text, query, *nouns):
        weights = capture(e5, text).layer(8).weights[8]
        return [float(weights[pieces(text, query)[0], pieces(text, noun)].sum()) for noun in nouns]

    def share(pairs):
        return sum(subject > distractor for subject, distractor in pairs)

    tired = [weights_on(text.format(subject), "它", a, b) for text, a, b, subject, _ in ITS]
    wide = [weights_on(text.format(distractor), "它", a, b) for text, a, b, _, distractor in ITS]
    assert tired[2] == pytest.approx([0.67, 0.02], abs=0.01) and wide[2][0] == pytest.approx(0.61, abs=0.01)
    assert (share(tired), share(wide)) == (14, 13)
    assert [mean(values) for values in zip(*tired, strict=True)] == pytest.approx([0.52, 0.06], abs=0.01)
    assert weights_on("这只动物没有过马路，因为它太累了。", "它", "动物") == pytest.approx([0.08], abs=0.01)
    assert weights_on("这只动物没有过马路，它太累了。", "这", "动物") == pytest.approx([0.55], abs=0.01)
    assert share([weights_on(text, " it", a, b) for text, a, b in IT]) == 10


@pytest.mark.long
def test_smollm2_copying_and_previous_token_heads(smollm2):
    copying, back = [], []
    for seed in range(4):
        random_ids = torch.randint(100, 49_000, (50,), generator=torch.Generator().manual_seed(seed))
        text = smollm2.tokenizer.decode(random_ids)
        n, text_capture = len(smollm2.tokenizer(text).input_ids), capture(smollm2, text + text)
        rows = torch.arange(n + 1, len(text_capture.tokens.ids) - 1)
        copying.append(float(text_capture.layer(18).weights[6][rows, rows - n + 1].mean()))
        back.append(float(text_capture.layer(16).weights[0].diagonal(-1).mean()))
    assert (min(copying), max(copying)) == pytest.approx((0.92, 0.96), abs=0.01)
    assert mean(copying) == pytest.approx(0.94, abs=0.01) and mean(back) == pytest.approx(0.90, abs=0.01)
    resting = capture(smollm2, "the dog chased the cat and the cat chased the dog").layer(18).weights[6, 6:, 0]
    assert (float(resting.min()), float(resting.max())) == pytest.approx((0.69, 0.97), abs=0.01)
    on_sentences = [float(capture(smollm2, text).layer(16).weights[0].diagonal(-1).mean()) for text in SET_A]
    assert mean(on_sentences) == pytest.approx(0.77, abs=0.01)
    assert (min(on_sentences), max(on_sentences)) == pytest.approx((0.73, 0.86), abs=0.01)


def test_notes_name_existing_heads_and_examples():
    codes = {example.code for example in examples()}
    table = head_notes._notes()
    assert len(table) >= 8
    for (model, layer, head), note in table.items():
        n_layers, n_heads = SIZES[model]
        assert 0 <= layer < n_layers and 0 <= head < n_heads
        assert set(note.examples) <= codes
        assert all(note.text.values())
    assert head_notes.note("", 0, 0) is None
