"""One's own pages as a data set.

Layout: a folder of `NAME.html` with the gold text in `NAME.txt` beside it, in UTF-8; either may
be gzipped (`NAME.html.gz`, `NAME.txt.gz`). A page without a text file has no gold. The page's id
is NAME. `random` is its split: 80/10/10, by a hash of the id, so that a page stays in its part
when others are added.
"""

from pathlib import Path

from ..render.errors import DatasetError
from .records import PARTS, Dataset, PageRecord, bucket, read_bytes


class Folder(Dataset):
    """HTML files with a text file beside each; order is by name."""

    name = "folder"

    def __init__(self, root: Path):
        pages = [*root.glob("*.html"), *root.glob("*.html.gz")]
        order = tuple(
            sorted({path.name.removesuffix(".gz").removesuffix(".html") for path in pages})
        )
        if not order:
            raise DatasetError(f"{root}: no *.html or *.html.gz in this folder")
        parts: dict[str, list[str]] = {part: [] for part in PARTS}
        for id in order:
            parts[_part(id)].append(id)
        super().__init__(root, order, {"random": {part: tuple(ids) for part, ids in parts.items()}})

    def load(self, id: str) -> PageRecord:
        """One page; raises DatasetError."""
        text = self.root / f"{id}.txt"
        has_gold = text.exists() or text.with_name(text.name + ".gz").exists()
        try:
            gold = read_bytes(text).decode("utf-8-sig") if has_gold else None
        except UnicodeDecodeError as error:
            raise DatasetError(f"{text}: no UTF-8: {error}") from error
        content = read_bytes(self.root / f"{id}.html")
        return PageRecord(id=id, url="", content=content, charset="", gold=gold)


def _part(id: str) -> str:
    tenth = bucket(id, 10)
    if tenth < 8:
        return "train"
    return "validation" if tenth == 8 else "test"
