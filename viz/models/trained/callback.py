"""A callback for the Trainer of transformers."""

from collections.abc import Callable

from transformers import TrainerCallback


class StepCallback(TrainerCallback):  # type: ignore[misc]
    """Hands on the number of each step, and of those where a training begins and ends as such."""

    def __init__(self, note: Callable[..., None]) -> None:
        self.on_step_end = lambda _args, state, *_, **__: note(state.global_step)
        self.on_train_begin = self.on_train_end = lambda _args, state, *_, **__: note(state.global_step, True)
