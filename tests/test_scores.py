"""Families of metrics, the figures made of their columns, and the draws over pages."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.app.study.bootstrap import (
    ROUNDS,
    Bootstrap,
    Draws,
    Statistic,
    harmonic_mean,
    mean,
    pooled_f1,
    share,
)
from pagesight.app.study.outputs import Outputs
from pagesight.app.study.scores import (
    AEB,
    BLOCKS,
    FAMILIES,
    METRICS,
    SNIPPETS,
    Family,
    Reference,
    families_of,
    is_scorable,
    make_reference,
    needs_blocks,
)
from pagesight.app.study.scoring import Scorer
from pagesight.data.datasets import Aeb, PageRecord, open_dataset
from pagesight.train.examples import load_example, static_snapshot
from pagesight.train.metrics import block_scores, rouge_lsum, word_f1

DATA = Path(os.environ.get("PAGESIGHT_DATA") or Path(__file__).parents[2] / "shared" / "data")

PAGE = (
    "<nav><a>home page and more</a></nav><h1>the title of it all</h1>"
    "<p>one two three four five</p><p>!</p><footer>legal notice and so on</footer>"
)
STORY = "the title of it all\none two three four five"


def record(
    gold: str | None, found: tuple[str, ...] = (), unwanted: tuple[str, ...] = ()
) -> PageRecord:
    return PageRecord(
        id="1",
        url="http://a.com/",
        content=PAGE.encode(),
        charset="utf-8",
        gold=gold,
        with_snippets=found,
        without_snippets=unwanted,
    )


def reference(
    gold: str = STORY,
    blocks: bool = False,
    found: tuple[str, ...] = (),
    unwanted: tuple[str, ...] = (),
) -> Reference:
    return make_reference(record(gold, found, unwanted), blocks)


def figures(family: Family, pages: Sequence[tuple[str, Reference]]) -> dict[str, float]:
    sums = np.array([family.score(text, page) for text, page in pages], np.float64).sum(axis=0)
    return {name: float(of(sums)) for name, of in family.figures.items()}


def all_figures(pages: Sequence[tuple[str, Reference]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for family in FAMILIES:
        found |= figures(family, pages)
    return found


def test_names() -> None:
    assert set(METRICS) == {
        *("word_f1", "with_share", "without_share", "rouge_lsum", "webmainbench_f1"),
        *("aeb_f1", "aeb_precision", "aeb_recall", "aeb_accuracy"),
        *("evert_f1", "evert_pooled_f1", "evert_marked_f1", "evert_marked_pooled_f1"),
        *("block_accuracy", "block_precision", "block_recall", "block_f1"),
    }
    assert len(METRICS) == len(set(METRICS))
    names = [family.name for family in families_of(["aeb_recall", "word_f1", "aeb_f1"])]
    assert names == ["word_f1", "aeb"]
    assert needs_blocks(["word_f1", "block_recall"])
    assert not needs_blocks(["word_f1"])
    with pytest.raises(ValueError, match=r"no metric 'f2'; there are word_f1, with_share"):
        families_of(["word_f1", "f2"])


def test_pages_without_gold_are_not_scored() -> None:
    assert not is_scorable(record(None))
    assert is_scorable(record(""))
    for family in FAMILIES:
        columns = family.page("some text", make_reference(record(None), True))
        assert not any(columns), family.name
        assert len(columns) == len(family.columns)


def test_lines_of_a_text_are_matched_to_marked_segments() -> None:
    (family,) = families_of(["evert_marked_f1"])
    reference = make_reference(replace(record("a b c"), marked="<h>a b\n<p>c"), False)
    # | a b | c in both against | a b c: four of the five and four
    assert family.page("a b\n\nc", reference) == (1.0, 1.0, 5, 5, 5)
    assert family.page("a b c", reference) == (8 / 9, 1.0, 4, 4, 5)
    assert not any(family.page("a b c", make_reference(record("a b c"), False)))


def test_means_are_over_pages() -> None:
    pages = [("a b", reference("a b c d")), ("x", reference("x")), ("", reference("y z. w"))]
    found = all_figures(pages)
    # 2 x 2 / 6, 1 and 0
    assert found["word_f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert found["word_f1"] == pytest.approx(np.mean([word_f1(t, r.gold) for t, r in pages]))
    assert found["rouge_lsum"] == pytest.approx(np.mean([rouge_lsum(t, r.gold) for t, r in pages]))
    assert found["evert_f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    # 3 words match of 3 given and 8 wanted
    assert found["evert_pooled_f1"] == pytest.approx(2 * 3 / (3 + 8))
    # "a b" has no 5-gram, nor has "x"
    assert found["webmainbench_f1"] == 0


def test_snippets() -> None:
    pages = [
        ("Some text", reference(found=("some", "no"), unwanted=("some",))),
        ("other", reference(found=("other",))),
        ("else", reference()),
    ]
    # two pages have `with`: 1/2 and 1; one has `without`: 1
    assert figures(SNIPPETS, pages) == {"with_share": 0.75, "without_share": 1}
    # a mean over no page is no number
    assert all(np.isnan(figure) for figure in figures(SNIPPETS, pages[2:]).values())


def test_a_system_that_failed_is_never_right_by_that() -> None:
    page = replace(reference(found=("a",), unwanted=("b",)), record=record("", ("a",), ("b",)))
    for name in METRICS:
        (family,) = families_of([name])
        failed = np.array(family.page(None, page))
        figure = family.figures[name](failed)
        worst = 1 if name == "without_share" else 0
        # Nothing was to be kept, and there are no blocks and no marks: not all have a figure.
        assert np.isnan(figure) or figure == worst, name
    assert families_of(["word_f1"])[0].page("", page) == (1, 1)
    assert families_of(["word_f1"])[0].page(None, page) == (0, 1)


def test_figures_of_few_pages_have_the_draws_that_have_them() -> None:
    columns = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    figure = Bootstrap(5).draw(columns).figure(mean(0, 1))
    assert (figure.mean, figure.low, figure.high) == (1, 1, 1)
    nothing = Bootstrap(5).draw(columns * 0).figure(mean(0, 1))
    assert np.isnan([nothing.mean, nothing.low, nothing.high]).all()


def test_aeb() -> None:
    pages = [
        # shingles abcd given, abcd and bcde wanted: precision 1, recall 1/2
        ("a b c d", reference("a b c d e")),
        # nothing was given: no precision, recall 0
        ("", reference("a b c d")),
        # equal words
        ("p, q", reference("p q")),
        # nothing was wanted: precision 0, no recall
        ("p", reference("")),
        # neither: words are equal, and nothing else is said
        ("", reference("")),
    ]
    precision, recall = (1 + 1 + 0) / 3, (1 / 2 + 0 + 1) / 3
    assert figures(AEB, pages) == pytest.approx(
        {
            "aeb_precision": precision,
            "aeb_recall": recall,
            "aeb_f1": 2 * precision * recall / (precision + recall),
            "aeb_accuracy": 2 / 5,
        }
    )
    assert figures(AEB, pages[1:2]) == dict.fromkeys(AEB.figures, 0)


def test_blocks() -> None:
    page = reference(blocks=True)
    # navigation, title, story, a sign, footer; of a block without words the gold says nothing
    assert page.leaves[1:4] == ("the title of it all", "one two three four five", "!")
    assert page.content.tolist() == [False, True, True, False, False]
    assert page.known.tolist() == [True, True, True, False, True]
    kept = "one two three four five\nlegal notice and so on"
    # of four blocks the story is a hit, the footer false, the title missed, navigation right
    expected = {"accuracy": 2 / 4, "precision": 1 / 2, "recall": 1 / 2, "f1": 1 / 2}
    assert figures(BLOCKS, [(kept, page)]) == {f"block_{k}": v for k, v in expected.items()}
    # pooled, not averaged: with the empty text of a second page 1 hit of 2 given, of 4 wanted
    expected = {"accuracy": 4 / 8, "precision": 1 / 2, "recall": 1 / 4, "f1": 2 / 6}
    found = figures(BLOCKS, [(kept, page), ("", page)])
    assert found == pytest.approx({f"block_{k}": v for k, v in expected.items()})


def test_blocks_are_those_of_training() -> None:
    masked = PageRecord("2", "", b"<p>yes it is</p>no", "utf-8", "yes it is", "□□□yes it is□□□□□□")
    for page in (record(STORY), masked):
        example, found = load_example(page, static_snapshot(page)), make_reference(page, True)
        assert found.leaves == example.page.text
        assert (found.content == example.content).all()
        assert (found.known == example.known).all()
    kept = np.array([True, False])
    scores = block_scores(found.content, kept)
    assert figures(BLOCKS, [("yes it is", found)])["block_f1"] == scores.f1 == 1


def test_leaves_only_if_asked_for() -> None:
    page = reference()
    assert (page.leaves, len(page.content), len(page.known)) == ((), 0, 0)
    assert figures(BLOCKS, [("a", page)]) == dict.fromkeys(BLOCKS.figures, 0)


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_has_its_figures(text: str, gold: str) -> None:
    page = reference(gold, blocks=True, found=(gold[:5],))
    for family in FAMILIES:
        columns = family.score(text, page)
        assert len(columns) == len(family.columns)
        assert np.isfinite(columns).all()
    found = all_figures([(text, page)])
    # An empty snippet or no mark is nothing to be right or wrong about.
    assert all(0 <= figure <= 1 or np.isnan(figure) for figure in found.values())
    perfect = all_figures([(gold, page)])
    assert perfect["word_f1"] == perfect["rouge_lsum"] == perfect["evert_f1"] == 1


@pytest.mark.parametrize("text", ["\n" * 500_000, "\0\x1f\ud800 <" * 50_000, "word. " * 100_000])
@pytest.mark.timeout(60)
def test_hostile_texts(text: str) -> None:
    for family in FAMILIES:
        assert np.isfinite(family.score(text, reference(STORY, blocks=True))).all()


# Published F1, precision, recall and accuracy (the benchmark's README, third digit).
@pytest.mark.parametrize(
    ("system", "published"),
    [
        ("AutoExtract", (0.970, 0.984, 0.956, 0.470)),
        ("Diffbot", (0.951, 0.958, 0.944, 0.348)),
        ("readability", (0.922, 0.913, 0.931, 0.315)),
        ("trafilatura", (0.958, 0.938, 0.978, 0.293)),
        ("readability_js", (0.947, 0.914)),
        ("rs_trafilatura", (0.970,)),
    ],
)
@pytest.mark.skipif(not (DATA / "aeb").is_dir(), reason=f"no AEB in {DATA}; set PAGESIGHT_DATA")
def test_published_aeb(system: str, published: tuple[float, ...]) -> None:
    dataset = open_dataset("aeb", DATA)
    assert isinstance(dataset, Aeb)
    recorded = dataset.recorded(system)
    pages = [(recorded[id], make_reference(dataset.load(id), False)) for id in dataset.ids()]
    found = figures(AEB, pages)
    names = ("aeb_f1", "aeb_precision", "aeb_recall", "aeb_accuracy")
    assert tuple(round(found[name], 3) for name in names[: len(published)]) == published


def column(values: Sequence[float]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.stack([np.array(values, np.float64), np.ones(len(values))], axis=1)


def test_bootstrap() -> None:
    generator = random.Random(0)
    second = np.array([generator.gauss(0.5, 0.3) for _ in range(400)])
    noise = np.array([generator.gauss(0.1, 0.2) for _ in range(400)])
    bootstrap, mean = Bootstrap(400), share(0, 1)
    draws = [bootstrap.draw(column(values)) for values in (second + noise, second)]
    difference = draws[0].difference(draws[1], mean)
    assert difference.mean == pytest.approx(noise.mean())
    # paired: the interval is that of the differences, 1.96 x their standard error to each side
    half = 1.96 * noise.std() / 20
    assert difference.low == pytest.approx(noise.mean() - half, abs=0.002)
    assert difference.high == pytest.approx(noise.mean() + half, abs=0.002)
    figure = draws[1].figure(mean)
    half = 1.96 * second.std() / 20
    assert figure.mean == pytest.approx(second.mean())
    assert figure.low == pytest.approx(second.mean() - half, abs=0.003)
    assert figure.high == pytest.approx(second.mean() + half, abs=0.003)


def test_draws_are_the_same_for_all_but_other_seeds() -> None:
    columns = column([0.1, 0.7, 0.3, 0.9, 0.2])
    first, again, other = (Bootstrap(5, seed).draw(columns) for seed in (0, 0, 1))
    assert (first.drawn == again.drawn).all()
    assert (first.drawn != other.drawn).any()
    assert first.difference(again, share(0, 1)).high == 0
    # five pages a round, each of them once a round in the mean
    assert first.drawn.shape == (ROUNDS, 2)
    assert (first.drawn[:, 1] == 5).all()
    assert first.drawn[:, 0].mean() == pytest.approx(2.2, abs=0.03)


def test_figures_of_ratios_are_those_of_the_drawn_pages() -> None:
    # pooled: a page of 1 of 1, and one of 0 of 3; of the four equal ways to draw two pages
    # 1/1, 1/4, 1/4 and 0/3 come out
    drawn = Bootstrap(2).draw(np.array([[1.0, 1.0], [0.0, 3.0]])).drawn
    values, counts = np.unique(share(0, 1)(drawn), return_counts=True)
    assert values.tolist() == [0, 0.25, 1]
    assert counts / ROUNDS == pytest.approx([0.25, 0.5, 0.25], abs=0.02)


def test_bootstrap_of_one_page_and_of_none() -> None:
    draws = [Bootstrap(1).draw(column([value])) for value in (0.5, 0.25)]
    same = draws[0].difference(draws[1], share(0, 1))
    assert (same.mean, same.low, same.high) == (0.25, 0.25, 0.25)
    with pytest.raises(ValueError, match="no page to draw"):
        Bootstrap(0)
    with pytest.raises(ValueError, match="3 pages, but 2 are drawn"):
        Bootstrap(2).draw(column([1, 2, 3]))


@pytest.mark.parametrize(
    ("of", "sums", "expected"),
    [
        (share(0, 1), [3, 4, 0], 0.75),
        (share(0, 2), [3, 4, 0], 0),
        (pooled_f1(0, 1, 2), [3, 4, 8], 0.5),
        (pooled_f1(0, 1, 2), [0, 0, 0], 0),
        (harmonic_mean(share(0, 2), share(1, 2)), [1, 3, 4], 2 * 0.25 * 0.75 / 1),
        (harmonic_mean(share(0, 2), share(1, 2)), [0, 0, 4], 0),
    ],
)
def test_statistics(of: Statistic, sums: list[float], expected: float) -> None:
    assert of(np.array(sums, np.float64)) == expected
    table = np.array([[sums, sums]], np.float64)
    assert of(table).tolist() == [[expected, expected]]
    figure = Draws(table[0, 0], table[0]).figure(of)
    assert (figure.mean, figure.low, figure.high) == (expected, expected, expected)


def test_scores_are_computed_once_and_elsewhere(tmp_path: Path) -> None:
    references = [make_reference(replace(record(f"a b {n}"), id=str(n)), False) for n in range(20)]
    texts = [f"a b {n % 3}" for n in range(20)]
    metrics = ["word_f1", "aeb_f1"]
    with closing(Outputs(tmp_path)) as store:
        with Scorer(references, metrics, store, 2) as scorer:
            first = scorer.start(texts)
            columns = first.columns()
            assert len(first.awaited) == 3
        with Scorer(references, metrics, store, 2) as scorer:
            again = scorer.start(texts)
            assert not again.awaited
            assert not scorer.start(texts[:19]).awaited
            (changed,) = scorer.start(["other", *texts[1:]]).awaited
            assert changed[0] == [0]
        for family in families_of(metrics):
            expected = [family.page(t, r) for t, r in zip(texts, references, strict=True)]
            assert columns[family.name].tolist() == [list(row) for row in expected]
            assert again.columns()[family.name].tolist() == columns[family.name].tolist()
        wider = ["word_f1", "aeb_f1", "with_share"]
        with Scorer(references, wider, store, 1) as scorer:
            assert set(scorer.start(texts).columns()) == {"word_f1", "aeb", "snippets"}
