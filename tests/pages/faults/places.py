"""Links to sections whose checks must notice mistakes."""

from pages.step_by_step.own_numbers import puzzles as game
from pages.step_by_step.own_numbers.example import presets
from pages.step_by_step.own_numbers.numbers import to_code

SEEDED = "source=words&text=one+two+three+four+five+two&n_heads=4"


LINES = "the+old+cat%0Athe+cat+sees+the+dog%0Aa+red+house+is+big"


def solved(puzzle: str) -> str:
    """A puzzle's solution, as a link has it."""
    return to_code(game.puzzles()[puzzle].solution)


PLACES = {
    # Head atlas
    "atlas": "atlas/map?atlas_score=previous",
    "atlas, two scores": "atlas/scatter",
    "atlas, spread": "atlas/spread",
    "atlas, own lines": f"atlas/map?model=twin-g1&atlas_corpus=own&text={LINES}",
    # Heads
    "all heads": f"heads/all_heads?{SEEDED}&n_kv_heads=2&mask=causal",
    "all heads, a model": "heads/all_heads",
    "all heads, window": f"heads/all_heads?{SEEDED}&mask=window&width=1",
    "all heads, both": f"heads/all_heads?{SEEDED}&mask=both&pad=2",
    "compared": f"heads/compare?{SEEDED}&n_kv_heads=2&mask=causal&text_b=one+two+and+six+four+five+two",
    "compared, what arrives": f"heads/compare?{SEEDED}&n_kv_heads=2&compared=arrives&text_b=one+six+three",
    "compared, a decoder": "heads/compare?model=twin-g8&text=red+blue+red&text_b=red+blue+blue",
    "row": f"heads/row?{SEEDED}&mask=causal",
    "arcs": f"heads/arcs?{SEEDED}&mask=causal",
    "why there": "heads/why?layer=3&head=1&query=10&key=2",
    "what changed": "heads/changed?layer=3&head=1&query=10&key=2",
    "arrivals": "heads/arrivals",
    "joined": f"heads/joined?{SEEDED}",
    "joined, a model": "heads/joined",
    "switched off": "heads/switched_off?off=1",
    "numbers": "heads/numbers",
    # Why many heads
    "two places": f"many_heads/two_places?{SEEDED}",
    "heads that differ": f"many_heads/differ?{SEEDED}&mask=causal",
    "inputs of a head": f"many_heads/inputs?{SEEDED}",
    "rank": f"many_heads/rank?{SEEDED}",
    "experts": f"many_heads/experts?{SEEDED}&mask=causal",
    "experts, logic": "many_heads/experts?logic=1",
    # Step by step
    "three words": "step_by_step/three_words?hand_causal=1",
    "own numbers": "step_by_step/own_numbers?own_causal=1",
    "own Q, K, V": f"step_by_step/own_numbers?own_causal=1&own={to_code(presets()['three_rows'])}",
    "puzzle, one word": "step_by_step/puzzles",
    "puzzle, one word, solved": f"step_by_step/puzzles?puzzle_only_one={solved('only_one')}",
    "puzzle, previous": "step_by_step/puzzles?puzzle=previous",
    "puzzle, previous, solved": f"step_by_step/puzzles?puzzle=previous&puzzle_previous={solved('previous')}",
    "puzzle, cancel": "step_by_step/puzzles?puzzle=cancel",
    "puzzle, cancel, solved": f"step_by_step/puzzles?puzzle=cancel&puzzle_cancel={solved('cancel')}",
    "steps": f"step_by_step/steps?{SEEDED}&n_kv_heads=2&mask=causal",
    "steps, MHA": f"step_by_step/steps?{SEEDED}",
    "steps, a model": "step_by_step/steps",
    "worked example": f"step_by_step/steps?step=7&every_term=1&{SEEDED}&mask=causal",
    "weighted sum": f"step_by_step/steps?step=8&every_term=1&{SEEDED}&mask=causal",
    "one row compared": f"heads/one_row?{SEEDED}&mask=causal&query=3&text_b=one+and+two+six+four+five+two",
    "split": f"step_by_step/split?{SEEDED}",
    "saturation": f"step_by_step/saturation?{SEEDED}",
    "ablation": f"step_by_step/ablation?{SEEDED}&mask=causal",
    # Masks
    "editor, causal": f"masks/editor?{SEEDED}&mask=causal",
    "editor, window": f"masks/editor?{SEEDED}&mask=window&width=1",
    "editor, painted": f"masks/editor?{SEEDED}&mask=painted&painted=3.m4A",
    "every mask": f"masks/editor?costs=1&mask=own&{SEEDED}",
    "layers with windows": f"masks/layers?{SEEDED}&pattern=none&stack=2&near_size=2",
    "layers with chunks": f"masks/layers?{SEEDED}&near=chunks&near_size=2",
    "layers, 1 to 1": f"masks/layers?{SEEDED}&pattern=one&near_size=2&stack=2",
    "the 2 largest": f"masks/top_k?{SEEDED}&mask=causal&keep=2",
    "the 2 largest of equals": "masks/top_k?source=words&text=a+b+a+a&n_heads=1&mask=own&keep=2",
    "decoding": f"masks/decoding?{SEEDED}",
    "empty row": f"masks/empty_row?{SEEDED}&mask=causal",
    "too late": f"masks/mistakes?{SEEDED}&mask=causal",
    "polarity": f"masks/polarity?{SEEDED}&mask=causal",
    # Positions
    "shuffle": f"positions/shuffle?{SEEDED}&need=alibi",
    "real head": "positions/real_head",
    "sinusoids": f"positions/sinusoids?{SEEDED}",
    "step": f"positions/step?{SEEDED}",
    "encodings": f"positions/encodings?{SEEDED}",
    "encodings, a longer text": f"positions/encodings?source=words&n_heads=4&text={'one+two+three+' * 5}",
    "rope": f"positions/rope?{SEEDED}",
    "positions of today": f"positions/today?{SEEDED}&d_model=64&today_share=0.5&today_length=64",
    "positions of today, all turn": f"positions/today?{SEEDED}&d_model=64&today_factor=1",
    "without positions": f"positions/no_positions?{SEEDED}&nope_floor=64",
    # Attention today
    "to nobody": f"attention_today/nobody?{SEEDED}&mask=causal",
    "tamed scores": f"attention_today/tamed?{SEEDED}&tamed=norm",
    "output gate": f"attention_today/gate?{SEEDED}",
    "difference of two maps": f"attention_today/difference?{SEEDED}",
    "own value": f"attention_today/exclusive?{SEEDED}&subtracted=0.8",
    "delta rule": f"attention_today/state?{SEEDED}",
    "linear attention": f"attention_today/state?{SEEDED}&state=linear&fade=0.8",
    "small decoders": f"attention_today/trained?{SEEDED}",
    "who uses what": f"attention_today/who_uses?{SEEDED}",
    # Convolution
    "windows": f"convolution/windows?{SEEDED}",
    "picture": f"convolution/picture?{SEEDED}",
    "difference": f"convolution/difference?{SEEDED}",
    "windows, causal": f"convolution/windows?{SEEDED}&mask=causal&mix=1",
    "kernel in W_O": f"convolution/kernel_in_w_o?{SEEDED}&kernel=sobel",
    "slip, farthest": f"convolution/slips?{SEEDED}",
    "slip, mirrored": f"convolution/slips?{SEEDED}&slip=mirrored",
    "slip, worked pair": f"convolution/slips?{SEEDED}&slip=example",
    "slip, too narrow": f"convolution/slips?{SEEDED}&slip=width",
    "sharpness": f"convolution/slips?{SEEDED}&slip=sharpness",
    "likeness": "convolution/likeness",
    "vision": f"convolution/vision?{SEEDED}",
    "vision, its training": f"convolution/vision_training?{SEEDED}",
    # Sharing
    "who shares": f"share_kv/who_shares?{SEEDED}&n_kv_heads=2&mask=causal",
    "who shares, MHA": f"share_kv/who_shares?{SEEDED}&n_kv_heads=4",
    "who shares, MQA": f"share_kv/who_shares?{SEEDED}&n_kv_heads=1&mask=causal",
    "sharing in code": f"share_kv/in_code?{SEEDED}&n_kv_heads=2&mask=causal",
    "growing cache": f"share_kv/growing_cache?{SEEDED}&n_kv_heads=2",
    "across layers": f"share_kv/across_layers?{SEEDED}&group_size=3&reading_layer=2&mask=causal",
    "across layers, a model": "share_kv/across_layers?group_size=2",
    "windows in the cache": f"share_kv/windows?{SEEDED}&n_kv_heads=2&pattern=one&near_size=2&tokens_read=5",
    "windows in the cache, a model": "share_kv/windows?pattern=three&near_size=4&n_kv_heads=2",
    "models of today": "share_kv/published?preset=gpt-oss-120b",
    "latent vector": f"share_kv/latent?{SEEDED}&n_kv_heads=2&mask=causal",
    "latent vector, a model": "share_kv/latent?n_kv_heads=2",
    "savings": f"share_kv/savings?{SEEDED}&n_kv_heads=2",
    "published": f"share_kv/published?{SEEDED}&n_kv_heads=2",
    "speed": f"share_kv/growing_cache?{SEEDED}&n_kv_heads=1",
    "converted": "share_kv/converted?n_kv_heads=6",
    "copying": f"share_kv/copying?{SEEDED}&n_kv_heads=2",
    # What it costs
    "mix with windows": "cost/mixes?cost_n=5000&stack=6",
    "mix with states": "cost/mixes?mix_kind=linear&pattern=three&stack=9",
    "mix with MLA": "cost/mixes?mix_kind=latent&pattern=one",
    "mix with selection": "cost/mixes?mix_kind=select&near_size=64",
    # Two sequences
    "cross-attention": f"two_sequences/cross_attention?{SEEDED}&target=six+seven",
    "scoring": f"two_sequences/scoring?{SEEDED}&target=six+seven",
    "both kinds": f"two_sequences/kinds?{SEEDED}&target=six+seven&kinds_mask=padding",
    "widths": f"two_sequences/widths?{SEEDED}&target=six+seven",
    "translation": f"two_sequences/translation?{SEEDED}&target=six+seven",
    "differences": f"two_sequences/differences?{SEEDED}&target=six+seven",
    # Block
    "diagram": f"block/diagram?{SEEDED}&mask=causal",
    "diagram, a model": "block/diagram",
    "points": f"block/points?{SEEDED}",
    "norm place": f"block/norm_place?{SEEDED}",
    "encoder and decoder": f"block/encoder_decoder?{SEEDED}&target=six+seven",
    "parts off": f"block/switched_off?{SEEDED}",
    # Stacking
    "rollout": f"stacking/gradient?{SEEDED}&mask=causal",
    "rollout, a model": "stacking/gradient",
    "gradient": f"stacking/gradient?{SEEDED}&depth=3",
    "receptive field": f"stacking/receptive_field?{SEEDED}&depth=2",
    "oversmoothing": f"stacking/oversmoothing?{SEEDED}",
    "locality": f"stacking/locality?{SEEDED}&mask=causal",
    "layer sharing": f"stacking/layer_sharing?{SEEDED}",
    # The next word
    "next word": "next_word/next_word",
    "layer by layer": "next_word/logit_lens",
    "who wrote it": "next_word/attribution",
    "who wrote it, one word": "next_word/attribution?against=%E2%88%85&next_at=7",
    "heads off": "next_word/switch_off",
    "heads at their mean": "next_word/switch_off?cut_by=mean&cut=1-9",
    "swap": "next_word/swap",
    # A long text
    "long map": f"long_text/map?{SEEDED}",
    "long map, a model": "long_text/map",
    "along the text": f"long_text/rows?{SEEDED}",
    "long wall": "long_text/wall?source=words&n_heads=2&long_times=8&text=one+two+three+four+five+two+six+seven",
}
