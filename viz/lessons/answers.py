"""The functions that compute right answers, by name: a lesson's file names one for each question.

They contain no answers: each computes one from the page's subject.
"""

from viz.lessons import (
    about_chosen,
    about_convolution,
    about_hand,
    about_layer,
    about_masks,
    about_reasons,
    about_sharing,
    about_sinks,
    about_trust,
    about_weights,
)
from viz.lessons.key import Key, Registry
from viz.lessons.lesson import Step
from viz.lessons.subject import Subject
from viz.lessons.whole_model import about_feed_forward, about_growing, about_next_word

ANSWERS: Registry = {
    **about_weights.ANSWERS,
    **about_hand.ANSWERS,
    **about_layer.ANSWERS,
    **about_masks.ANSWERS,
    **about_trust.ANSWERS,
    **about_reasons.ANSWERS,
    **about_sharing.ANSWERS,
    **about_sinks.ANSWERS,
    **about_chosen.ANSWERS,
    **about_convolution.ANSWERS,
    **about_growing.ANSWERS,
    **about_next_word.ANSWERS,
    **about_feed_forward.ANSWERS,
}


def key_of(step: Step, subject: Subject, read: str) -> Key:
    """Return the right answer to a step's question about the page.

    Raises:
        PremiseError: if that cannot be asked of it.
    """
    return ANSWERS[step.ask.answer].work(subject, **step.ask.arguments[read])
