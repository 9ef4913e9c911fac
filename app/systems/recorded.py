"""Outputs that a system once gave, read from a file."""

from __future__ import annotations

from pathlib import Path

from ...data.aeb import read_outputs
from .protocol import StudyPage, System


class Recorded(System):
    """A system that is not here: it gives what its file says (see `data.aeb.read_outputs`).

    Raises DatasetError where the file cannot be read.
    """

    version = "recorded"

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self._texts = read_outputs(Path(path))

    def extract(self, page: StudyPage) -> str:
        """The text that is recorded for the page's id. Raises KeyError where there is none."""
        return self._texts[page.id]
