"""WCXB, the Web Content Extraction Benchmark (2026).

Layout: `dev/html/ID.html.gz`, `dev/ground-truth/ID.json`, `metadata.json` (page type and domain
of each page).
"""

from pathlib import Path
from typing import NotRequired, TypedDict

from ..render.errors import DatasetError
from .records import PARTS, Dataset, PageRecord, Partition, bucket, read_bytes, read_json, require

FOLDS = 5


# In functional form because `with` is a keyword.
_GroundTruth = TypedDict(
    "_GroundTruth",
    {
        "title": str,
        "author": str | None,
        "publish_date": str | None,
        "main_content": NotRequired[str],
        "with": list[str],
        "without": list[str],
    },
)


class Wcxb(Dataset):
    """Pages of seven types from the live web.

    `fold0` to `fold4` are five splits for cross-validation; no site is in two parts of one. The
    fold's own pages are its test part, the next fold's are its validation part. The split
    `articles` has the pages of that type in its training part.
    """

    name = "wcxb"

    def __init__(self, root: Path):
        require(root / "dev" / "html")
        require(root / "dev" / "ground-truth")
        path = root / "metadata.json"
        try:
            pages = {
                str(id): (str(page["domain"]), str(page["page_type"]))
                for id, page in read_json(path)["files"].items()
                if page["split"] == "dev"
            }
        except (KeyError, TypeError, AttributeError) as error:
            raise DatasetError(f"{path}: not as published: {error!r}") from error
        self._types = {id: page_type for id, (_, page_type) in pages.items()}
        articles = tuple(id for id, kind in self._types.items() if kind == "article")
        partitions = _folds({id: domain for id, (domain, _) in pages.items()})
        partitions["articles"] = {"train": articles, "validation": (), "test": ()}
        super().__init__(root, tuple(pages), partitions)

    def load(self, id: str) -> PageRecord:
        """One page; raises DatasetError.

        Two pages are published without a content text: their gold is None.
        """
        path = self.root / "dev" / "ground-truth" / f"{id}.json"
        published = read_json(path)
        try:
            truth: _GroundTruth = published["ground_truth"]
            return PageRecord(
                id=id,
                url=published["url"],
                content=read_bytes(self.root / "dev" / "html" / f"{id}.html"),
                charset="",
                gold=truth.get("main_content"),
                page_type=self._types[id],
                title=truth["title"],
                author=truth["author"],
                date=truth["publish_date"],
                with_snippets=tuple(truth["with"]),
                without_snippets=tuple(truth["without"]),
            )
        except (KeyError, TypeError) as error:
            raise DatasetError(f"{path}: not as published: {error!r}") from error


def site(domain: str) -> str:
    """The part of a host name that one owner registers, as a rule of thumb.

    >>> site("docs.example.com"), site("www.example.co.uk")
    ('example.com', 'example.co.uk')
    """
    labels = domain.lower().split(".")
    is_country_code_second_level = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3:] if is_country_code_second_level else labels[-2:])


def _folds(domains: dict[str, str]) -> dict[str, Partition]:
    fold_of = {id: bucket(site(domain), FOLDS) for id, domain in domains.items()}
    partitions: dict[str, Partition] = {}
    for fold in range(FOLDS):
        part_of_fold = {fold: "test", (fold + 1) % FOLDS: "validation"}
        partitions[f"fold{fold}"] = {
            part: tuple(id for id in domains if part_of_fold.get(fold_of[id], "train") == part)
            for part in PARTS
        }
    return partitions
