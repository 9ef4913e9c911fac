"""One's own labels, from a folder of pages to a model that extracts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support import run

from pagesight.data.datasets import open_dataset
from pagesight.model.networks import NetworkSettings
from pagesight.model.predict import Model
from pagesight.train.evaluate import evaluate, joined
from pagesight.train.examples import load_examples, static_snapshot
from pagesight.train.fit import FitSettings, fit

SENTENCE = "The {} was built in {} by people who had never seen the sea, and it still stands. "
THINGS = ["lighthouse", "harbour", "granary", "bridge", "weir", "mill", "quay", "dry dock"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty small pages of one's own: a menu, an article of a few paragraphs, a footer."""
    root = tmp_path_factory.mktemp("own")
    for number in range(40):
        thing = THINGS[number % len(THINGS)]
        paragraphs = [
            SENTENCE.format(thing, 1600 + 7 * number + i) * (1 + (number + i) % 3) for i in range(6)
        ]
        menu = "".join(f"<li><a href=/{t}>{t.title()}</a>" for t in THINGS)
        body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        (root / f"page{number}.html").write_text(
            f"<title>{thing}</title><ul>{menu}</ul><h1>The {thing}</h1>{body}"
            f"<div class=footer><a href=/c>Contact</a> <a href=/p>Privacy</a> © {number}</div>"
        )
        gold = "\n".join([f"The {thing}", *paragraphs])
        (root / f"page{number}.txt").write_text(gold)
    return root


def examples(folder: Path, part: str):
    dataset = open_dataset(str(folder))
    return list(load_examples(dataset, dataset.ids("random", part), static_snapshot))


def test_from_a_folder_to_an_extraction(folder: Path, tmp_path: Path) -> None:
    common = ("--dataset", str(folder))
    stored = {"PAGESIGHT_CACHE": str(tmp_path / "cache")}
    model, figures = str(tmp_path / "own.onnx"), tmp_path / "figures.json"
    too_early = run("train", *common, "--split", "random", "-o", model, **stored)
    assert too_early.returncode == 1
    assert "prepare" in too_early.stderr

    assert run("prepare", *common, **stored).stdout == "40 rendered\n"
    assert run("prepare", *common, **stored).stdout == "40 stored\n"
    done = run("train", *common, "--split", "random", "-o", model, "--steps", "300", **stored)
    assert done.returncode == 0, done.stderr
    for extra in ((), ("--render",)):
        done = run(
            *("evaluate", *common, "--split", "random", "--model", model, "--json", str(figures)),
            *extra,
            **stored,
        )
        assert done.returncode == 0, done.stderr
        record = json.loads(figures.read_text())
        assert set(record) >= {"dataset", "split", "pages", "block", "word_f1", "ece", "model"}
        assert record["block"]["f1"] > 0.97
        assert record["word_f1"] > 0.97

    page = folder / "page3.html"
    done = run("extract", str(page), "--model", model)
    assert done.stdout.split() == (folder / "page3.txt").read_text().split()


def test_the_same_seed_gives_the_same_weights(folder: Path) -> None:
    parts = examples(folder, "train"), examples(folder, "validation")
    settings = FitSettings(steps=60, validate_every=20, seed=3)
    first, second = (fit(*parts, NetworkSettings(), settings)[0] for _ in range(2))
    other = fit(*parts, NetworkSettings(), FitSettings(steps=60, validate_every=20, seed=4))[0]
    for one, two in zip(first.parameters(), second.parameters(), strict=True):
        assert one.equal(two)
    assert not next(first.parameters()).equal(next(other.parameters()))


def test_an_interrupted_training_goes_on_to_the_same_weights(folder: Path, tmp_path: Path) -> None:
    parts = examples(folder, "train"), examples(folder, "validation")
    settings = FitSettings(steps=60, validate_every=20)
    whole, _ = fit(*parts, NetworkSettings(), settings)

    class Interrupt(Exception):
        pass

    steps = 0

    def stop_at_45() -> None:
        nonlocal steps
        steps += 1
        if steps == 45:
            raise Interrupt

    checkpoint = tmp_path / "x.checkpoint"
    with pytest.raises(Interrupt):
        fit(*parts, NetworkSettings(), settings, checkpoint, stop_at_45)
    counted: list[int] = []
    resumed, state = fit(*parts, NetworkSettings(), settings, checkpoint, lambda: counted.append(1))
    assert len(counted) == state.step == 60
    for one, two in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert one.equal(two)


def test_a_killed_training_goes_on(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.onnx"
    command = ["train", "--dataset", str(folder), "--split", "random", "-o", str(model)]
    command += ["--no-render", "--steps", "500"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pagesight", *command], stderr=subprocess.PIPE, env=os.environ
    )
    until = time.monotonic() + 90
    while not model.with_suffix(".checkpoint").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not model.exists()
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert Model.load(model).card.figures["training_pages"] > 0
    assert not model.with_suffix(".checkpoint").exists()


def test_evaluation_is_pooled_over_blocks(folder: Path) -> None:
    model = Model.load()
    found = examples(folder, "test")
    result = evaluate(model, "own", "random", iter(found))
    gold, predicted = [], []
    for example in found:
        labels = model.label(example.page, reasons=False)
        gold.append(example.content[example.known])
        predicted.append(labels.content[example.known])
    right = np.concatenate(gold) == np.concatenate(predicted)
    assert result.block.accuracy == pytest.approx(right.mean())
    assert result.pages == len(found)


def test_joined_text_breaks_where_blocks_break() -> None:
    from pagesight.layout.page import build_page
    from pagesight.render.static import parse

    page = build_page(parse(b"<p>a <b>b</b>c<p>d<br>e<ul><li>f<li>g</ul>", "utf-8"))
    kept = np.ones(len(page), bool)
    kept[page.text.index("e")] = False
    assert joined(page, kept) == "a bc\nd\nf\ng"
