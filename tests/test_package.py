"""The package as a whole: its names, its layers, its wheel, how fast it starts."""

from __future__ import annotations

import ast
import re
import resource
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import pagesight

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]
SAMPLE = ROOT / "data/samples/article.html"

# What each layer may import, itself included.
LAYERS = {
    "render": {"render"},
    "data": {"data", "render"},
    "layout": {"layout", "render"},
    "model": {"model", "layout", "render"},
    "train": {"train", "model", "layout", "render", "data"},
    "app": {"app", "model", "layout", "render"},
}
# Whoever extracts loads none of these: `app` reaches them when a command for training is called.
WHEN_CALLED = {"train", "data"}
TRAINING = (
    "app/finishing.py",
    "app/fitting.py",
    "app/training.py",
    "app/comparison.py",
    "app/model_card.py",
    "app/renderings.py",
    "app/study/",
    "app/systems/",
)
TRAINING_NAMES = tuple(f"pagesight/{name.removesuffix('.py')}" for name in TRAINING)
HEAVY = {"torch", "playwright", "onnxruntime", "lxml", "PIL"}
TORCH_HOMES = (
    "train/",
    "model/export.py",
    "model/likelihood.py",
    "model/members.py",
    "model/networks.py",
    "model/vision.py",
    "model/web2text.py",
    "app/systems/rprop.py",
)
BUILD_LEFTOVERS = (".*", "build", "dist", "*.egg-info", "__pycache__")


def package_folder(package: str) -> Path:
    return ROOT.joinpath(*package.split(".")[1:])


MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in PACKAGES
    for path in package_folder(package).glob("*.py")
)


def imports(path: str) -> Iterator[tuple[str, bool]]:
    """Absolute names that a module imports, and whether it does so when it is itself imported."""
    yield from imports_of(ast.parse((ROOT / path).read_text()), path, at_import=True)


def imports_of(tree: ast.AST, path: str, at_import: bool) -> Iterator[tuple[str, bool]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((name, at_import) for name in absolute_names(node, path))
        else:
            deferred = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
                isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            )
            yield from imports_of(node, path, at_import and not deferred)


def absolute_names(node: ast.ImportFrom, path: str) -> list[str]:
    if not node.level:
        return [node.module or ""]
    package = ["pagesight", *Path(path).parts[:-1]]
    base = package[: len(package) - node.level + 1]
    if node.module:
        return [".".join([*base, node.module])]
    return [".".join([*base, alias.name]) for alias in node.names]


def layer(name: str) -> str:
    """The layer that `pagesight.layer.module` belongs to, empty for the root and other packages."""
    parts = name.split(".")
    return parts[1] if parts[0] == "pagesight" and len(parts) > 1 and parts[1] in LAYERS else ""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=True
    )


def seconds(*arguments: str, cwd: Path) -> float:
    """Processor time of one command: unlike wall time, it is the same on a busy machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("-m", "pagesight", *arguments, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_public_names() -> None:
    assert pagesight.__all__ == [
        "AsyncExtractor",
        "Block",
        "Document",
        "Extractor",
        "PagesightError",
        "Snapshot",
        "extract",
        "extract_snapshot",
        "render",
    ]
    assert set(pagesight.__all__) < set(dir(pagesight))
    assert all(callable(getattr(pagesight, name)) for name in pagesight.__all__)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = pagesight.no_such_name


def test_render_stays_callable_once_its_modules_are_imported() -> None:
    from pagesight.render import settings

    assert settings is not None
    assert callable(pagesight.render)


def test_import_loads_nothing_heavy(tmp_path: Path) -> None:
    script = "import sys, pagesight; print(*sys.modules)"
    loaded = set(run("-c", script, cwd=tmp_path).stdout.split())
    assert not loaded & (HEAVY | {"numpy"})


def test_version_is_written_once_more_only_in_pyproject() -> None:
    assert PROJECT["project"]["version"] == pagesight.__version__


def test_every_subpackage_is_listed() -> None:
    found = {"pagesight"}
    for init in ROOT.glob("[!.]*/**/__init__.py"):
        parts = init.relative_to(ROOT).parts[:-1]
        if parts[0] not in ("build", "dist"):
            found.add(".".join(("pagesight", *parts)))
    assert found == set(PACKAGES)


@pytest.mark.parametrize("path", MODULES)
def test_imports_point_one_way(path: str) -> None:
    own = path.partition("/")[0]
    if own not in LAYERS:  # the root's lazy names
        return
    for name, at_import in imports(path):
        late = own == "app" and (path.startswith(TRAINING) or not at_import)
        allowed = LAYERS[own] | {""} | (WHEN_CALLED if late else set())
        assert layer(name) in allowed, f"{path} imports {name}"
        own_kind = path.startswith(TRAINING) or not at_import
        assert own_kind or not name.replace(".", "/").startswith(TRAINING_NAMES), path


@pytest.mark.parametrize("path", MODULES)
def test_own_modules_are_imported_relatively(path: str) -> None:
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [ast.literal_eval(a) for a in node.args[:1] if isinstance(a, ast.Constant)]
        own = [name for name in names if name.split(".")[0] == "pagesight"]
        # A callable package cannot name its own module relatively: it has no import statement.
        assert not own or path == "render/__init__.py", f"{path} imports {own}"


@pytest.mark.parametrize("path", MODULES)
def test_torch_stays_in_training(path: str) -> None:
    if not path.startswith(TORCH_HOMES):
        roots = {name.split(".")[0] for name, _ in imports(path)}
        assert not roots & {"torch", "torchvision", "onnx", "onnxscript"}


@pytest.mark.parametrize("path", MODULES)
def test_modules_stay_short(path: str) -> None:
    assert len((ROOT / path).read_text().splitlines()) <= 300


def test_files_name_no_path_of_one_machine() -> None:
    foreign = re.compile(r"""(?:^|["'`\s=(])/(?:work|root|Users|home/\w+)/""", re.MULTILINE)
    own = [ROOT / path for path in MODULES]
    rest = [*ROOT.glob("*.*"), *ROOT.glob("tests/*.py"), *ROOT.glob(".ci/*"), ROOT / "Makefile"]
    named = [path for path in (*own, *rest) if path.is_file() and foreign.search(path.read_text())]
    assert not named


def test_wheel_holds_all_that_is_needed_and_nothing_else(tmp_path: Path) -> None:
    shutil.copytree(ROOT, tmp_path / "source", ignore=shutil.ignore_patterns(*BUILD_LEFTOVERS))
    command = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    run(*command, cwd=tmp_path / "source")
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = {name.removeprefix("pagesight/") for name in wheel.namelist()}
    needed = [ROOT / "py.typed", *(ROOT / path for path in MODULES)]
    for folder in ("model/weights", "data/samples"):
        files = [path for path in (ROOT / folder).iterdir() if path.is_file()]
        assert files, f"{folder} is empty"
        needed += files
    assert {path.relative_to(ROOT).as_posix() for path in needed} <= names
    assert not [name for name in names if name.startswith(("tests/", ".", "pagesight/tests"))]
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_help_is_quick(tmp_path: Path) -> None:
    assert min(seconds("--help", cwd=tmp_path) for _ in range(5)) < 0.5


def test_extraction_without_a_browser_is_quick(tmp_path: Path) -> None:
    command = ("extract", "--no-render", str(SAMPLE))
    assert min(seconds(*command, cwd=tmp_path) for _ in range(3)) < 1.5


@pytest.mark.parametrize("path", sorted(ROOT.glob("model/weights/*.onnx")), ids=lambda p: p.name)
def test_networks_tell_nothing_of_where_they_were_made(path: Path) -> None:
    assert b".py" not in path.read_bytes()
