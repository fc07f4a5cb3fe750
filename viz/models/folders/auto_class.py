"""The class of transformers that a folder's model is read with."""

from operator import attrgetter
from typing import Any

from viz.models.layout import model_class


def auto_class_of(config: dict[str, Any], names: list[str]) -> Any:
    """The class that keeps the checkpoint's own head: a language model's, a masked model's, or none.

    Args:
        config: of the model; old ones do not say their architecture.
        names: of its weights, if they are known.
    """
    import transformers

    if class_name := model_class(str(config.get("model_type"))):
        kind = attrgetter(class_name)(transformers)
        transformers.AutoModel.register(kind.config_class, kind, exist_ok=True)
        return transformers.AutoModel
    architecture = str(next(iter(config.get("architectures") or []), ""))
    encoder_alone = names and not any("decoder" in name for name in names) and any("encoder.block" in n for n in names)
    if architecture.endswith("EncoderModel") or encoder_alone:
        return transformers.AutoModelForTextEncoding
    if architecture.endswith(("ForConditionalGeneration", "MTModel")):
        return transformers.AutoModelForSeq2SeqLM
    if architecture.endswith(("ForCausalLM", "LMHeadModel")) or (not architecture and _has(names, "lm_head.weight")):
        family = str(config.get("model_type"))
        has_causal_class = family not in transformers.CONFIG_MAPPING or (
            transformers.CONFIG_MAPPING[family] in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
        )
        if has_causal_class:
            return transformers.AutoModelForCausalLM
        has_picture_class = transformers.CONFIG_MAPPING[family] in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        return transformers.AutoModelForImageTextToText if has_picture_class else transformers.AutoModel
    masked = architecture.endswith("ForMaskedLM") or (not architecture and _has(names, "cls.predictions"))
    return transformers.AutoModelForMaskedLM if masked else transformers.AutoModel


def _has(names: list[str], part: str) -> bool:
    return any(part in name for name in names)
