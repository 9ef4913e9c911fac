"""Every page of the data sets has an answer: a benchmark, since it takes minutes."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from pagesight import Extractor
from pagesight.data.datasets import Dataset, open_dataset

pytestmark = pytest.mark.bench

DATA = Path(os.environ.get("PAGESIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
ANSWERS = {"ok", "partial", "empty"}


def dataset(name: str) -> Dataset:
    if not (DATA / name).is_dir():
        pytest.skip(f"{name} is not at hand: set PAGESIGHT_DATA")
    return open_dataset(name, DATA)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "render", "pages"),
    [
        ("cleaneval", False, None),
        ("wcxb", False, None),
        ("cleaneval", True, None),
        ("wcxb", True, 300),
    ],
)
def test_every_page_has_an_answer(name: str, render: bool, pages: int | None) -> None:
    source = dataset(name)
    ids = source.ids()
    if pages is not None:
        ids = tuple(random.Random(0).sample(ids, pages))
    statuses: Counter[str] = Counter()
    with Extractor(render=render, reasons=False) as extractor:
        for id in ids:
            record = source.load(id)
            document = extractor.extract(record.content, url=record.url)
            statuses[document.status] += 1
            if document.status != "ok":
                print(f"{name} {id}: {document.status}: {document.error}")
    print(f"{name}, {'rendered' if render else 'static'}: {dict(statuses)}")
    assert set(statuses) <= ANSWERS
    assert statuses["ok"] > 0.95 * len(ids)
