"""How well the packaged model does on sites that keep their styles; `make bench` runs this."""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from pagesight.app.renderings import render_all, stored
from pagesight.data.datasets import Dataset, PageRecord, Styled
from pagesight.data.styled import ROOT
from pagesight.layout.page import build_page
from pagesight.model.predict import Model
from pagesight.render.browser import find_browser
from pagesight.render.charset import choose, decode
from pagesight.render.errors import DatasetError
from pagesight.render.snapshot import Snapshot
from pagesight.train.evaluate import joined
from pagesight.train.examples import static_snapshot
from pagesight.train.metrics import word_f1

ENVIRONMENT = "PAGESIGHT_STYLED"
SYSTEMS = ("rendered", "static", "trafilatura")
LEAST_F1 = 0.95

pytestmark = [
    pytest.mark.bench,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine"),
    pytest.mark.filterwarnings("ignore"),  # what trafilatura's libraries warn of
]


@pytest.fixture(scope="module")
def dataset() -> Styled:
    """The sites below PAGESIGHT_STYLED, else those that are installed."""
    try:
        return Styled(Path(os.environ.get(ENVIRONMENT) or ROOT))
    except DatasetError as error:
        pytest.skip(f"{error}; set {ENVIRONMENT} to that folder")


def test_word_f1_by_site(dataset: Styled, capsys: pytest.CaptureFixture[str]) -> None:
    ids = dataset.ids("themes", "test")
    render_all(dataset, ids)
    scores = score_pages(dataset, ids)
    means = {s: statistics.fmean(page[s] for page in scores.values()) for s in SYSTEMS}
    with capsys.disabled():
        Console(width=100).print(by_site(dataset, scores, means))
    assert len(ids) >= 100
    assert means["rendered"] >= LEAST_F1


def score_pages(dataset: Dataset, ids: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Word F1 of each page by each system."""
    from trafilatura import extract

    model, snapshot_of = Model.load(), stored(dataset, ids)
    scores = {}
    for id in ids:
        record = dataset.load(id)
        snapshot = snapshot_of(record)
        assert snapshot is not None
        texts = {
            "rendered": content(model, snapshot),
            "static": content(model, static_snapshot(record)),
            "trafilatura": extract(source(record)) or "",
        }
        scores[id] = {name: word_f1(text, record.gold or "") for name, text in texts.items()}
    return scores


def content(model: Model, snapshot: Snapshot) -> str:
    """What the model keeps of a page."""
    page = build_page(snapshot)
    return joined(page, model.label(page, False).content)


def source(record: PageRecord) -> str:
    """The page as text."""
    return decode(record.content, choose(record.content, record.charset))


def by_site(dataset: Styled, scores: dict[str, dict[str, float]], means: dict[str, float]) -> Table:
    """A line a site, and the means over pages below."""
    table = Table(title=f"word F1, {len(scores)} test pages of styled sites", show_footer=True)
    table.add_column("site", "mean of pages")
    table.add_column("theme")
    table.add_column("pages", str(len(scores)), justify="right")
    for name in SYSTEMS:
        table.add_column(name, f"{means[name]:.3f}", justify="right")
    for site in dict.fromkeys(dataset.site(id) for id in scores):
        pages = [page for id, page in scores.items() if dataset.site(id) is site]
        figures = (f"{statistics.fmean(page[name] for page in pages):.3f}" for name in SYSTEMS)
        table.add_row(site.name, site.theme, str(len(pages)), *figures)
    return table
