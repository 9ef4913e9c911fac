"""CleanEval 2007, with the character alignment published beside Web2Text (2018).

Layout: `orig/ID.html` (the page in a one-line `<text id= title= encoding=>` wrapper),
`clean/ID.txt` (gold text with `<p>`, `<h>`, `<l>` marks, most with a `URL:` line on top) and
`aligned/ID.txt` (the page with `DROPPED` for each character that is not content).
"""

import html
import json
import re
from importlib.resources import files
from pathlib import Path

from ..render.errors import DatasetError
from .records import PARTS, Dataset, PageRecord, read_bytes, require

SPLITS = ("web2text", "cleaneval")

_WRAPPER = re.compile(r'<text id="(?P<url>.*?)"(?: title="(?P<title>.*)")? encoding="[^"]*">')
_URL_LINE = re.compile(r"\A\s*URL:.*\n?", re.IGNORECASE)
_MARK = re.compile(r"</?[phl]>", re.IGNORECASE)


class CleanEval(Dataset):
    """737 English pages of 2006 and 2007.

    `web2text` is the 531/58/148 split of the Web2Text paper, `cleaneval` the 56/5/676 split of
    the original competition. The published files do not hold the splits: they ship in
    `cleaneval-splits.json`.
    """

    name = "cleaneval"

    def __init__(self, root: Path):
        for folder in ("orig", "clean", "aligned"):
            require(root / folder)
        published = json.loads(files(__package__).joinpath("cleaneval-splits.json").read_text())
        partitions = {
            split: {part: tuple(map(str, published[split][part])) for part in PARTS}
            for split in SPLITS
        }
        super().__init__(root, tuple(map(str, published["order"])), partitions)

    def load(self, id: str) -> PageRecord:
        """One page, its content without the wrapper's lines; raises DatasetError."""
        path = self.root / "orig" / f"{id}.html"
        wrapper, _, body = _decode(read_bytes(path)).partition("\n")
        source, end_tag, _ = body.rpartition("\n</text>")
        head = _WRAPPER.match(wrapper)
        if head is None or not end_tag:
            raise DatasetError(f"{path}: no <text ...> wrapper around the page")
        mask = _decode(read_bytes(self.root / "aligned" / f"{id}.txt"))
        if len(mask) != len(source):
            raise DatasetError(f"{path}: {len(source)} characters, but {len(mask)} are aligned")
        marked = _decode(read_bytes(self.root / "clean" / f"{id}.txt"))
        return PageRecord(
            id=id,
            url=html.unescape(head["url"]),
            content=source.encode(),
            charset="utf-8",
            gold=plain_gold(marked),
            mask=mask,
            marked=marked,
            title=html.unescape(head["title"]) if head["title"] else None,
        )


def plain_gold(marked: str) -> str:
    """A gold file's text without its `URL:` line and its paragraph, heading and list marks."""
    return _MARK.sub("", _URL_LINE.sub("", marked)).strip()


def _decode(data: bytes) -> str:
    # The alignment was made on text read this way: its lengths agree on all 737 pages.
    text = data.decode("utf-8-sig", errors="ignore")
    return text.replace("\r\n", "\n").replace("\r", "\n")
