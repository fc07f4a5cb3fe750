"""A decoder's residual stream, against transformers' own eager model with plain hooks."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, MORE, TEXT, eager, open_folder, save
from viz.core.analysis.attribution import attribute
from viz.errors import ModelError
from viz.models.blocks import block_layouts
from viz.models.stream import (
    check_writable,
    column,
    final_norm,
    has_words,
    logits_of,
    normalize,
    read_stream,
    split_stream,
    uncapped,
    unembed,
    writable_token,
)
from viz.models.tokens import read_text, word_token

DECODERS = ("llama", "gpt2", "mistral", "qwen2", "gpt_bigcode", "gpt_bigcode_mha", "gemma2")
FEED_FORWARD = dict.fromkeys(("llama", "mistral", "qwen2"), "mlp.down_proj") | {"gemma2": "post_feedforward_layernorm"}
AT, WORD, SECOND_WORD = 7, 11, 29


def tokens_of(model, text=TEXT):
    return read_text(model.tokenizer, text, 61)


class ReferencePass:
    """A pass of the eager model: the input of every W_O, the output of every feed-forward network, the last stream."""

    def __init__(self, name, folder, ids):
        self.model, self.family = eager(name, folder), FAMILIES[name]
        outputs = [self.family.outputs["decoder"].format(i=i) for i in range(2)]
        blocks = [path.rsplit(".", 2)[0] for path in outputs]
        modules = dict(self.model.named_modules())
        self.w_o = [modules[path] for path in outputs]
        mlps = [modules[f"{block}.{FEED_FORWARD.get(name, 'mlp.c_proj')}"] for block in blocks]
        base = self.model.base_model
        self.norm = base.norm if hasattr(base, "norm") else base.ln_f
        # Gemma's gain is 1 + weight.
        self.offset = 1.0 if name == "gemma2" else 0.0
        self.behind = (
            [modules.get(f"{block}.post_attention_layernorm") for block in blocks] if self.offset else [None] * 2
        )
        self.z, self.mlp, self.stream, self.first = {}, {}, None, None
        hooks = [
            self.norm.register_forward_pre_hook(lambda _, args: setattr(self, "stream", args[0][0])),
            modules[blocks[0]].register_forward_pre_hook(lambda _, args: setattr(self, "first", args[0][0])),
        ]
        for i, (w_o, mlp) in enumerate(zip(self.w_o, mlps, strict=True)):
            hooks.append(w_o.register_forward_pre_hook(lambda _, args, i=i: self.z.__setitem__(i, args[0][0])))
            hooks.append(mlp.register_forward_hook(lambda _, __, output, i=i: self.mlp.__setitem__(i, output[0])))
        with torch.inference_mode():
            self.logits = self.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
        for hook in hooks:
            hook.remove()

    def head(self, layer, head, at):
        """Return W_O applied to one head's output: all other heads set to zero, without the bias."""
        z, width = torch.zeros_like(self.z[layer][at]), self.z[layer].shape[-1] // self.family.n_heads
        z[head * width : (head + 1) * width] = self.z[layer][at, head * width : (head + 1) * width]
        w_o = self.w_o[layer]
        with torch.inference_mode():
            added = w_o(z[None])[0] - (0 if w_o.bias is None else w_o.bias)
            if (norm := self.behind[layer]) is not None:
                full_output = w_o(self.z[layer][at][None])[0]
                added = added * (1 + norm.weight) / (full_output.square().mean() + norm.eps).sqrt()
            return added


@pytest.fixture(params=DECODERS, scope="module")
def pair(request, load_family, checkpoint):
    model = load_family(request.param)
    tokens = tokens_of(model)
    return model, read_stream(model, tokens), ReferencePass(request.param, checkpoint(request.param), tokens.ids)


def test_logit_difference_parts_equal_modules(pair):
    """With the reference model's own modules: its W_O on one head at a time, its norm's scale, its vocabulary head."""
    model, reading, reference = pair
    (u, b), (v, c) = column(model, WORD), column(model, SECOND_WORD)
    weights, centred = final_norm(model)
    attribution = attribute(split_stream(model, reading, AT), u - v, weights, centred=centred, bias=b - c)
    x, head = reference.stream[AT].double(), reference.model.get_output_embeddings()
    direction = (
        (head.weight[WORD] - head.weight[SECOND_WORD]).double() * (reference.norm.weight.double() + reference.offset)
    ).detach()
    epsilon = getattr(reference.norm, "variance_epsilon", None) or reference.norm.eps
    if layer_norm := isinstance(reference.norm, torch.nn.LayerNorm):
        x = x - x.mean()
    scale = (x.square().mean() + epsilon).sqrt()

    def expected(part):
        part = part.detach().double()
        return float(((part - part.mean()) if layer_norm else part) @ direction / scale)

    def close(value, part):
        assert float(value) == pytest.approx(expected(part), rel=1e-4, abs=1e-5)

    close(attribution.embedding, reference.first[AT])
    for layer in range(2):
        close(attribution.feed_forward[layer], reference.mlp[layer][AT])
        w_o = reference.w_o[layer]
        close(attribution.biases[layer], torch.zeros_like(x) if w_o.bias is None else w_o.bias)
        for number in range(reference.family.n_heads):
            close(attribution.heads[layer, number], reference.head(layer, number, AT))
    logits = uncapped(model, reference.logits[AT])
    difference = float(logits[WORD] - logits[SECOND_WORD])
    assert attribution.total == pytest.approx(difference, rel=1e-4, abs=1e-4)


def test_models_with_vocabulary_head(load_family, checkpoint, tmp_path):
    assert all(has_words(load_family(name)) for name in DECODERS)
    assert not any(has_words(load_family(name)) for name in ("bert", "t5", "bart"))
    save("gpt2", tmp_path / "headless", architectures=["GPT2Model"])
    config = tmp_path / "headless" / "config.json"
    config.write_text(config.read_text().replace("GPT2LMHeadModel", "GPT2Model"))
    assert not has_words(open_folder(tmp_path / "headless"))


def test_capped_logits_are_sums_before_cap(load_family):
    model = load_family("gemma2")
    logits = logits_of(model, tokens_of(model).ids)
    assert logits.shape == (len(tokens_of(model).ids), 331)
    assert_close(torch.tanh(uncapped(model, logits) / 30.0).float() * 30.0, logits)
    assert (uncapped(model, logits) - logits).abs().max() > 1e-3, "or the test sees nothing"


def test_unsupported_block_family_has_next_word(load_family, monkeypatch):
    model = load_family("llama")
    monkeypatch.setattr(model.model.config, "model_type", "unheard-of")
    assert logits_of(model, tokens_of(model).ids).shape[0] == len(tokens_of(model).ids)
    with pytest.raises(ModelError) as error:
        read_stream(model, tokens_of(model))
    assert error.value.code == "block"


def test_ordinary_pass_stores_no_stream(load_family):
    from viz.models.attention_interface import recording

    model = load_family("llama")
    with torch.inference_mode(), recording({}) as recorder:
        model.model(input_ids=torch.tensor([tokens_of(model).ids]))
    assert recorder.seen and not recorder.calls and not recorder.outputs


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cohere2", {"logit_scale": 0.25}),
        ("granite", {"logits_scaling": 3.0}),
        ("gemma3_text", {"final_logit_softcapping": 2.0}),
        ("modernbert-decoder", {}),
        ("opt", {"word_embed_proj_dim": 21}),
        ("biogpt", {}),
        ("gpt_neox", {}),
        ("mixtral", {}),
    ],
)
def test_unembed_of_any_head_is_logits(tmp_path, name, changes):
    """A head may scale its logits, cap them or have a layer more; routers and biases do not matter."""
    model = open_folder(save(name, tmp_path / name, **changes))
    ids = tuple(tokens_of(model).ids)
    with torch.inference_mode():
        final = model.model.base_model(input_ids=torch.tensor([ids]), use_cache=False).last_hidden_state[0]
    modules = dict(model.model.named_modules())
    assert_close(unembed(model, final), logits_of(model, ids), rtol=0, atol=1e-5)
    assert dict(model.model.named_modules()) == modules, "the shared model stays as it is"


STREAMS = [
    name
    for name, family in MORE.items()
    if any(
        name in layout.families and layout.norm != "post" and layout.stack == "decoder" for layout in block_layouts()
    )
    and "decoder" in family.outputs
    and len(family.outputs) == 1
    # Text parts have no vocabulary head.
    and not family.model.endswith("TextModel")
]


@pytest.mark.parametrize("name", STREAMS)
def test_stream_of_family_adds_up(name, checkpoint, load_family):
    """Embedding, heads and feed-forward networks add up to what the final norm reads, and to a difference of logits."""
    model = load_family(name)
    tokens = tokens_of(model)
    reading = read_stream(model, tokens)
    parts = split_stream(model, reading, AT)
    final = reading.states[-1, AT].double()
    assert_close(parts.stream, final, atol=2e-5 * float(final.abs().max()), rtol=0)
    theirs = eager(name, checkpoint(name))
    with torch.inference_mode():
        result = theirs(input_ids=torch.tensor([tokens.ids]), use_cache=False, output_hidden_states=True)
    scale = float(result.logits.abs().max())
    for state, expected in zip(reading.states[:-1], result.hidden_states, strict=False):
        assert_close(state, expected[0], atol=1e-5 * max(1.0, float(expected.abs().max())), rtol=0)
    assert_close(unembed(model, normalize(model, reading.states[-1])), result.logits[0], atol=2e-5 * scale, rtol=0)
    (u, b), (v, c) = column(model, WORD), column(model, SECOND_WORD)
    weights, centred = final_norm(model)
    attribution = attribute(parts, u - v, weights, centred=centred, bias=b - c)
    logits = uncapped(model, result.logits[0, AT])
    assert attribution.total == pytest.approx(float(logits[WORD] - logits[SECOND_WORD]), abs=2e-4 * scale)


def test_token_beyond_the_head_is_refused(tmp_path):
    """A model may read tokens that it cannot write: Apertus 1.5 has a head of `output_vocab_size` tokens."""
    model = open_folder(save("llama", tmp_path / "cut"))
    ids, words = tokens_of(model).ids, TEXT.split()
    word_tokens = [word_token(model.tokenizer, word) for word in words]
    n = sorted(word_tokens)[len(words) // 2]
    head = model.model.lm_head
    head.weight = torch.nn.Parameter(head.weight[:n].clone(), requires_grad=False)
    assert column(model, n - 1)[0].shape == (model.width,)
    assert logits_of(model, ids).shape == (len(ids), n)
    check_writable(model, range(n))
    for read in (lambda: column(model, n), lambda: check_writable(model, ids)):
        with pytest.raises(ModelError) as error:
            read()
        assert error.value.code == "unwritable" and error.value.values["rows"] == n
        assert error.value.values["number"] >= n
    writable = [token if token < n else None for token in word_tokens]
    assert [writable_token(model, word) for word in words] == writable and set(writable) > {None}
