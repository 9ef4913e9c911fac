"""What the packaged model costs, and how little the width of the window matters to it."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from pagesight.data.datasets import ENVIRONMENT, PageRecord, open_dataset
from pagesight.layout.page import build_page
from pagesight.model.predict import Model
from pagesight.render.browser import find_browser
from pagesight.render.capture import Renderer
from pagesight.render.charset import choose
from pagesight.render.errors import DatasetError
from pagesight.render.loop import LoopThread
from pagesight.render.settings import RenderSettings
from pagesight.train.evaluate import joined
from pagesight.train.examples import static_snapshot, stored_page
from pagesight.train.metrics import word_f1

DATA = Path(os.environ.get(ENVIRONMENT) or Path(__file__).parents[2] / "shared/data")
PAGES = 100
MOST_MILLISECONDS = 30.0
WIDTHS = (800, 1280, 1920)
MOST_APART = 0.01

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def records() -> list[PageRecord]:
    """The first test pages of Web2Text's split."""
    try:
        dataset = open_dataset("cleaneval", DATA)
    except DatasetError as error:
        pytest.skip(f"{error}; set {ENVIRONMENT} to the folder of the data sets")
    return [dataset.load(id) for id in list(dataset.ids("web2text", "test"))[:PAGES]]


@pytest.mark.filterwarnings("ignore")  # what the others' libraries warn of is not ours to mend
def test_inference_of_a_page(records: list[PageRecord], capsys: pytest.CaptureFixture[str]) -> None:
    from resiliparse.extract.html2text import extract_plain_text
    from trafilatura import extract

    model = Model.load()
    pages = [build_page(static_snapshot(record)) for record in records]
    texts = [record.content.decode("utf-8", "replace") for record in records]
    systems: dict[str, tuple[Callable[..., object], list[object]]] = {
        "pagesight: features and model": (lambda page: model.label(page, False), [*pages]),
        "pagesight: with reasons": (model.label, [*pages]),
        "pagesight: parsing": (lambda record: build_page(static_snapshot(record)), [*records]),
        "trafilatura, all of it": (extract, [*texts]),
        "resiliparse, all of it": (lambda t: extract_plain_text(t, main_content=True), [*texts]),
    }
    table, medians = Table(title=f"CPU ms a page, {PAGES} CleanEval pages"), {}
    for column in ("", "median", "mean", "ratio of medians"):
        table.add_column(column, justify="left" if not column else "right")
    for name, (run, given) in systems.items():
        run(given[0])
        spent = [cpu(run, page) for page in given]
        medians[name] = statistics.median(spent)
        ratio = medians[name] / next(iter(medians.values()))
        table.add_row(
            name, f"{medians[name]:.1f}", f"{statistics.fmean(spent):.1f}", f"{ratio:.2f}"
        )
    with capsys.disabled():
        Console(width=100).print(table)
    assert medians["pagesight: features and model"] <= MOST_MILLISECONDS


@pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine")
def test_the_width_of_the_window_hardly_matters(
    records: list[PageRecord], capsys: pytest.CaptureFixture[str]
) -> None:
    model, scores = Model.load(policy="cleaneval"), {}
    for width in WIDTHS:
        loop = LoopThread()
        renderer = Renderer(RenderSettings(width=width, screenshot_scale=0))
        try:
            scores[width] = [loop.run(score(renderer, model, record)) for record in records]
        finally:
            loop.run(renderer.close())
            loop.close()
    means = {width: float(np.mean(found)) for width, found in scores.items()}
    with capsys.disabled():
        print(f"\nword F1 on {PAGES} pages by the width of the window: {means}")
    assert max(means.values()) - min(means.values()) <= MOST_APART


def cpu(run: Callable[..., object], page: object) -> float:
    """Milliseconds of one call."""
    start = time.process_time()
    run(page)
    return 1000 * (time.process_time() - start)


async def score(renderer: Renderer, model: Model, record: PageRecord) -> float:
    """Word F1 of one page, as it is laid out by this renderer."""
    source = stored_page(record)
    charset = choose(source.content, source.charset)
    page = build_page(await renderer.replay(source.content, source.address, charset))
    return word_f1(joined(page, model.label(page, False).content), record.gold or "")
