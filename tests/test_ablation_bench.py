"""What each part of a model is worth on CleanEval, as a table; `make bench` runs this.

Trainings go into the store and are not repeated: an interrupted run goes on.
"""

from __future__ import annotations

import hashlib
import io
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from pagesight.app.fitting import TrainRequest, train_command
from pagesight.app.renderings import stored
from pagesight.app.study.bootstrap import Bootstrap, pooled_f1
from pagesight.app.training import Selection
from pagesight.data.datasets import ENVIRONMENT, open_dataset
from pagesight.layout.features import BLOCK
from pagesight.model.networks import NetworkSettings
from pagesight.model.predict import Model
from pagesight.render.errors import DatasetError
from pagesight.render.files import write_whole
from pagesight.render.store import cache_folder
from pagesight.train.ablation import (
    RENDERED,
    STATIC,
    VARIANTS,
    VIEWS,
    count_hits,
    hits,
    train_variant,
)
from pagesight.train.examples import load_examples, static_snapshot
from pagesight.train.samples import Sample, by_page
from pagesight.train.settings import FitSettings

DATA = Path(os.environ.get(ENVIRONMENT) or Path(__file__).parents[2] / "shared/data")
SEEDS = range(5)
MOST_LOST_WITHOUT_GEOMETRY = 0.01

pytestmark = [pytest.mark.bench, pytest.mark.timeout(6 * 3600)]


@cache
def pages_of(split: str, part: str) -> list[list[Sample]]:
    """Each page in both forms, the static one first."""
    dataset = open_dataset("cleaneval", DATA)
    ids = list(dataset.ids(split, part))
    makers = (static_snapshot, stored(dataset, ids))
    return by_page(e for maker in makers for e in load_examples(dataset, ids, maker))


def folder() -> Path:
    """Where trainings of these settings are kept."""
    digest = hashlib.sha256(repr((BLOCK.digest, NetworkSettings(), FitSettings())).encode())
    return cache_folder() / "ablation" / digest.hexdigest()[:12]


def measure(split: str, variant: str, seed: int) -> dict[str, np.ndarray]:
    """The counts of each view of a variant, trained with one seed; kept in the store."""
    path = folder() / f"{split}-{variant}-{seed}.npz"
    if not path.exists():
        members = train_variant(pages_of(split, "train"), VARIANTS[variant], FitSettings(seed=seed))
        counts = {
            name: count_hits(members, pages_of(split, "test"), view)
            for name, view in VIEWS.items()
            if view.variant == variant
        }
        buffer = io.BytesIO()
        np.savez(buffer, **counts)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getvalue())
    with np.load(path) as counts:
        return dict(counts)


# Views of the models that `train` makes: the form of the pages, and whether it looks at them.
SIGHTED = {
    "+ vision": (RENDERED, True),
    "+ vision, tested without": (RENDERED, False),
    "+ vision, tested without both": (STATIC, False),
}


def measure_sighted(split: str, seed: int) -> dict[str, np.ndarray]:
    """The counts of each view of the model that `train` makes with one seed."""
    path = folder() / f"{split}.seed{seed}.onnx"
    if not path.with_suffix(".json").exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        pages = [("cleaneval", Selection("cleaneval", DATA, split))]
        train_command(TrainRequest(pages, path, FitSettings(seed=seed)))
    model = Model.load(path)
    return {
        name: np.array([hits_of(model, page[form], look) for page in pages_of(split, "test")])
        for name, (form, look) in SIGHTED.items()
    }


def hits_of(model: Model, sample: Sample, look: bool) -> tuple[int, int, int]:
    kept = model.label(sample.page, reasons=False, vision=look).content
    return hits(sample, kept[sample.page.tree.break_before])


@pytest.mark.parametrize("split", ["cleaneval", "web2text"])
def test_what_each_part_is_worth(split: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        open_dataset("cleaneval", DATA)
    except DatasetError as error:
        pytest.skip(f"{error}; set {ENVIRONMENT} to the folder of the data sets")
    jobs = [(split, variant, seed) for seed in SEEDS for variant in VARIANTS]
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        sighted = pool.map(measure_sighted, [split] * len(SEEDS), SEEDS)
        found = [*pool.map(measure, *zip(*jobs, strict=True)), *sighted]
    # [seeds, pages, 3] of each view
    counts = {
        name: np.stack([counts[name] for counts in found if name in counts])
        for name in (*VIEWS, *SIGHTED)
    }
    table, lost = tabulate(split, counts)
    with capsys.disabled():
        Console(width=110).print(table)
    assert lost <= MOST_LOST_WITHOUT_GEOMETRY


def tabulate(split: str, counts: dict[str, np.ndarray]) -> tuple[Table, float]:
    """The table, and what the model loses on pages that are not rendered."""
    f1 = pooled_f1(0, 1, 2)
    bootstrap = Bootstrap(next(iter(counts.values())).shape[1])
    draws = {name: bootstrap.draw(each.sum(axis=0).astype(float)) for name, each in counts.items()}
    table = Table(title=f"CleanEval, {split}: block F1 on {len(SEEDS)} seeds")
    for column in ("", "F1", "95 % interval", "less text and DOM", "95 % interval"):
        table.add_column(column, justify="left" if not column else "right")
    for name, each in counts.items():
        single = f1(each.sum(axis=1).astype(float))  # [seeds]
        figure = draws[name].figure(f1)
        beside = draws[name].difference(draws["text and DOM"], f1)
        table.add_row(
            name,
            f"{single.mean():.3f} ± {single.std(ddof=1):.3f}",
            f"{figure.low:.3f} to {figure.high:.3f}",
            f"{beside.mean:+.3f}",
            f"{beside.low:+.3f} to {beside.high:+.3f}",
        )
    without = draws["+ geometry, tested without"]
    return table, draws["text and DOM"].difference(without, f1).mean
