"""What the documents tell a reader to type is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md")


def code(document: str) -> list[str]:
    """The code blocks and code spans of a document."""
    text = (ROOT / document).read_text()
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return [*blocks, *spans]


def named(document: str, program: str) -> set[str]:
    """The first arguments of a program in a document's code."""
    pattern = rf"(?:^|[\s;&|(/]){program} ([a-z][\w-]*)"
    return {word for piece in code(document) for word in re.findall(pattern, piece, re.MULTILINE)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_targets_exist(document: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE))
    assert named(document, "make") <= targets


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_exist(document: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pagesight", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    commands = set(re.findall(r"^[^\w\n]*([a-z]+)\b", done.stdout, re.MULTILINE))
    assert named(document, "pagesight") <= commands


def test_ci_runs_what_the_readme_says() -> None:
    last = (ROOT / ".ci/run").read_text().splitlines()[-1]
    assert last == "make test"
    assert any(last in piece for piece in code("README.md"))
