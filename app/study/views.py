"""Single pages for the report: what each system kept of them, worst pages first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...data.datasets import PageRecord
from ...layout.page import Page, build_page
from ...train.align import CONTENT, text_labels
from ...train.examples import static_snapshot
from ...train.prepare import SnapshotOf
from .result import PageView
from .study import Run

MOST = 100
"""Pages in a report: with twenty systems, about 10 MB of it."""


def worst_first(scores: Mapping[str, Sequence[float]]) -> list[int]:
    """Places of the pages by their mean score over the systems, of equal ones the first."""
    # Of a page that has no score, all systems have none: those come last.
    means = np.mean(list(scores.values()), axis=0)
    return np.argsort(means, kind="stable").tolist()


def page_view(
    record: PageRecord, runs: Sequence[Run], scores: Mapping[str, float], snapshot_of: SnapshotOf
) -> PageView:
    """What the report shows of a page; one that was not rendered by its blocks' texts.

    scores: of this page, by system.
    """
    snapshot = snapshot_of(record) or static_snapshot(record)
    page = build_page(snapshot)
    outputs = {run.name: run.text(record.id) for run in runs}
    return PageView(
        id=record.id,
        url=record.url,
        page_type=record.page_type,
        gold=record.gold,
        outputs=outputs,
        scores=scores,
        blocks=page.text,
        boxes=_boxes(page) if snapshot.rendered else None,
        kept={name: _kept(text, page) for name, text in outputs.items()},
        gold_kept=_kept(record.gold, page) if record.gold is not None else (),
        picture=snapshot.screenshot,
        scale=snapshot.meta.screenshot_scale,
    )


def _kept(text: str, page: Page) -> tuple[bool, ...]:
    """Which blocks a text has, by the alignment that makes labels of gold texts."""
    return tuple((text_labels(text, page.text) > CONTENT).tolist())


def _boxes(page: Page) -> tuple[tuple[float, float, float, float], ...]:
    return tuple((x, y, w, h) for x, y, w, h in np.nan_to_num(page.box).round(1).tolist())
