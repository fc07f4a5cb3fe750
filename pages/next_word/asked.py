"""Values for lessons about the next word: every logit, and the parts of the followed word's logit."""

from dataclasses import replace

from pages.next_word import compute
from pages.next_word.context import NextWordContext
from viz.frame.compute import model
from viz.lessons.subject import Decoder, Subject
from viz.models.stream import logits_of, writable_token


def subject(context: NextWordContext) -> Subject:
    """Return the decoder's text and its logits, recomputed: they are too large to cache."""
    source, tokens, trace = context.source, context.tokens, context.scene.trace
    loaded_model = model(source.model)
    return Subject(
        labels=tokens.labels,
        special=tokens.special,
        trace=trace,
        weights_of=lambda _: trace.weights,
        about=repr((source, context.at, context.tokens_compared)),
        decoder=Decoder(
            logits=logits_of(loaded_model, tokens.ids),
            ids=tuple(tokens.ids),
            at=context.at,
            word=lambda number: context.words([number])[0],
            token=lambda word: writable_token(loaded_model, word),
        ),
    )


def subject_of_parts(context: NextWordContext) -> Subject:
    """Return the same with the parts of the followed word's logit."""
    base, against = subject(context), -1 if context.against is None else context.against.token
    parts = compute.parts(context.source, context.at, context.word.token, against)
    contributions = {
        "heads": float(parts.heads.sum() + parts.biases.sum()),
        "feed_forward": float(parts.feed_forward.sum()),
        "embedding": parts.embedding,
    }
    assert base.decoder is not None
    return replace(base, decoder=replace(base.decoder, followed=context.asked, parts=contributions))
