"""The web model on sites that it does not know, and what a policy of one's own takes.

`make bench` runs this, or `pytest -m bench -s tests/test_web_bench.py`. Each page of WCXB is judged
by the member of the packaged model that was trained without its site: cross-validation by domain,
of single networks (their mean, which labels the pages of users, can only be tested elsewhere).
The trainings of the learning curve take half an hour on two cores; they go into the store and are
not repeated.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from rich.table import Table

from pagesight.app.renderings import stored
from pagesight.app.study.bootstrap import Bootstrap, mean, pooled_f1
from pagesight.data.datasets import ENVIRONMENT, Dataset, PageRecord, open_dataset
from pagesight.layout.features import BLOCK
from pagesight.model.card import DEFAULT, read_card
from pagesight.model.members import read_members
from pagesight.model.networks import Member, NetworkSettings
from pagesight.model.vision import VisionSettings
from pagesight.render.errors import DatasetError
from pagesight.render.files import write_whole
from pagesight.render.store import cache_folder
from pagesight.train.ablation import hits
from pagesight.train.batches import collate
from pagesight.train.evaluate import joined
from pagesight.train.examples import load_examples, static_snapshot
from pagesight.train.fit import fit, fold_of
from pagesight.train.judge import mean_potentials
from pagesight.train.losses import marginals
from pagesight.train.metrics import word_f1
from pagesight.train.prepare import SnapshotOf
from pagesight.train.samples import Sample, by_page, sample_of
from pagesight.train.settings import FitSettings

DATA = Path(os.environ.get(ENVIRONMENT) or Path(__file__).parents[2] / "shared/data")
SIZES = (50, 125, 250, 500)
BETTER_THAN_TRAFILATURA = 0.04
SETTINGS = FitSettings(sight=0)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(6 * 3600)]


def opened(name: str) -> Dataset:
    try:
        return open_dataset(name, DATA)
    except DatasetError as error:
        pytest.skip(f"{error}; set {ENVIRONMENT} to the folder of the data sets")


def kept(name: str, make: Callable[[], bytes]) -> Path:
    """A result of these features and settings, made where the store has none."""
    facts = repr((BLOCK.digest, NetworkSettings(), SETTINGS)).encode()
    path = cache_folder() / "web" / hashlib.sha256(facts).hexdigest()[:12] / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, make())
    return path


def makers_of(dataset: Dataset, ids: Sequence[str]) -> tuple[SnapshotOf, ...]:
    return static_snapshot, stored(dataset, ids)


def forms_of(dataset: Dataset, ids: Sequence[str], policy: int) -> list[list[Sample]]:
    """Each page in both forms."""
    makers = makers_of(dataset, ids)
    return by_page((e for maker in makers for e in load_examples(dataset, ids, maker)), policy)


@torch.no_grad()
def content_of(members: Sequence[Member], sample: Sample) -> np.ndarray:
    """Which states the members take for content, together; [s]."""
    batch = collate([sample], [None], members[0].page.policies, "cpu")
    unary, pairwise = mean_potentials(members, batch)
    return marginals(unary, pairwise * SETTINGS.pairwise_weight, batch.real)[0].numpy() > 0.5


@dataclass(frozen=True, slots=True)
class HeldOut:
    """WCXB, and the members of the packaged model with what tells who was trained without whom."""

    dataset: Dataset
    makers: tuple[SnapshotOf, ...]
    members: list[Member]
    settings: FitSettings

    def word_f1(self, id: str, maker: SnapshotOf) -> float:
        text = ""
        for example in load_examples(self.dataset, [id], maker):
            if len(example):
                sample = sample_of(example)
                member = self.members[fold_of(sample.site, self.settings)]
                text = joined(example.page, content_of([member], sample)[example.page.run])
        return word_f1(text, self.dataset.load(id).gold or "")


@cache
def held_out() -> HeldOut:
    torch.set_num_threads(1)
    facts, dataset = read_card(DEFAULT).settings, open_dataset("wcxb", DATA)
    settings = FitSettings(seed=facts["seed"], members=facts["members"])
    members = [member.eval() for member in read_members(DEFAULT)]
    return HeldOut(dataset, makers_of(dataset, dataset.ids()), members, settings)


def score_page(id: str) -> tuple[float, ...]:
    """Word F1 of a page: static, rendered, trafilatura."""
    study = held_out()
    forms = [study.word_f1(id, maker) for maker in study.makers]
    return (*forms, _rival(study.dataset.load(id)))


def _rival(record: PageRecord) -> float:
    from trafilatura import extract

    return word_f1(extract(record.content) or "", record.gold or "")


def _bytes_of(table: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, table)
    return buffer.getvalue()


@pytest.mark.filterwarnings("ignore")  # what trafilatura's libraries warn of is not ours to mend
def test_sites_that_no_training_saw(capsys: pytest.CaptureFixture[str]) -> None:
    dataset = opened("wcxb")
    ids = dataset.ids()
    scores = np.array([score_page(id) for id in ids])
    kinds = np.array([dataset.load(id).page_type for id in ids])
    table = Table(title=f"WCXB, {len(ids)} pages by sites that were held out: mean word F1")
    for column in ("pages", "", "static", "rendered", "trafilatura", "static less trafilatura"):
        table.add_column(column, justify="left" if not column else "right")
    for kind in ("all", *np.unique(kinds).tolist()):
        some = scores[(kinds == kind) | (kind == "all")]
        draws = [Bootstrap(len(some)).draw(np.c_[some[:, i], np.ones(len(some))]) for i in (0, 2)]
        gain = draws[0].difference(draws[1], mean(0, 1))
        told = f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
        table.add_row(str(len(some)), kind, *(f"{v:.3f}" for v in some.mean(axis=0)), told)
    with capsys.disabled():
        Console(width=110).print(table)
    assert scores[:, 0].mean() > scores[:, 2].mean() + BETTER_THAN_TRAFILATURA


def curve_point(pages: int) -> np.ndarray:
    """Of CleanEval's test pages: leaves kept rightly, kept, wanted; [from, anew] x [pages, 3]."""
    return np.load(kept(f"curve{pages}.npy", lambda: _curve_point(pages)), allow_pickle=False)


def _curve_point(pages: int) -> bytes:
    dataset = open_dataset("cleaneval", DATA)
    known = dataset.ids("web2text", "train")
    some = [known[i] for i in np.random.default_rng(0).permutation(len(known))[:pages]]
    shown = forms_of(dataset, some, 0)
    sizes = NetworkSettings.for_pages(pages)
    test = [page[0] for page in forms_of(dataset, dataset.ids("web2text", "test"), 0)]
    rows = []
    for start in (web_members(), None):
        trained = fit(shown, sizes, VisionSettings(), SETTINGS, start=start)
        members = [one.member for one in trained]
        rows.append([hits(sample, content_of(members, sample)) for sample in test])
    return _bytes_of(np.array(rows))


def web_members() -> list[Member]:
    """Members that know WCXB alone."""
    path = kept("wcxb.pt", _train_on_wcxb)
    states = torch.load(path, weights_only=True)
    members = []
    for state in states:
        columns = len(state["page.standardise.mean"]), len(state["page.standardise_edges.mean"])
        member = Member(*columns, NetworkSettings(), VisionSettings())
        member.load_state_dict(state)
        members.append(member)
    return members


def _train_on_wcxb() -> bytes:
    dataset = open_dataset("wcxb", DATA)
    trained = fit(
        forms_of(dataset, dataset.ids(), 0), NetworkSettings(), VisionSettings(), SETTINGS
    )
    buffer = io.BytesIO()
    torch.save([one.member.state_dict() for one in trained], buffer)
    return buffer.getvalue()


def test_a_policy_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    opened("wcxb")
    opened("cleaneval")
    web_members()
    table = Table(title="CleanEval as a policy of one's own: block F1 of 148 test pages, static")
    for column in ("training pages", "from the web's weights", "anew"):
        table.add_column(column, justify="right")
    f1 = pooled_f1(0, 1, 2)
    found = []
    for pages in SIZES:
        both = f1(curve_point(pages).sum(axis=1).astype(float))  # [2]
        found.append(both)
        table.add_row(str(pages), *(f"{value:.3f}" for value in both))
    with capsys.disabled():
        Console(width=110).print(table)
    assert found[2][0] > found[2][1]  # few pages do not outweigh another idea of content
