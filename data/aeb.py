"""The Article Extraction Benchmark (Zyte, formerly Scrapinghub; 2019).

Layout: `html/ID.html.gz`, `ground-truth.json` with `{ID: {"articleBody": text, "url": ...}}`, and
`output/SYSTEM.json` (see `read_outputs`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..render.errors import DatasetError
from .records import Dataset, PageRecord, read_bytes, read_json, require


class Aeb(Dataset):
    """181 news and blog articles, to test on only: there is no split but `all`."""

    name = "aeb"

    def __init__(self, root: Path):
        require(root / "html")
        self._path = root / "ground-truth.json"
        self._truth: Mapping[str, Mapping[str, str]] = read_json(self._path)
        super().__init__(root, tuple(self._truth), {})

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems whose recorded outputs are there, sorted."""
        outputs = (self.root / "output").glob("*.json*")
        return tuple(sorted({path.name.partition(".json")[0] for path in outputs}))

    def load(self, id: str) -> PageRecord:
        """One article; raises DatasetError."""
        try:
            truth = self._truth[id]
            gold, url = truth["articleBody"], truth.get("url", "")
        except (KeyError, TypeError) as error:
            raise DatasetError(f"{self._path}: no article {id}: {error!r}") from error
        return PageRecord(
            id=id,
            url=url,
            content=read_bytes(self.root / "html" / f"{id}.html"),
            charset="",
            gold=gold,
            page_type="article",
        )

    def recorded(self, system: str) -> dict[str, str]:
        """Text that a system gave for each page id, "" where it gave none; raises DatasetError."""
        return read_outputs(self.root / "output" / f"{system}.json")


def read_outputs(path: Path) -> dict[str, str]:
    """Texts that a system gave, by page id, "" where it gave none; raises DatasetError.

    The file is `{ID: {"articleBody": text}}`, the same as the `output` of an object that has the
    system's `version` beside it, `{ID: text}`, or `{ID: {"objects": [{"text": text}]}}` as Diffbot
    answers.
    """
    published = read_json(path)
    try:
        outputs = published["output"] if "version" in published else published
        return {id: _text(output) for id, output in outputs.items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise DatasetError(f"{path}: not as published: {error!r}") from error


def _text(output: Any) -> str:
    if isinstance(output, str):
        return output
    if "objects" in output:
        return str(output["objects"][0].get("text") or "") if output["objects"] else ""
    return str(output.get("articleBody") or "")
