"""The wheel: ``viz`` and ``pages`` of the checkout under a name of their own, ``headlight_viz``.

An editable install leaves the names as they are in the checkout.
"""

import ast
import re
import shutil
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

NAME = "headlight_viz"
NEW_NAMES = {"viz": NAME, "pages": f"{NAME}.pages"}
ENTRY = ("app.py", ".streamlit/config.toml")
"""The app's script and Streamlit's settings for it; Streamlit puts their folder on the path, so it has nothing else."""
MODULE = re.compile(r"""([rf]?["'])(viz|pages)(?=(?:\.[\w{}]+)+["']$)""")
STATEMENT = re.compile(r"((?:from|import)\s+)(viz|pages)\b")
CALL = re.compile(r"\bviz\.(?=(?:show|why|watch)\b)")


def rename_imports(source: str) -> str:
    """Return a module's source with the new names in imports and strings that name modules; ``hl.show`` in others."""
    data = source.encode()
    starts = list(accumulate((len(line) + 1 for line in data.split(b"\n")), initial=0))
    # From the end, so that the places of those before stay.
    for node in sorted(nodes(ast.parse(source)), key=lambda node: (node.lineno, node.col_offset), reverse=True):
        span = slice(starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)
        data = data[: span.start] + renamed(node, data[span].decode()).encode() + data[span.stop :]
    return data.decode()


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the imports and the strings below a node, of an f-string the whole."""
    is_string = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    if is_string or isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    else:
        for child in ast.iter_child_nodes(node):
            yield from nodes(child)


def renamed(node: ast.AST, text: str) -> str:
    """Return the text of an import or of a string with the new names."""
    pattern = STATEMENT if isinstance(node, ast.Import | ast.ImportFrom) else MODULE
    return CALL.sub("hl.", pattern.sub(lambda match: match[1] + NEW_NAMES[match[2]], text, count=1))


class BuildRenamed(build_py):
    """Copies the packages, renames their imports, and puts the app's script beside them."""

    def run(self) -> None:
        """Build."""
        folder = Path(self.build_lib, NAME)
        if not self.editable_mode:
            # What an earlier build left there may be gone from the checkout.
            shutil.rmtree(folder, ignore_errors=True)
        super().run()
        if self.editable_mode:
            return
        for name in ENTRY:
            (target := folder / "entry" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, target)
        for file in folder.rglob("*.py"):
            file.write_bytes(rename_imports(file.read_text("utf8")).encode())
        for file in folder.rglob("*.toml"):
            file.write_bytes(CALL.sub("hl.", file.read_text("utf8")).encode())
        # Streamlit looks for the folder of a component below the package that has the distribution's name.
        manifest = folder / "components" / "package" / "pyproject.toml"
        text = manifest.read_text("utf8").replace('"headlight"', '"headlight-viz"')
        manifest.write_text(text.replace('"loader"', '"components/package/loader"'), "utf8")

    def get_source_files(self) -> list[str]:
        """Return the files that a source distribution needs."""
        return [*super().get_source_files(), *ENTRY]


class EditableCheckout(editable_wheel):
    """Leaves the checkout's names: ``import viz``."""

    def run(self) -> None:
        """Install."""
        self.distribution.packages, self.distribution.package_dir = find_packages(include=["viz*"]), {}
        self.distribution.entry_points = {"console_scripts": ["headlight = viz.__main__:main"]}
        super().run()


if __name__ == "__main__":
    setup(
        packages=[
            re.sub(r"^\w+", lambda match: NEW_NAMES[match[0]], name)
            for name in find_packages(include=["viz", "viz.*", "pages", "pages.*"])
        ],
        package_dir={NAME: "viz", f"{NAME}.pages": "pages"},
        cmdclass={"build_py": BuildRenamed, "editable_wheel": EditableCheckout},
    )
