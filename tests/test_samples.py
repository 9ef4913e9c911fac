"""Samples, batches, losses and judgements, each against a plain computation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pagesight.data.datasets import PageRecord
from pagesight.layout.crops import Picture, picture_of
from pagesight.layout.features import BLOCK, EDGE, Features
from pagesight.layout.page import Page, build_page
from pagesight.layout.runs import run_boxes
from pagesight.model import chain
from pagesight.model.kinds import KINDS
from pagesight.model.networks import Member, NetworkSettings
from pagesight.model.vision import STRIDE, PictureNetwork, VisionSettings
from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread
from pagesight.render.static import parse
from pagesight.train.batches import Batch, collate, look, window
from pagesight.train.examples import Example, load_example
from pagesight.train.judge import Judgement, judge, potentials, together
from pagesight.train.losses import batch_loss, kind_loss, marginals
from pagesight.train.member import MemberTraining
from pagesight.train.samples import UNKNOWN, Sample, by_page, sample_of
from pagesight.train.settings import FitSettings

SIZES = NetworkSettings(width=16, dilations=(1, 4, 1), pooled_after=(1,), pair_width=8)
EYES = VisionSettings(widths=(4, 6, 6), looks=8)
# Four runs of 3, 2, 1 and 2 leaves, told apart by their letters.
HTML = "<p>aa<b>bbb</b>cccc<p>dddd<b>ee</b><p>f<p>gg<b>hh</b>"


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> None:
    """Threads cost more than they bring to networks as small as these."""
    torch.set_num_threads(1)


def record(id: str, html: str = "", gold: str | None = None, url: str = "") -> PageRecord:
    return PageRecord(id, url, html.encode(), "utf-8", gold)


def example_of(labels: str, html: str = HTML, id: str = "x") -> Example:
    """A page with a label a leaf: + is content, - is none, ? is not known."""
    page = build_page(parse(html.encode(), "utf-8"))
    random = np.random.default_rng(len(page))
    features = Features(
        random.normal(size=(len(page), 5)).astype(np.float32),
        random.normal(size=(max(len(page) - 1, 0), 3)).astype(np.float32),
    )
    return Example(
        *(record(id), page, features),
        content=np.array([label == "+" for label in labels], bool),
        known=np.array([label != "?" for label in labels], bool),
    )


# Samples.


@pytest.mark.parametrize(
    ("labels", "runs", "leaves"),
    [
        # By characters: 2 + 3 against 4, then 4 against 2.
        ("++-+-?--", [1, 1, UNKNOWN, 0], [[1, 2], [1, 1], [0, 0], [2, 0]]),
        ("--+-+++?", [0, 0, 1, 1], [[2, 1], [1, 1], [0, 1], [0, 1]]),
        # What is not known has no weight: 3 against 4; a tie of 2 and 2 is none.
        ("?+-?+--+", [0, 1, 0, 0], [[1, 1], [0, 1], [1, 0], [1, 1]]),
        ("????????", [UNKNOWN] * 4, [[0, 0]] * 4),
    ],
)
def test_labels_of_runs(labels: str, runs: list[int], leaves: list[list[int]]) -> None:
    sample = sample_of(example_of(labels))
    assert sample.labels.tolist() == runs
    assert sample.leaves.tolist() == leaves
    assert len(sample) == 4


def test_features_of_runs() -> None:
    example = example_of("????????")
    sample = sample_of(example)
    rows = example.features.blocks
    assert sample.blocks[0] == pytest.approx((rows[0] * 2 + rows[1] * 3 + rows[2] * 4) / 9)
    assert sample.blocks[2] == pytest.approx(rows[5])
    assert sample.edges.tolist() == example.features.edges[[2, 4, 5]].tolist()


TEXTS = st.lists(st.sampled_from(["<p>", "<b>", "a", "bb ", "ccc", "<br>", "</b>"]), max_size=14)


@given(TEXTS, st.data())
@settings(max_examples=100, deadline=None)
def test_leaves_are_counted_once(parts: list[str], data: st.DataObject) -> None:
    html = "x" + "".join(parts)
    size = len(build_page(parse(html.encode(), "utf-8")))
    example = example_of(data.draw(st.text("+-?", min_size=size, max_size=size)), html)
    sample = sample_of(example)
    known, content = example.known, example.content
    assert sample.leaves.sum(axis=0).tolist() == [
        (known & ~content).sum(),
        (known & content).sum(),
    ]
    assert (sample.labels != UNKNOWN).tolist() == sample.leaves.any(axis=1).tolist()
    one_kind = (sample.leaves > 0).sum(axis=1) == 1
    assert (sample.labels[one_kind] == sample.leaves[one_kind].argmax(axis=1)).all()
    assert len(sample.edges) == len(sample) - 1 == example.page.run[-1]


def test_what_else_a_sample_knows() -> None:
    """Words of runs, the policy, the kind, and the site: of its address, or the page alone."""
    example = example_of("++-", "<p>one two <b>three</b><p>four", id="7")
    sample = sample_of(example, 2)
    assert sample.words.tolist() == [3, 1]
    assert (sample.policy, sample.kind, sample.site) == (2, UNKNOWN, "7")
    for page_type, kind in ((KINDS[3], 3), ("another", UNKNOWN)):
        known = replace(
            example.record, page_type=page_type, url="https://www.Docs.example.co.uk:80/a?b"
        )
        other = sample_of(replace(example, record=known))
        assert (other.policy, other.kind, other.site) == (0, kind, "example.co.uk")
    broken = replace(example.record, url="http://[")
    assert sample_of(replace(example, record=broken)).site == "7"


def test_forms_of_a_page_come_together() -> None:
    gold = "A line of words that is long enough to be found again."
    html = f"<title>t</title><p>{gold}<p>menu"
    first, other = (
        load_example(record(id, html, gold), parse(html.encode(), "utf-8")) for id in "ab"
    )
    empty = load_example(record("c", "", ""), parse(b"", "utf-8"))
    found = by_page([first, other, empty, first])
    assert [[form.id for form in page] for page in found] == [["a", "a"], ["b"]]
    assert found[0][0].labels.tolist() == [1, 0]
    assert found[0][0].blocks.shape == (2, len(BLOCK))
    assert found[0][0].edges.shape == (1, len(EDGE))
    assert found[0][0].words.tolist() == [12, 1]
    assert [form.policy for page in by_page([first, other], 3) for form in page] == [3, 3]
    assert by_page([]) == []


# Batches.


def long_sample(size: int) -> Sample:
    """State i has the number i in all that it has, and so has the edge behind it."""
    sample = sample_of(example_of("?" * size, "<p>x" * size))
    number = np.arange(size)
    return replace(
        sample,
        blocks=np.repeat(number[:, None], 2, axis=1).astype(np.float32),
        edges=number[: size - 1, None].astype(np.float32),
        labels=number % 3 - 1,
        leaves=np.stack([number, number], axis=1),
        words=number.astype(np.float32),
    )


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_windows_keep_states_and_edges_together(length: int, size: int, seed: int) -> None:
    sample = long_sample(length)
    part, start = window(sample, size, np.random.default_rng(seed))
    kept = list(range(start, start + min(size, length)))
    assert kept[-1] < length
    assert part.blocks[:, 1].tolist() == part.leaves[:, 0].tolist() == part.words.tolist() == kept
    assert part.edges[:, 0].tolist() == kept[:-1]
    assert part.labels.tolist() == [i % 3 - 1 for i in kept]
    assert (part.id, part.page) == (sample.id, sample.page)


def test_windows_start_anywhere() -> None:
    random = np.random.default_rng(0)
    assert {window(long_sample(9), 6, random)[1] for _ in range(60)} == {0, 1, 2, 3}


def test_padding() -> None:
    samples = [long_sample(size) for size in (2, 4, 1)]
    picture = Picture(
        np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.float32), np.zeros(4, bool)
    )
    samples = [replace(s, policy=i % 2, kind=i - 1) for i, s in enumerate(samples)]
    batch = collate(samples, [None, picture, None], 2, "cpu")
    assert batch.blocks[:, :, 0].tolist() == [[0, 1, 0, 0], [0, 1, 2, 3], [0, 0, 0, 0]]
    assert batch.edges[:, :, 0].tolist() == [[0, 0, 0], [0, 1, 2], [0, 0, 0]]
    assert batch.labels.tolist() == [[-1, 0, -1, -1], [-1, 0, 1, -1], [-1] * 4]
    assert batch.words.tolist() == [[0, 1, 0, 0], [0, 1, 2, 3], [0, 0, 0, 0]]
    assert batch.policy.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert batch.kinds.tolist() == [UNKNOWN, 0, 1]
    assert batch.real.sum(dim=1).tolist() == [2, 4, 1]
    assert batch.real[0].tolist() == [True, True, False, False]
    assert batch.pictures == (None, picture, None)
    assert (batch.blocks.dtype, batch.labels.dtype) == (torch.float32, torch.int64)
    alone = collate(samples[2:], [None], 2, "cpu")
    assert (alone.blocks.shape, alone.edges.shape) == ((1, 1, 2), (1, 0, 1))


# Pictures.

TALL = """<!doctype html><body style="margin:0;font:16px/20px sans-serif">{}""".format(
    "".join(
        f'<p style="margin:0 {i % 5 * 40}px {20 + i % 3 * 60}px;background:hsl({i * 37},80%,60%)">'
        f"Line {i} " + "of a page that is long " * (1 + i % 4 * 8)
        for i in range(60)
    )
    + "<p style='display:none'>Not laid out"
)


@pytest.fixture(scope="module")
def page(loop: LoopThread, renderer: Renderer) -> Page:
    return build_page(loop.run(renderer.replay(TALL.encode(), "http://own.example/", "utf-8")))


@pytest.fixture(scope="module")
def tall(page: Page) -> Sample:
    size = len(page)
    features = Features(np.zeros((size, 5), np.float32), np.zeros((size - 1, 3), np.float32))
    labels = np.arange(size) % 2 == 0
    return sample_of(Example(record("tall"), page, features, labels, np.ones(size, bool)))


def part_of(sample: Sample, start: int, size: int) -> Sample:
    """What `window` gives."""
    part = slice(start, start + size)
    return replace(
        sample,
        labels=sample.labels[part],
        leaves=sample.leaves[part],
        words=sample.words[part],
    )


def seen_by(network: PictureNetwork, picture: Picture) -> Tensor:
    pixels = torch.from_numpy(picture.pixels).permute(2, 0, 1)[None]
    with torch.no_grad():
        return network(pixels, torch.from_numpy(picture.boxes), torch.from_numpy(picture.seen))


@pytest.mark.parametrize(
    ("start", "size"), [(0, 61), (0, 5), (20, 6), (33, 1), (34, 15), (52, 8), (57, 4)]
)
def test_a_part_of_the_picture_shows_the_same(tall: Sample, start: int, size: int) -> None:
    torch.manual_seed(2)
    network = PictureNetwork(VisionSettings())
    whole = picture_of(tall.page, run_boxes(tall.page))
    assert whole is not None
    shown = look(part_of(tall, start, size), start)
    assert shown is not None
    part = slice(start, start + size)
    assert shown.seen.tolist() == whole.seen[part].tolist()
    assert shown.pixels.shape[1] == whole.pixels.shape[1]
    if size < 20:
        assert len(shown.pixels) < len(whole.pixels) / 2
    expected = seen_by(network, whole)[part]
    assert expected.abs().max() > 0.1
    assert seen_by(network, shown).numpy() == pytest.approx(expected.numpy(), abs=1e-5)
    # Cells of the feature map lie where they lay.
    moved = (whole.boxes[part] - shown.boxes)[shown.seen][:, 1]
    assert {*moved.tolist()} == {moved[0]}
    assert moved[0] % STRIDE == 0


def test_what_is_not_looked_at(tall: Sample) -> None:
    assert look(part_of(tall, 60, 1), 60) is None  # it is not laid out
    assert look(long_sample(3), 0) is None  # no picture was taken


# Steps.


@pytest.mark.parametrize(
    ("pages", "batch", "steps"),
    [
        (1, 8, 25),  # a batch, 25 times
        (3, 2, 26),  # 2 batches, 13 times
        (24, 2, 36),  # 12 batches, 3 times
        (26, 1, 26),
    ],
)
def test_few_pages_are_passed_over_several_times(pages: int, batch: int, steps: int) -> None:
    shown = [[sample_of(example_of("+-+", "<p>x" * 3, f"page{i}"))] for i in range(pages + 1)]
    chosen = FitSettings(epochs=2, batch=batch)
    training = MemberTraining(shown[:-1], shown[-1:], SIZES, EYES, chosen, 0)
    trained = training.run(None, lambda epoch: None)
    assert training.schedule.last_epoch == 2 * steps
    assert len(trained.history) == 2
    # The learning rate has come down at the very end.
    assert training.schedule.get_last_lr()[0] < chosen.learning_rate / 100


# Losses.


def potentials_of(shape: tuple[int, int], seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    n, s = shape
    unary = torch.randn(n, s, 2, generator=generator, dtype=torch.float64)
    return unary, torch.randn(n, s - 1, 2, 2, generator=generator, dtype=torch.float64)


LENGTHS = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def real_of(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]


def batch_of(labels: Tensor, real: Tensor, words: Tensor | None = None) -> Batch:
    """A batch of which only the losses read something; each state has one word."""
    n, s = real.shape
    return Batch(
        pictures=(None,) * n,
        blocks=torch.zeros(n, s, 1),
        edges=torch.zeros(n, s - 1, 1),
        labels=labels,
        real=real,
        words=real.double() if words is None else words,
        policy=torch.ones(n, 1),
        kinds=torch.full((n,), UNKNOWN),
    )


def entropy(scores: list[float], label: int) -> float:
    return math.log(sum(map(math.exp, scores))) - scores[label]


@given(LENGTHS, st.integers(0, 999), st.data())
@settings(max_examples=100, deadline=None)
def test_separate_loss(lengths: list[int], seed: int, data: st.DataObject) -> None:
    """Of each page: its states by the root of their words, and half of what its F1 lacks."""
    size = len(lengths) * max(lengths)
    drawn = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=size, max_size=size))
    counted = data.draw(st.lists(st.integers(0, 20), min_size=size, max_size=size))
    real = real_of(lengths)
    labels = torch.where(real, torch.tensor(drawn).reshape(real.shape), UNKNOWN)
    words = torch.tensor(counted).reshape(real.shape) * real.double()
    unary, pairwise = potentials_of((len(lengths), max(lengths)), seed)
    pages, edges = [], []
    for page, length in enumerate(lengths):
        loss = weight = hits = kept = wanted = 0.0
        known = labels[page].tolist()[:length]
        for i, label in enumerate(known):
            if label >= 0:
                odds, size = unary[page, i].tolist(), float(words[page, i])
                loss += math.sqrt(max(size, 1)) * entropy(odds, label)
                weight += math.sqrt(max(size, 1))
                likely = size / (1 + math.exp(odds[0] - odds[1]))
                hits, kept, wanted = hits + likely * label, kept + likely, wanted + size * label
            if i and label >= 0 and known[i - 1] >= 0:
                four = pairwise[page, i - 1].flatten().tolist()
                edges.append(entropy(four, 2 * known[i - 1] + label))
        f1 = (2 * hits + 1) / (kept + wanted + 1)
        pages.append((loss / weight if weight else 0) + 0.5 * (1 - f1))
    found = batch_loss("separate", unary, pairwise, batch_of(labels, real, words))
    total = float(np.mean(pages)) + (float(np.mean(edges)) if edges else 0)
    assert found.item() == pytest.approx(total, abs=1e-6)


def test_separate_loss_by_hand() -> None:
    """4 words of content and 1 of none, each with odds of 3 for content; padding counts nothing."""
    odds = [0.0, math.log(3)]
    unary = torch.tensor([[odds, odds, [9.0, -9.0]]], dtype=torch.float64)
    labels, real = torch.tensor([[1, 0, UNKNOWN]]), torch.tensor([[True, True, False]])
    words = torch.tensor([[4.0, 1.0, 0.0]])
    blocks = (2 * -math.log(3 / 4) + 1 * -math.log(1 / 4)) / 3
    # Kept: 3 and 3/4 of a word; right: 3; wanted: 4; and one more word that is right.
    page = 1 - (2 * 3 + 1) / (3.75 + 4 + 1)
    pairs = -math.log(1 / 4)
    edges = torch.zeros(1, 2, 2, 2, dtype=torch.float64)
    found = batch_loss("separate", unary, edges, batch_of(labels, real, words))
    assert found.item() == pytest.approx(blocks + 0.5 * page + pairs)


def test_kind_loss() -> None:
    """A tenth of the mean over the pages whose kind is known."""
    kinds = torch.log(torch.tensor([[1.0, 3], [1, 1], [4, 1]]))
    found = kind_loss(kinds, torch.tensor([1, UNKNOWN, 1]))
    assert float(found) == pytest.approx(0.1 * -(math.log(3 / 4) + math.log(1 / 5)) / 2)
    nothing = torch.zeros(2, 2, requires_grad=True)
    kind_loss(nothing, torch.tensor([UNKNOWN] * 2)).backward()
    assert nothing.grad is not None
    assert (nothing.grad == 0).all()


def test_joint_loss_is_a_mean_over_states() -> None:
    """With edges that say nothing, each state stands for itself; a label unknown costs nothing."""
    unary, pairwise = potentials_of((2, 3), 5)
    labels = torch.tensor([[1, UNKNOWN, 0], [1, UNKNOWN, UNKNOWN]])
    found = batch_loss("joint", unary, pairwise * 0, batch_of(labels, real_of([3, 1])))
    log = unary.log_softmax(dim=2)
    wanted = -(log[0, 0, 1] + log[0, 2, 0] + log[1, 0, 1]) / 4
    assert found.item() == pytest.approx(wanted.item(), abs=1e-6)


@given(LENGTHS, st.integers(0, 999), st.sampled_from([0.0, 1.0, 30.0]))
@settings(max_examples=100, deadline=None)
def test_marginals(lengths: list[int], seed: int, scale: float) -> None:
    unary, pairwise = (scale * table for table in potentials_of((len(lengths), max(lengths)), seed))
    with torch.no_grad():  # as a judge calls it
        found = marginals(unary, pairwise, real_of(lengths))
    assert not found.requires_grad
    for page, length in enumerate(lengths):
        wanted = chain.marginals(unary[page, :length].numpy(), pairwise[page, : length - 1].numpy())
        assert found[page, :length].numpy() == pytest.approx(wanted, abs=1e-9)


def test_marginals_of_sure_networks_are_probabilities() -> None:
    """Rounding would lead 1e-4 beyond 1 here."""
    unary, pairwise = (20 * table.float() for table in potentials_of((8, 200), 0))
    found = marginals(unary, pairwise, real_of([200] * 8))
    assert found.min() >= 0
    assert found.max() <= 1


# Judgements.


def judged(probability: list[float], **columns: list[Any]) -> Judgement:
    """States of one page with a word each, none of it content, unless `columns` say otherwise."""
    size = len(probability)
    usual: dict[str, list[Any]] = {
        **{"leaves": [[1, 0]] * size, "words": [1.0] * size, "content": [False] * size},
        **{"page": [0] * size, "policy": [0] * size},
        **{"kind": [0] * size, "gold_kind": [UNKNOWN] * size},
    }
    types = dict.fromkeys(usual, np.int64) | {"words": float, "content": bool}
    told = (usual | columns).items()
    arrays = {name: np.array(value, types[name]) for name, value in told}
    return Judgement(np.array(probability, float), **arrays)


def test_a_judgement_by_hand() -> None:
    """States of 3, 2, 0 and 4 leaves with a label."""
    found = judged([0.9, 0.5, 0.7, 0.2], leaves=[[1, 2], [0, 2], [0, 0], [3, 1]])
    probability, gold = found.blocks()
    assert probability.tolist() == [0.9, 0.2, 0.2, 0.2, 0.9, 0.9, 0.5, 0.5, 0.2]
    assert gold.tolist() == [False] * 4 + [True] * 5
    # 3 leaves are found, 2 of them rightly; 5 are to be found.
    assert found.f1 == pytest.approx(2 * 2 / (3 + 5))
    right = np.where(gold, probability, 1 - probability)
    assert found.nll == pytest.approx(-np.log(right).mean())
    certain = judged([0.0, 1.0], leaves=[[0, 1], [0, 1]])
    assert certain.nll == pytest.approx(-math.log(1e-6) / 2, abs=1e-5)
    empty = replace(judged([]), leaves=np.zeros((0, 2), np.int64))
    assert (empty.f1, empty.nll, empty.page_f1, empty.kind_accuracy) == (0, 0, 0, 0)
    assert empty.thresholds() == (0.5, 0.5)
    assert [len(side) for side in empty.blocks()] == [0, 0]
    joined = together([empty, certain, empty])
    assert joined.probability.tolist() == [0, 1]
    assert joined.page.tolist() == [0, 0]


# Pages 0 and 3 of 20 and 4 words, of the policy 0; 1 and 2 without content, of the policy 1.
PAGES = judged(
    [0.9, 0.8, 0.3, 0.4, 0.6, 0.1, 0.7],
    words=[10, 5, 5, 7, 4, 9, 4],
    content=[True, False, True, False, False, False, True],
    page=[0, 0, 0, 1, 2, 2, 3],
    policy=[0, 0, 0, 1, 1, 1, 0],
    kind=[2, 2, 2, 1, 3, 3, 5],
    gold_kind=[2, 2, 2, UNKNOWN, 0, 0, 5],
)


def test_word_f1_of_pages_by_hand() -> None:
    """Page 0 keeps 15 words, 10 of 15 rightly: 2/3. Nothing is kept of 1, as it should be."""
    assert PAGES.page_f1 == pytest.approx((2 / 3 + 1 + 0 + 1) / 4)
    assert PAGES.of_policy(0).page_f1 == pytest.approx((2 / 3 + 1) / 2)
    assert PAGES.of_policy(1).page_f1 == pytest.approx(1 / 2)
    assert PAGES.of_policy(1).probability.tolist() == [0.4, 0.6, 0.1]
    assert len(PAGES.of_policy(2).page) == PAGES.of_policy(2).page_f1 == 0


def test_how_many_kinds_are_right() -> None:
    """0 and 3 are taken for what they are, 2 is not, and of 1 nobody knows."""
    assert PAGES.kind_accuracy == pytest.approx(2 / 3)
    assert PAGES.of_policy(1).kind_accuracy == 0


def test_judgements_together() -> None:
    other = judged([0.2, 0.9], words=[3, 3], content=[False, True], page=[0, 1])
    joined = together([PAGES, other])
    assert joined.page.tolist() == [0, 0, 0, 1, 2, 2, 3, 4, 5]
    assert joined.probability.tolist() == [*PAGES.probability.tolist(), 0.2, 0.9]
    assert joined.page_f1 == pytest.approx((4 * PAGES.page_f1 + 2 * other.page_f1) / 6)
    assert joined.kind_accuracy == PAGES.kind_accuracy
    assert other.page.tolist() == [0, 1]


def test_thresholds_by_hand() -> None:
    """30 words are added above .5, 10 of them above .8; 16 are missed, 8 of them below .2."""
    found = judged(
        [0.9, 0.85, 0.8, 0.7, 0.3, 0.1, 0.2, 0.4, 0.0],
        words=[10, 99, 5, 15, 99, 6, 2, 8, 0],
        content=[False, True, False, False, False, True, True, True, True],
    )
    precision, recall = found.thresholds()
    assert (precision, recall) == (pytest.approx(0.8), pytest.approx(0.2))
    assert judged([0.9, 0.2], content=[True, False]).thresholds() == (0.5, 0.5)


WORDS_OF_STATES = st.lists(
    st.tuples(st.integers(0, 16), st.integers(0, 30), st.booleans()), min_size=1, max_size=20
)


@given(WORDS_OF_STATES)
def test_thresholds_halve_what_is_wrong(states: list[tuple[int, int, bool]]) -> None:
    """Above them stands less than half of it; with those that stand there, half or more."""
    sixteenths, words, content = zip(*states, strict=True)
    found = judged([part / 16 for part in sixteenths], words=[*words], content=[*content])
    sides = ((found.probability, ~found.content), (1 - found.probability, found.content))
    precision, recall = found.thresholds()
    for threshold, (sure, wrong) in zip((precision, 1 - recall), sides, strict=True):
        assert 0.5 <= threshold <= 1
        mistaken = found.words * wrong
        half = mistaken[sure > 0.5].sum() / 2
        assert mistaken[sure > threshold].sum() <= half
        if half:
            assert mistaken[sure >= threshold].sum() >= half
        else:
            assert threshold == 0.5


@pytest.fixture(scope="module")
def member() -> Member:
    torch.manual_seed(4)
    made = Member(5, 3, replace(SIZES, policies=2), EYES)
    for part in (made.page.pairwise[2], made.page.kind):
        torch.nn.init.normal_(part.weight)  # type: ignore[arg-type]
    return made


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    """Forty of 1 to 30 states, of two policies: more than a batch."""
    random = np.random.default_rng(1)
    sizes = random.integers(1, 31, 40).tolist()
    examples = [
        example_of("".join(random.choice(list("+-?"), size)), "<p>x" * size, f"page{i}")
        for i, size in enumerate(sizes)
    ]
    return [replace(sample_of(each, i % 2), kind=i % 8 - 1) for i, each in enumerate(examples)]


def plainly(member: Member, sample: Sample, weight: float) -> tuple[list[float], int]:
    """The probabilities of one page and its kind, without a batch."""
    size = len(sample)
    shown = torch.zeros(size, EYES.looks)
    tables = (torch.from_numpy(sample.blocks), torch.from_numpy(sample.edges), shown)
    with torch.no_grad():
        unary, pairwise, kinds = member.page(
            *(table[None] for table in tables),
            torch.ones(1, size, dtype=torch.bool),
            torch.eye(2)[sample.policy][None],
        )
    told = chain.marginals(unary[0].numpy(), pairwise[0].numpy() * weight)
    return told.tolist(), int(kinds.argmax())


def in_order(samples: Sequence[Sample]) -> list[Sample]:
    return sorted(samples, key=len)


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_a_judge_says_what_the_member_says_of_each_page(
    member: Member, samples: list[Sample], weight: float
) -> None:
    member.train()  # a judge goes without dropout
    found = judge(member, samples, weight, "cpu")
    assert not member.training
    told = [(sample, *plainly(member, sample, weight)) for sample in in_order(samples)]
    wanted = [p for _, probability, _ in told for p in probability]
    assert found.probability.tolist() == pytest.approx(wanted, abs=1e-5)
    assert found.leaves.tolist() == [row for s in in_order(samples) for row in s.leaves.tolist()]
    assert np.ptp(found.probability) > 0.1
    rows = [
        (i, sample.policy, kind, sample.kind, words, label == 1)
        for i, (sample, _, kind) in enumerate(told)
        for words, label in zip(sample.words.tolist(), sample.labels.tolist(), strict=True)
    ]
    columns = (found.page, found.policy, found.kind, found.gold_kind, found.words, found.content)
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == rows

    hits = given = wanted_leaves = leaves = 0
    log = 0.0
    for p, (boilerplate, content) in zip(wanted, found.leaves.tolist(), strict=True):
        hits += content * (p > 0.5)
        given += (boilerplate + content) * (p > 0.5)
        wanted_leaves += content
        leaves += boilerplate + content
        log += boilerplate * math.log(1 - p) + content * math.log(p)
    assert found.f1 == pytest.approx(2 * hits / (given + wanted_leaves))
    assert found.nll == pytest.approx(-log / leaves, abs=1e-5)


def test_company_does_not_matter(member: Member, samples: list[Sample]) -> None:
    found = judge(member, samples, 1.0, "cpu")
    backwards = judge(member, samples[::-1], 1.0, "cpu")
    assert backwards.f1 == pytest.approx(found.f1, abs=1e-9)
    assert backwards.page_f1 == pytest.approx(found.page_f1, abs=1e-9)
    assert backwards.nll == pytest.approx(found.nll, abs=1e-6)
    alone = together([judge(member, [sample], 1.0, "cpu") for sample in in_order(samples)])
    assert alone.probability == pytest.approx(found.probability, abs=1e-5)
    assert alone.page.tolist() == found.page.tolist()
    assert alone.kind_accuracy == found.kind_accuracy > 0
    nothing = judge(member, [], 1.0, "cpu")
    assert (len(nothing.probability), nothing.f1, nothing.page_f1) == (0, 0, 0)


def test_looks_of_a_shorter_page_are_padded(member: Member, tall: Sample) -> None:
    member.eval()
    short = replace(part_of(tall, 10, 4), blocks=tall.blocks[10:14], edges=tall.edges[10:13])
    picture = look(short, 10)
    batch: Batch = collate([tall, short], [None, picture], 2, "cpu")
    with torch.no_grad():
        unary, pairwise, kinds = potentials(member, batch)
        alone, edges, kind = potentials(member, collate([short], [picture], 2, "cpu"))
    assert (unary.shape, pairwise.shape) == ((2, 61, 2), (2, 60, 2, 2))
    assert unary[1, :4].numpy() == pytest.approx(alone[0].numpy(), abs=1e-5)
    assert pairwise[1, :3].numpy() == pytest.approx(edges[0].numpy(), abs=1e-5)
    assert kinds[1].numpy() == pytest.approx(kind[0].numpy(), abs=1e-5)
