"""``python -m tools.train NAME``, with the options of that training."""

import importlib
import sys

NAMES = ("twins", "layer_sharing", "today", "translator", "digits")


def main() -> None:
    """Run the training that is named first."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"python -m tools.train with one of {', '.join(NAMES)}")
    importlib.import_module(f"tools.train.{sys.argv.pop(1)}").main()


if __name__ == "__main__":
    main()
