"""What extraction costs, as tables and as limits; `make bench` runs this."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from pagesight.app.api import Extractor
from pagesight.app.document import build_document
from pagesight.data.datasets import ENVIRONMENT, PageRecord, open_dataset
from pagesight.model.predict import Model
from pagesight.render.browser import find_browser
from pagesight.render.errors import DatasetError
from pagesight.render.settings import RenderSettings
from pagesight.train.bench import (
    Contest,
    Run,
    Series,
    contest_rendered,
    contest_static,
    draw,
    measure,
)

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "data/samples/article.html"
DATA = Path(os.environ.get(ENVIRONMENT) or ROOT.parent / "shared/data")
PAGESIGHT = (sys.executable, "-m", "pagesight")

STATIC_PAGES, RENDERED_PAGES = 200, 60
MOST_OF_TRAFILATURA = 1.0
MOST_OF_GOTO = 1.6

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]
needs_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine")


def pages(dataset: str, count: int) -> list[PageRecord]:
    try:
        return draw(open_dataset(dataset, DATA), count)
    except DatasetError as error:
        pytest.skip(f"{error}; set {ENVIRONMENT} to the folder of the data sets")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the static contest as files."""
    path = tmp_path_factory.mktemp("pages")
    for record in pages("wcxb", STATIC_PAGES):
        (path / f"{record.id}.html").write_bytes(record.content)
    return path


@pytest.mark.filterwarnings("ignore")  # what trafilatura's libraries warn of is not ours to mend
def test_static_against_trafilatura() -> None:
    from trafilatura import extract

    contest = contest_static(pages("wcxb", STATIC_PAGES), Model.load(), build_document, extract)
    print_contest(
        f"Static, {STATIC_PAGES} WCXB pages: CPU ms a page",
        contest,
        "trafilatura.extract(bytes), its defaults",
    )
    assert contest.ratio <= MOST_OF_TRAFILATURA


@needs_browser
def test_rendered_against_a_bare_goto() -> None:
    half = RENDERED_PAGES // 2
    both = zip(pages("cleaneval", half), pages("wcxb", half), strict=True)
    with Extractor(reasons=False) as extractor:
        records = [record for pair in both for record in pair]
        as_extracted = RenderSettings(screenshot_scale=0)  # an Extractor's own default
        contest = asyncio.run(contest_rendered(records, extractor.extract, as_extracted))
    print_contest(
        f"Rendered, {RENDERED_PAGES} pages of CleanEval and WCXB: CPU ms a page, all processes",
        contest,
        "playwright's goto alone",
    )
    assert contest.failed <= RENDERED_PAGES / 10
    assert contest.ratio <= MOST_OF_GOTO


def test_memory_static(folder: Path, tmp_path: Path) -> None:
    run = measure((*PAGESIGHT, "extract", "--no-render", folder), tmp_path)
    print_runs(f"extract --no-render, a folder of {STATIC_PAGES} pages", {"static": [run]})


@needs_browser
def test_memory_rendered(folder: Path, tmp_path: Path) -> None:
    run = measure((*PAGESIGHT, "extract", folder), tmp_path)
    print_runs(f"extract, a folder of {STATIC_PAGES} pages", {"rendered": [run]})


def test_start_up(tmp_path: Path) -> None:
    commands = {
        "--help": ("--help",),
        "extract --no-render article.html": ("extract", "--no-render", str(SAMPLE)),
    }
    runs = {
        name: [measure((*PAGESIGHT, *command), tmp_path) for _ in range(5)]
        for name, command in commands.items()
    }
    print_runs("Start-up, median of 5", runs)


def print_contest(title: str, contest: Contest, rival: str) -> None:
    """One row a stage in milliseconds a page, the sum, what is not in it, the rival, the ratio."""
    ours, other = contest.ours, contest.rival
    table = Table(title=title, title_justify="left")
    for column in ("", "mean", "median", "share"):
        table.add_column(column, justify="right" if column else "left")
    for stage in contest.stages:
        table.add_row(stage.name, *milliseconds(stage), f"{stage.mean / ours.mean:.0%}")
    table.add_section()
    table.add_row(ours.name, *milliseconds(ours), "100%")
    for extra in contest.more:
        table.add_row(f"with {extra.name} also", *milliseconds(extra), "")
    table.add_row(rival, *milliseconds(other), "")
    table.add_section()
    table.add_row("ratio", f"{contest.ratio:.2f}", f"{ours.median / other.median:.2f}", "")
    Console().print(table)


def milliseconds(series: Series) -> tuple[str, str]:
    return f"{series.mean * 1000:.1f}", f"{series.median * 1000:.1f}"


def print_runs(title: str, runs: dict[str, Sequence[Run]]) -> None:
    """One row a command: the medians of its runs."""
    table = Table(title=title, title_justify="left")
    for column in ("", "wall s", "CPU s", "peak RSS MB"):
        table.add_column(column, justify="right" if column else "left")
    for name, several in runs.items():
        wall, cpu, peak = (
            statistics.median(getattr(run, field) for run in several)
            for field in ("wall", "cpu", "peak")
        )
        table.add_row(name, f"{wall:.2f}", f"{cpu:.2f}", f"{peak / 2**20:.0f}")
    Console().print(table)
