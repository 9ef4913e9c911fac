"""One's own labels, from a folder of pages to a model that extracts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support import run
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from typer.testing import CliRunner

from pagesight.app.cli import app
from pagesight.app.fitting import TrainRequest, train_command
from pagesight.app.training import Selection
from pagesight.data.datasets import open_dataset
from pagesight.layout.features import BLOCK, EDGE, WEB2TEXT_BLOCK
from pagesight.layout.page import build_page
from pagesight.model.card import RECIPES, Card, read_card
from pagesight.model.networks import NetworkSettings
from pagesight.model.predict import Model
from pagesight.model.vision import VisionSettings
from pagesight.model.web2text import Web2TextSettings
from pagesight.render.capture import Renderer
from pagesight.render.errors import DatasetError, PagesightError
from pagesight.render.loop import LoopThread
from pagesight.render.static import parse
from pagesight.train.epoch_log import epoch_log
from pagesight.train.evaluate import evaluate, joined
from pagesight.train.examples import Example, load_example, load_examples, static_snapshot
from pagesight.train.fit import check_device, fit, fold_of
from pagesight.train.member import Trained
from pagesight.train.samples import Sample, by_page
from pagesight.train.settings import Epoch, FitSettings
from pagesight.train.web2text import Web2TextFitSettings, fit_web2text

SENTENCE = "The {} was built in {} by people who had never seen the sea, and it still stands. "
THINGS = ["lighthouse", "harbour", "granary", "bridge", "weir", "mill", "quay", "dry dock"]
EPOCHS = 6
SHORT = ("--members", "2", "--epochs", str(EPOCHS))

SIZES = NetworkSettings(width=16, dilations=(1, 2), pooled_after=(1,), pair_width=8)
EYES = VisionSettings(widths=(4, 4, 4), looks=8)
SETTINGS = FitSettings(members=2, epochs=4, batch=4, sight=0.5)
PAPER = Web2TextFitSettings(steps=60, validate_every=20)


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


def selected(folder: Path | str, split: str = "random") -> list[tuple[str, Selection]]:
    """The pages of a folder, for one policy."""
    return [("own", Selection(str(folder), None, split))]


def examples(folder: Path, part: str, **options: Any) -> list[Example]:
    dataset = open_dataset(str(folder))
    return list(load_examples(dataset, dataset.ids("random", part), static_snapshot, **options))


@pytest.fixture(scope="module")
def pages(folder: Path, loop: LoopThread, renderer: Renderer) -> list[list[Sample]]:
    """Twelve pages, static and rendered with a picture."""
    found = examples(folder, "train")[:12]
    for example in found[:]:
        rendering = renderer.replay(example.record.content, "http://own.example/", "utf-8")
        found.append(load_example(example.record, loop.run(rendering)))
    return by_page(found)


@pytest.fixture(scope="module")
def few(pages: list[list[Sample]]) -> list[list[Sample]]:
    """Two pages that each of two members holds out."""
    folds = [fold_of(page[0].site, SETTINGS) for page in pages]
    first = {fold: [i for i, own in enumerate(folds) if own == fold][:2] for fold in (0, 1)}
    return [pages[i] for fold in (0, 1) for i in first[fold]]


def weights_of(trained: Sequence[Trained]) -> list[torch.Tensor]:
    return [weight for one in trained for weight in one.member.state_dict().values()]


def equal(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> bool:
    return all(a.equal(b) for a, b in zip(one, other, strict=True))


def no_traceback(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The last line of what went wrong, after no more than lines of progress."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


# The way of a user.


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"PAGESIGHT_CACHE": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="module")
def own(folder: Path, store: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose training was killed, and called again."""
    model = tmp_path_factory.mktemp("own") / "own.onnx"
    common = ("--dataset", str(folder))
    train = ("train", *common, "--split", "random", "-o", str(model), *SHORT)
    assert "prepare" in no_traceback(run(*train, **store), 1)
    assert run("prepare", *common, **store).stdout == "40 rendered\n"
    assert run("prepare", *common, **store).stdout == "40 stored\n"
    kill_after_an_epoch(train, model.with_suffix(".0.checkpoint"), store)
    assert not model.exists()
    mark(model.with_suffix(".0.checkpoint"))
    done = run(*train, "--log", str(model.parent / "log"), **store)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("own: {'held_out_f1': ")
    return model


def kill_after_an_epoch(command: Sequence[str], checkpoint: Path, store: dict[str, str]) -> None:
    whole, environment = [sys.executable, "-m", "pagesight", *command], os.environ | store
    process = subprocess.Popen(whole, stderr=subprocess.PIPE, env=environment)
    until = time.monotonic() + 90
    while not checkpoint.exists() and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def mark(checkpoint: Path) -> None:
    """Leave what is kept by whoever goes on from there, and not by whoever starts anew."""
    saved = torch.load(checkpoint, weights_only=True)
    assert 0 < len(saved["state"]["history"]) < EPOCHS
    saved["state"]["history"][0]["loss"] = 123.0
    torch.save(saved, checkpoint)


@pytest.mark.timeout(600)
def test_a_killed_training_goes_on(own: Path) -> None:
    losses = scalars(own.parent / "log" / "seed0-member0")["loss"]
    assert len(losses) == EPOCHS
    assert losses[0] == (1, 123)
    assert not list(own.parent.glob("*.checkpoint"))


@pytest.mark.timeout(600)
def test_from_a_folder_to_an_extraction(
    folder: Path,
    own: Path,
    store: dict[str, str],
    tmp_path: Path,
    renderer: Renderer,
    loop: LoopThread,
) -> None:
    figures = tmp_path / "figures.json"
    for extra in ((), ("--render",)):
        done = run(
            *("evaluate", "--dataset", str(folder), "--split", "random", "--model", str(own)),
            *("--json", str(figures), *extra),
            **store,
        )
        assert done.returncode == 0, done.stderr
        record = json.loads(figures.read_text())
        assert set(record) >= {"dataset", "split", "pages", "block", "word_f1", "ece", "model"}
        assert record["block"]["f1"] > 0.97
        assert record["word_f1"] > 0.97

    page = folder / "page3.html"
    for extra in (("--no-render",), ("--vision",)):
        done = run("extract", str(page), "--model", str(own), *extra)
        assert done.stdout.split() == (folder / "page3.txt").read_text().split(), done.stderr

    card = read_card(own)
    assert (card.home, card.recipe) == (("folder", "random"), "pagesight")
    assert [*card.policies] == ["own"]
    assert card.figures["training_pages"] == len(open_dataset(str(folder)).ids("random", "train"))
    check_page(own, card, browser=loop.run(renderer.version()))
    check_log(own.parent / "log", EPOCHS)


def check_page(model: Path, card: Card, browser: str) -> None:
    """The page beside the model says what the card says."""
    page = model.with_suffix(".md").read_text()
    assert page.startswith(f"# {model.stem}\n")
    for name in ("f1", "word_f1", "ece"):
        figure = f"{card.figures[f'validation_{name}']:.3f}".removeprefix("0")
        assert f" | {figure} |" in page, name
    rows = page[page.index("| setting |") :].splitlines()[2:]
    names = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert names[:2] == ["policy own", "recipe"]
    assert "folder (random)" in rows[0]
    assert names[2:5] == ["block features", "edge features", "browser"]
    for fact, row in zip((BLOCK.digest, EDGE.digest, browser), rows[2:], strict=False):
        assert fact in row
    for kind in ("reliability", "training"):
        assert f"({model.stem}.{kind}.svg)" in page
        assert model.with_suffix(f".{kind}.svg").read_text().startswith("<svg")


def check_log(folder: Path, epochs: int) -> None:
    assert {path.name for path in folder.iterdir()} == {"seed0-member0", "seed0-member1"}
    for place in folder.iterdir():
        found = scalars(place)
        assert [step for step, _ in found["loss"]] == list(range(1, epochs + 1))
        assert found["loss"][-1][1] < found["loss"][0][1]
        assert found["nll"][-1][1] < found["nll"][0][1]
        assert max(value for _, value in found["f1"]) > 0.95


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard shows of a folder."""
    events = EventAccumulator(str(folder))
    events.Reload()
    assert {*events.Tags()["scalars"]} == {"loss", "f1", "nll"}
    names = ("loss", "f1", "nll")
    return {name: [(event.step, event.value) for event in events.Scalars(name)] for name in names}


def test_a_log_of_a_training_that_went_on(tmp_path: Path) -> None:
    for reached in (2, 3):
        log = epoch_log(tmp_path, seed=7)
        for epoch in range(1, reached + 1):
            log(4, Epoch(epoch, 1 / epoch, 0.5, 0.25))
    found = scalars(tmp_path / "seed7-member4")
    assert found["loss"] == [(1, 1), (2, 0.5), (3, pytest.approx(1 / 3))]
    assert found["f1"] == [(step, 0.5) for step in (1, 2, 3)]
    assert found["nll"] == [(step, 0.25) for step in (1, 2, 3)]


@pytest.fixture(scope="module")
def seeds(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The better of two models that were hardly trained, with joint chains and no pictures."""
    model = tmp_path_factory.mktemp("seeds") / "new" / "own.onnx"
    settings = FitSettings(seed=3, members=2, epochs=1, chain="joint")
    train_command(TrainRequest(selected(folder), model, settings, seeds=2, rendered=False))
    return model


@pytest.mark.timeout(500)
def test_several_seeds(folder: Path, seeds: Path) -> None:
    """The best is copied with all that lies beside it."""
    model = seeds
    endings = (".onnx", ".reasons.onnx", ".npz", ".json", ".md")
    endings += (".reliability.svg", ".training.svg")
    names = ("own", "own.seed3", "own.seed4")
    # No picture was seen: there is no .vision.onnx; no checkpoint is left.
    assert {path.name for path in model.parent.iterdir()} == {n + e for n in names for e in endings}
    cards = {name: read_card(model.with_name(f"{name}.onnx")) for name in names}
    best = max(names[1:], key=lambda name: cards[name].figures["validation_f1"])
    assert cards["own"] == replace(cards[best], name="own")
    assert [cards[name].settings["seed"] for name in names[1:]] == [3, 4]
    assert cards["own"].settings["chain"] == "joint"
    assert cards["own"].vision_sha256 == ""
    assert cards[names[1]].weights_sha256 != cards[names[2]].weights_sha256
    for ending in (".onnx", ".reasons.onnx", ".npz", ".training.svg"):
        copy, source = (model.with_name(name + ending).read_bytes() for name in ("own", best))
        assert copy == source
    assert len(Model.load(model).label(examples(folder, "test")[0].page).content) > 10

    copy, source = (model.with_name(f"{name}.md").read_text() for name in ("own", best))
    assert best not in copy
    assert copy != source
    pairs = zip(copy.splitlines(), source.splitlines(), strict=True)
    changed = [one.split()[0] for one, other in pairs if one != other]
    assert changed == ["#", "pagesight", "![Training", "![Reliability"]


@pytest.mark.timeout(500)
def test_the_networks_of_web2text(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "paper.onnx"
    command = ("train", "--dataset", str(folder), "--split", "random", "-o", str(model))
    done = run(*command, "--no-render", "--recipe", "web2text", "--steps", "300")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"paper.onnx", "paper.json"}
    loaded = Model.load(model)
    assert loaded.card.block_digest == WEB2TEXT_BLOCK.digest
    assert loaded.card.settings["steps"] == 300
    assert loaded.card.pairwise_weight == RECIPES["web2text"].pairwise_weight < 1
    assert loaded.card.figures["validation_f1"] > 0.95
    assert evaluate(loaded, "own", "random", examples(folder, "test")).block.f1 > 0.95


# What goes wrong.


def part_of(folder: Path, root: Path, counts: dict[str, int]) -> Path:
    """The first pages of each part, as a folder of its own."""
    root.mkdir()
    for part, count in counts.items():
        for id in open_dataset(str(folder)).ids("random", part)[:count]:
            for ending in ("html", "txt"):
                shutil.copy(folder / f"{id}.{ending}", root)
    return root


@pytest.mark.parametrize(
    ("counts", "split", "says"),
    [
        ({"train": 3, "validation": 1}, "random", "3 pages to train on, fewer than 5 members"),
        # Without validation pages the held-out ones say how good it is.
        ({"train": 3, "validation": 0}, "random", "3 pages to train on, fewer than 5 members"),
        ({"train": 3, "validation": 1}, "all", "4 pages to train on, fewer than 5 members"),
        ({"train": 0, "validation": 1}, "random", "the train part of 'random' has no page"),
        ({"train": 3, "validation": 1}, "none", "no split 'none'"),
    ],
)
def test_too_few_pages(
    folder: Path, tmp_path: Path, counts: dict[str, int], split: str, says: str
) -> None:
    small = part_of(folder, tmp_path / "small", counts)
    model = tmp_path / "m.onnx"
    request = TrainRequest(selected(small, split), model, FitSettings(), rendered=False)
    with pytest.raises(DatasetError, match=says):
        train_command(request)
    assert not model.exists()


def test_too_few_pages_as_a_user_sees_it(folder: Path, tmp_path: Path) -> None:
    small = part_of(folder, tmp_path / "small", {"train": 3})
    done = run("train", "--dataset", str(small), "-o", str(tmp_path / "m.onnx"), "--no-render")
    assert "3 pages to train on, fewer than 5 members" in no_traceback(done, 1)


def test_validation_pages_without_gold(folder: Path, tmp_path: Path) -> None:
    small = part_of(folder, tmp_path / "small", {"train": 3, "validation": 1})
    for id in open_dataset(str(small)).ids("random", "validation"):
        (small / f"{id}.txt").unlink()
    request = TrainRequest(selected(small), tmp_path / "m.onnx", FitSettings(), rendered=False)
    with pytest.raises(DatasetError, match="the validation part of 'random' has no page with gold"):
        train_command(request)


def test_pages_too_short_for_web2text(folder: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.mkdir()
    for part in ("train", "validation"):
        id = open_dataset(str(folder)).ids("random", part)[0]
        (short / f"{id}.html").write_text("<p>one<p>two")
        (short / f"{id}.txt").write_text("one\ntwo")
    request = TrainRequest(
        *(selected(short), tmp_path / "m.onnx", FitSettings()),
        rendered=False,
        recipe="web2text",
    )
    with pytest.raises(DatasetError, match="no training page has 11 blocks or more"):
        train_command(request)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--chain", "none", "--chain none: there are joint, separate"),
        ("--recipe", "best", "--recipe best: there are pagesight, web2text"),
        ("--members", "1", "'--members'"),
        ("--seeds", "0", "'--seeds'"),
    ],
)
def test_wrong_options(tmp_path: Path, option: str, value: str, says: str) -> None:
    command = ("train", "--dataset", str(tmp_path), "--split", "random", "-o", "m.onnx")
    done = CliRunner().invoke(app, [*command, option, value], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert says in done.output


def test_pictures_are_those_of_renderings(tmp_path: Path) -> None:
    done = run("evaluate", "--dataset", str(tmp_path), "--vision")
    assert "--vision" in no_traceback(done, 2)
    assert "--render" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("device", "says"),
    [("nowhere", "--device nowhere: "), ("cuda", "--device cuda: ")],
)
def test_a_device_that_is_not_there(device: str, says: str) -> None:
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("a GPU is there")
    with pytest.raises(PagesightError, match=says) as caught:
        check_device(device)
    assert "\n" not in str(caught.value)
    # It is told before any page is read.
    with pytest.raises(PagesightError, match=says):
        train_command(replace(NOWHERE, settings=FitSettings(device=device)))


NOWHERE = TrainRequest(selected("/no/such/folder"), Path("m.onnx"), FitSettings())


@pytest.mark.parametrize(
    ("request_", "missing"),
    [
        (NOWHERE, "altair"),
        (NOWHERE, "vl_convert"),
        (NOWHERE, "onnxscript"),
        (replace(NOWHERE, log=Path("log")), "tensorboard"),
    ],
)
def test_what_is_not_installed_is_told_before_training(
    monkeypatch: pytest.MonkeyPatch, request_: TrainRequest, missing: str
) -> None:
    with pytest.raises(DatasetError, match="no such folder"):
        train_command(request_)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(PagesightError, match=rf"^{missing} is not .* 'pagesight\[train\]'$"):
        train_command(request_)


def test_a_paper_is_trained_without_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    for missing in ("altair", "vl_convert", "tensorboard"):
        monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(DatasetError, match="no such folder"):
        train_command(replace(NOWHERE, recipe="web2text"))


def test_a_model_has_its_ending() -> None:
    with pytest.raises(PagesightError, match=r"own.model: the name of a model ends in \.onnx"):
        train_command(replace(NOWHERE, output=Path("own.model")))


def test_settings_that_there_are_not() -> None:
    with pytest.raises(ValueError, match="joint, separate"):
        FitSettings(chain="")
    with pytest.raises(ValueError, match="two members"):
        FitSettings(members=1)


# The weights.


def test_the_same_seed_gives_the_same_weights(pages: list[list[Sample]]) -> None:
    first, second = (weights_of(fit(pages, SIZES, EYES, SETTINGS)) for _ in range(2))
    other = weights_of(fit(pages, SIZES, EYES, replace(SETTINGS, seed=1)))
    assert equal(first, second)
    assert not equal(first, other)
    half = len(first) // 2
    assert not equal(first[:half], first[half:])


@pytest.fixture(scope="module")
def undisturbed(pages: list[list[Sample]]) -> list[Trained]:
    return fit(pages, SIZES, EYES, SETTINGS)


class Interrupt(Exception):
    pass


@pytest.mark.parametrize("at", [(0, 1), (0, 4), (1, 2), (1, 4)], ids=str)
def test_interrupted_after_an_epoch(
    pages: list[list[Sample]], undisturbed: list[Trained], tmp_path: Path, at: tuple[int, int]
) -> None:
    def stop(member: int, epoch: Epoch) -> None:
        if (member, epoch.epoch) == at:
            raise Interrupt

    checkpoint = tmp_path / "x.checkpoint"
    with pytest.raises(Interrupt):
        fit(pages, SIZES, EYES, SETTINGS, checkpoint, stop)
    check_that_it_goes_on(pages, undisturbed, checkpoint)


def test_interrupted_inside_an_epoch(
    pages: list[list[Sample]], undisturbed: list[Trained], tmp_path: Path
) -> None:
    def interrupt(signal: int, frame: object) -> None:
        raise Interrupt

    told: list[Epoch] = []

    def start_clock(member: int, epoch: Epoch) -> None:
        told.append(epoch)
        if len(told) == 2:  # the third epoch takes longer than this
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)

    before = signal.signal(signal.SIGVTALRM, interrupt)
    checkpoint = tmp_path / "x.checkpoint"
    try:
        with pytest.raises(Interrupt):
            fit(pages, SIZES, EYES, SETTINGS, checkpoint, start_clock)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert len(told) == 2
    check_that_it_goes_on(pages, undisturbed, checkpoint)


def check_that_it_goes_on(
    pages: list[list[Sample]], undisturbed: list[Trained], checkpoint: Path
) -> None:
    told: list[tuple[int, Epoch]] = []
    resumed = fit(
        *(pages, SIZES, EYES, SETTINGS, checkpoint),
        lambda member, epoch: told.append((member, epoch)),
    )
    assert told == [(i, epoch) for i, one in enumerate(undisturbed) for epoch in one.history]
    assert equal(weights_of(undisturbed), weights_of(resumed))


def test_a_checkpoint_of_another_training_is_not_used(
    few: list[list[Sample]], tmp_path: Path
) -> None:
    short = replace(SETTINGS, epochs=2)
    contradicted = [[replace(form, labels=1 - form.labels) for form in page] for page in few]
    static_only = [page[:1] for page in few]
    kept = weights_of(fit(few, SIZES, EYES, short, tmp_path / "kept.checkpoint"))
    trainings: list[tuple[list[list[Sample]], NetworkSettings, VisionSettings, FitSettings]] = [
        (few, SIZES, EYES, replace(short, learning_rate=1e-3)),
        (few, replace(SIZES, dropped_inputs=0.1), EYES, short),
        (few, SIZES, replace(EYES, margin=9), short),
        (few[::-1], SIZES, EYES, short),
        (contradicted, SIZES, EYES, short),
        (static_only, SIZES, EYES, short),
    ]
    for number, training in enumerate(trainings):
        checkpoint = tmp_path / f"{number}.checkpoint"
        for member in (0, 1):
            shutil.copy(
                tmp_path / f"kept.{member}.checkpoint", tmp_path / f"{number}.{member}.checkpoint"
            )
        found = weights_of(fit(*training, checkpoint))
        assert equal(found, weights_of(fit(*training))), number
        assert not equal(found, kept), number


def test_each_member_is_judged_by_pages_that_it_has_not_seen(
    pages: list[list[Sample]], undisturbed: list[Trained]
) -> None:
    """Together they judge each form of each page once."""
    forms = [form for page in pages for form in page]
    judged = [sorted(map(tuple, one.held_out.leaves.tolist())) for one in undisturbed]
    assert sorted(row for rows in judged for row in rows) == sorted(
        tuple(row) for form in forms for row in form.leaves.tolist()
    )
    # Pages of a folder are sites by themselves; the seed says who holds out which.
    folds = [fold_of(page[0].site, SETTINGS) for page in pages]
    assert {*folds} == {0, 1}
    states = np.bincount(folds, [sum(map(len, page)) for page in pages])
    assert [len(rows) for rows in judged] == states.tolist()
    for one in undisturbed:
        assert one.held_out.page_f1 == pytest.approx(one.history[-1].f1)
        assert one.held_out.nll == pytest.approx(one.history[-1].nll, abs=1e-5)
        assert [epoch.epoch for epoch in one.history] == [1, 2, 3, 4]


def test_eyes_learn_where_pictures_are_shown(few: list[list[Sample]]) -> None:
    """With their learning rate so low, only what is shown a picture gets a gradient at all."""
    two = replace(SETTINGS, epochs=1, weight_decay=0.0)

    def eyes(sight: float, forms: slice) -> list[torch.Tensor]:
        shown = [page[forms] for page in few]
        trained = fit(shown, SIZES, EYES, replace(two, sight=sight))
        return [weight for one in trained for weight in one.member.eyes.state_dict().values()]

    blind, static, sighted = eyes(0, slice(1, 2)), eyes(1, slice(0, 1)), eyes(1, slice(1, 2))
    assert equal(blind, static)
    assert not equal(blind, sighted)


# The networks of Web2Text.


def paper_examples(folder: Path) -> tuple[list[Example], list[Example]]:
    train, validation = (
        examples(folder, part, block_set=WEB2TEXT_BLOCK) for part in ("train", "validation")
    )
    return train[:12], validation


def paper_weights(
    parts: tuple[list[Example], list[Example]],
    settings: Web2TextFitSettings = PAPER,
    checkpoint: Path | None = None,
    on_step: Callable[[], None] = lambda: None,
) -> list[torch.Tensor]:
    network = fit_web2text(*parts, Web2TextSettings(), settings, checkpoint, on_step)
    return list(network.state_dict().values())


def test_web2text_by_seeds(folder: Path) -> None:
    parts = paper_examples(folder)
    first, second = (paper_weights(parts, replace(PAPER, seed=3)) for _ in range(2))
    assert equal(first, second)
    assert not equal(first, paper_weights(parts, replace(PAPER, seed=4)))


def test_web2text_goes_on_to_the_same_weights(folder: Path, tmp_path: Path) -> None:
    parts, checkpoint = paper_examples(folder), tmp_path / "x.checkpoint"
    steps = 0

    def stop_at_45() -> None:
        nonlocal steps
        steps += 1
        if steps == 45:
            raise Interrupt

    with pytest.raises(Interrupt):
        paper_weights(parts, PAPER, checkpoint, stop_at_45)
    counted: list[int] = []
    resumed = paper_weights(parts, PAPER, checkpoint, lambda: counted.append(1))
    assert len(counted) == 60
    whole = paper_weights(parts)
    assert equal(whole, resumed)

    other = ([replace(each, content=~each.content) for each in parts[0]], parts[1])
    found = paper_weights(other, PAPER, checkpoint)
    assert equal(found, paper_weights(other))
    assert not equal(found, whole)


# The scores.


def test_evaluation_is_pooled_over_blocks(folder: Path, seeds: Path) -> None:
    found, model = examples(folder, "test"), Model.load(seeds)
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
    page = build_page(parse(b"<p>a <b>b</b>c<p>d<br>e<ul><li>f<li>g</ul>", "utf-8"))
    kept = np.ones(len(page), bool)
    kept[page.text.index("e")] = False
    assert joined(page, kept) == "a bc\nd\nf\ng"
