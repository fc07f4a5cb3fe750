"""The class of transformers that a folder's model is read with."""

from operator import attrgetter
from typing import Any

from viz.models.layout import model_class

HEADS = {
    "ForConditionalGeneration": ("lm_head.weight", "final_logits_bias"),
    "ForMaskedLM": ("cls.predictions", "lm_head.", "vocab_transform", "generator_predictions", "predictions."),
    "ForCausalLM": ("lm_head.weight", "embed_out.weight"),
}
"""Parts of names of heads that write words, by the end of the name of a class that has one."""

OTHER_HEADS = ("classifier", "score.", "qa_outputs", "summary")
"""Parts of names of heads that write none."""

ENCODER = ("encoder.layer", "encoder.block")
"""Parts of the names of an encoder's weights."""


def auto_class_of(config: dict[str, Any], names: list[str]) -> Any:
    """The class that keeps the checkpoint's own head: a language model's, a masked model's, or none."""
    import transformers

    if class_name := model_class(str(config.get("model_type"))):
        kind = attrgetter(class_name)(transformers)
        transformers.AutoModel.register(kind.config_class, kind, exist_ok=True)
        return transformers.AutoModel
    class_names = config.get("architectures")
    architecture = str(class_names[0]) if isinstance(class_names, list) and class_names else ""
    if not hasattr(transformers, architecture) and not architecture.endswith(tuple(HEADS)):
        architecture = _end_by_weights(config, names)
    encoder_alone = names and not any("decoder" in name for name in names) and any("encoder.block" in n for n in names)
    if architecture.endswith("EncoderModel") or encoder_alone:
        return transformers.AutoModelForTextEncoding
    if architecture.endswith(("ForConditionalGeneration", "MTModel")):
        return transformers.AutoModelForSeq2SeqLM
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        family = str(config.get("model_type"))
        has_causal_class = family not in transformers.CONFIG_MAPPING or (
            transformers.CONFIG_MAPPING[family] in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
        )
        if has_causal_class:
            return transformers.AutoModelForCausalLM
        has_picture_class = transformers.CONFIG_MAPPING[family] in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        return transformers.AutoModelForImageTextToText if has_picture_class else transformers.AutoModel
    return transformers.AutoModelForMaskedLM if architecture.endswith("ForMaskedLM") else transformers.AutoModel


def _end_by_weights(config: dict[str, Any], names: list[str]) -> str:
    """The end of the name of the class that a family's weights were saved from; "" for one without a head for words.

    A head that is the table of words has no weights of its own in a file.
    """
    import transformers

    family = str(config.get("model_type"))
    if family not in transformers.CONFIG_MAPPING:
        return "ForCausalLM" if _has(names, HEADS["ForCausalLM"]) else ""
    kind: Any = transformers.CONFIG_MAPPING[family]
    if kind in transformers.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING and _has(names, ENCODER):
        end = "ForConditionalGeneration"
    else:
        end = "ForMaskedLM" if kind in transformers.MODEL_FOR_MASKED_LM_MAPPING else "ForCausalLM"
    may_be_tied = bool(names) and end != "ForMaskedLM" and not _has(names, OTHER_HEADS)
    is_tied = may_be_tied and config.get("tie_word_embeddings", getattr(kind(), "tie_word_embeddings", False))
    return end if is_tied or _has(names, HEADS[end]) else ""


def _has(names: list[str], parts: tuple[str, ...]) -> bool:
    return any(part in name for name in names for part in parts)
