"""One model for several policies: its cards, heads and thresholds, and trainings that go on."""

from __future__ import annotations

import io
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support import run
from typer.testing import CliRunner

from pagesight import extract
from pagesight.app.cli import app
from pagesight.app.fitting import TrainRequest, train_command
from pagesight.app.training import Selection
from pagesight.layout.page import Page, build_page
from pagesight.model.card import BALANCED, FAVOURS, Card, Policy, read_card
from pagesight.model.kinds import KINDS
from pagesight.model.members import read_members
from pagesight.model.networks import Mean, Member, NetworkSettings
from pagesight.model.predict import Model
from pagesight.model.vision import VisionSettings
from pagesight.render.errors import DatasetError, ModelError, PagesightError
from pagesight.render.static import parse
from pagesight.train.batches import collate
from pagesight.train.fit import fit, fold_of
from pagesight.train.judge import judge, together
from pagesight.train.losses import batch_loss
from pagesight.train.samples import UNKNOWN, Sample
from pagesight.train.settings import FitSettings

pytestmark = pytest.mark.timeout(500)

SIZES = NetworkSettings(policies=2, width=16, dilations=(1, 2), pooled_after=(1,), pair_width=8)
EYES = VisionSettings(widths=(4, 4, 4), looks=8)
SHORT = FitSettings(members=2, epochs=2, batch=4, sight=0)

THINGS = ["lighthouse", "harbour", "granary", "bridge", "weir", "mill", "quay", "dry dock"]
PAGES = 16


def teasers(number: int) -> list[str]:
    return [f"Read all there is on the {thing} number {number}" for thing in THINGS]


def paragraphs(number: int) -> list[str]:
    sentence = "It was built in {} by people who had never seen the sea, and it still stands. "
    return [(sentence.format(1600 + number + i) * (2 + i)).strip() for i in range(3)]


def html_of(number: int, text: bool = True) -> str:
    """Eight teasers and three paragraphs, or the teasers alone."""
    links = "".join(f"<li><a href=/{i}>{line}</a>" for i, line in enumerate(teasers(number)))
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs(number)) if text else ""
    return f"<title>t</title><ul class=menu>{links}</ul><main>{body}</main>"


def page_of(html: str) -> Page:
    return build_page(parse(html.encode(), "utf-8"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same pages under two policies: the text is content, or the teasers are.

    Every fourth has no text: by the first policy it has no content at all.
    """
    roots = tmp_path_factory.mktemp("text"), tmp_path_factory.mktemp("teasers")
    for number in range(PAGES):
        text = number % 4 > 0
        for root, gold in zip(roots, (paragraphs(number) * text, teasers(number)), strict=True):
            (root / f"page{number}.html").write_text(html_of(number, text))
            (root / f"page{number}.txt").write_text("\n".join(gold))
    return roots


@pytest.fixture(scope="module")
def two(folders: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows both."""
    path = tmp_path_factory.mktemp("model") / "two.onnx"
    text, other = folders
    done = run(
        *("train", "--dataset", str(text), "--policy", "text", "--also", f"teasers={other}:all"),
        *("-o", str(path), "--no-render", "--members", "2", "--epochs", "6"),
    )
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def copied(two: Path, tmp_path: Path) -> Path:
    for file in two.parent.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / two.name


# Cards.


def test_thresholds_of_a_policy() -> None:
    policy = Policy(precision=0.9, recall=0.2)
    assert [policy.threshold(favour) for favour in FAVOURS] == [0.9, BALANCED, 0.2]
    assert Policy(precision=0.5, recall=0.5).threshold("precision") == BALANCED
    for wrong in ({"precision": 0.49}, {"recall": 0.51}, {"precision": 1.01}, {"recall": -0.01}):
        with pytest.raises(ValueError, match="in no order"):
            Policy(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="slope"):
        Policy(slope=0)


def test_what_a_card_knows() -> None:
    policies = {
        "web": Policy((("wcxb", "all"), ("styled", "all"))),
        "old": Policy((("cleaneval", "web2text"),)),
    }
    card = Card("m", policies, "", "", 0.1, "")
    assert (card.policy(), card.policy("old")) == ("web", "old")
    assert card.home == ("wcxb", "all")
    assert card.sources() == [("wcxb", "all"), ("styled", "all"), ("cleaneval", "web2text")]
    # Pages of a split are known to who was trained on another split of them.
    assert card.knows("wcxb", "fold0")
    assert card.knows("cleaneval", "cleaneval")
    assert not card.knows("cleaneval", "web2text")
    assert not card.knows("aeb", "all")
    with pytest.raises(ModelError, match=r"^m: no policy 'new' in this model; there is web, old$"):
        card.policy("new")
    with pytest.raises(ValueError, match="without a policy"):
        replace(card, policies={})
    assert replace(card, policies={"x": Policy()}).home == ("", "")


def test_the_card_of_two_policies(two: Path) -> None:
    card = read_card(two)
    assert [*card.policies] == ["text", "teasers"]
    assert card.sources() == [("folder", "all")] * 2
    assert card.settings["policies"] == 2
    for policy in card.policies.values():
        assert 0 < policy.recall <= BALANCED <= policy.precision < 1
        assert policy.slope != 1
    # A split without parts has no validation pages: what was held out says how good it is.
    assert card.figures["training_pages"] == 2 * PAGES
    assert not [name for name in card.figures if name.startswith("validation")]
    for name in ("held_out_f1", "held_out_page_f1", "teasers_held_out_f1"):
        assert card.figures[name] > 0.95, name
    assert "held_out_page_type_accuracy" not in card.figures
    page = two.with_suffix(".md").read_text()
    assert "| policy text | folder (all) |" in page
    assert "| policy teasers | folder (all) |" in page


# Heads.


def kept(model: Model, page: Page) -> list[str]:
    content = model.label(page, reasons=False).content.tolist()
    return [text for text, own in zip(page.text, content, strict=True) if own]


def test_each_policy_keeps_what_it_was_taught(two: Path) -> None:
    page = page_of(html_of(99))
    assert kept(Model.load(two), page) == kept(Model.load(two, "text"), page) == paragraphs(99)
    assert kept(Model.load(two, "teasers"), page) == teasers(99)
    with pytest.raises(ModelError, match="two: no policy 'all' in this model; there is text, t"):
        Model.load(two, "all")


def test_reasons_are_those_of_the_policy(two: Path) -> None:
    page = page_of(html_of(99))
    for_text, for_teasers = (Model.load(two, name).label(page).reasons for name in ("", "teasers"))
    assert all(reason.startswith("for: ") for reason in for_text[-3:])
    assert all(reason.startswith("against: ") for reason in for_teasers[-3:])


def test_a_document_by_policy(two: Path) -> None:
    html = html_of(98)
    usual = extract(html, render=False, model=str(two))
    other = extract(html, render=False, model=str(two), policy="teasers")
    assert usual.text == "\n\n".join(paragraphs(98))
    assert other.text.count("Read all there is on") == len(THINGS)
    assert "never seen the sea" not in other.text
    # No page taught it a kind of pages.
    assert usual.page_type is other.page_type is None
    assert min(usual.confidence or 0, other.confidence or 0) > 0.8
    with pytest.raises(ModelError, match="no policy 'all'"):
        extract(html, render=False, model=str(two), policy="all")


def test_a_page_without_content_is_answered(two: Path) -> None:
    document = extract(html_of(97, text=False), render=False, model=str(two))
    assert (document.status, document.text) == ("empty", "")
    assert document.error == "no content found"
    assert document.confidence is not None
    assert document.confidence > 0.5


def test_what_is_favoured_is_up_to_the_policy(copied: Path) -> None:
    card = read_card(copied)
    policies = {name: replace(policy, precision=1.0) for name, policy in card.policies.items()}
    policies["teasers"] = replace(policies["teasers"], precision=0.5, recall=0.0)
    replace(card, policies=policies).write(copied.with_suffix(".json"))
    page = page_of(html_of(99))
    told = {
        (name, favour): Model.load(copied, name).label(page, False, favour).content
        for name in policies
        for favour in FAVOURS
    }
    assert not told["text", "precision"].any()  # no probability exceeds 1
    assert told["text", ""].sum() == 3
    assert told["text", "recall"].sum() >= 3
    assert told["teasers", "precision"].tolist() == told["teasers", ""].tolist()
    assert told["teasers", "recall"].all()  # each exceeds 0


# Members, and trainings that go on from them.


def test_members_are_those_of_the_first_policy(two: Path) -> None:
    """Read from their file they say what the model says, without the other head."""
    members, model, page = read_members(str(two)), Model.load(two), page_of(html_of(96))
    assert [member.page.policies for member in members] == [1, 1]
    states = model.states(page)
    unary, pairwise, _ = model.potentials(states.blocks[None], states.edges)
    inputs = (states.blocks[None], states.edges[None])
    looks = torch.zeros(2, len(states.blocks), VisionSettings().looks)
    with torch.no_grad():
        said = Mean(members).eval()(*map(torch.from_numpy, inputs), looks, torch.ones(1, 1))
    np.testing.assert_allclose(said[0], unary, atol=2e-5)
    np.testing.assert_allclose(said[1][0], pairwise, atol=2e-5)


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def test_files_of_members_that_are_none(copied: Path) -> None:
    path = copied.with_suffix(".npz")
    whole, arrays = path.read_bytes(), arrays_of(copied)
    bad: list[bytes] = [b"", b"no zip", whole[: len(whole) // 2]]
    for changed in (
        {},
        {key: value for key, value in arrays.items() if key.startswith("0.")},
        {key: value[:1] if "read" in key else value for key, value in arrays.items()},
        arrays | {"0.page.read.weight": np.array([{"an": "object"}], object)},
    ):
        buffer = io.BytesIO()
        np.savez(buffer, **changed)
        bad.append(buffer.getvalue())
    for content in bad:
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"two\.onnx: the members' weights cannot be read: "):
            read_members(str(copied))
    path.unlink()
    with pytest.raises(ModelError, match=r"no such model: .*two\.npz is missing"):
        read_members(str(copied))
    path.write_bytes(whole)
    assert len(read_members(str(copied))) == 2
    card = json.loads(copied.with_suffix(".json").read_text()) | {"edge_digest": "0" * 16}
    copied.with_suffix(".json").write_text(json.dumps(card))
    with pytest.raises(ModelError, match="trained on other features"):
        read_members(str(copied))


def test_a_few_pages_teach_a_model_further(
    two: Path, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """Six pages turn it into one that keeps the teasers; features are read as they were."""
    few = tmp_path / "few"
    few.mkdir()
    for number in range(4, 10):
        for ending in ("html", "txt"):
            shutil.copy(folders[1] / f"page{number}.{ending}", few)
    model = tmp_path / "further.onnx"
    settings = FitSettings(members=2, epochs=4, learning_rate=1e-2)
    pages = [("mine", Selection(str(few), None, "all"))]
    train_command(TrainRequest(pages, model, settings, start=str(two), rendered=False))
    assert [*read_card(model).policies] == ["mine"]
    assert kept(Model.load(model), page_of(html_of(95))) == teasers(95)
    before, after = arrays_of(two), arrays_of(model)
    same = {key for key, value in after.items() if np.array_equal(value, before[key])}
    assert {"0.page.standardise.mean", "1.page.standardise_edges.deviation"} <= same
    assert "0.page.read.weight" not in same


def test_going_on_is_for_one_policy(two: Path, folders: tuple[Path, Path], tmp_path: Path) -> None:
    pages = [(name, Selection(str(folders[0]), None, "all")) for name in ("text", "teasers")]
    request = TrainRequest(pages, tmp_path / "m.onnx", SHORT, start=str(two), rendered=False)
    with pytest.raises(PagesightError, match="--from: a model is trained further for one policy"):
        train_command(request)


def test_going_on_from_no_model(folders: tuple[Path, Path], tmp_path: Path) -> None:
    command = ["train", "--dataset", str(folders[0]), "-o", str(tmp_path / "m.onnx")]
    done = CliRunner().invoke(app, [*command, "--no-render", "--from", str(tmp_path / "no.onnx")])
    assert isinstance(done.exception, ModelError)
    assert str(done.exception).endswith("no.json is missing")
    assert not (tmp_path / "m.onnx").exists()


def test_a_paper_s_training_goes_on_from_nothing(tmp_path: Path) -> None:
    command = ("train", "--dataset", str(tmp_path), "-o", "m.onnx", "--recipe", "web2text")
    for option in (("--from", "web"), ("--also", "a=b:c")):
        done = CliRunner().invoke(app, [*command, *option])
        assert done.exit_code == 2
        assert "takes no --also and no --from" in done.output


# Trainings of small networks.


def sample(number: int, size: int = 6, **facts: object) -> Sample:
    """Column 0 tells content, column 1 the kind of the page, column 2 its number."""
    random = np.random.default_rng(number)
    labels = random.integers(0, 2, size)
    blocks = random.normal(size=(size, 5)).astype(np.float32)
    usual = Sample(
        id=str(number),
        page=page_of("<p>x" * size),
        policy=0,
        kind=number % 3,
        site=str(number),
        blocks=blocks,
        edges=np.zeros((size - 1, 3), np.float32),
        labels=labels,
        leaves=np.stack([1 - labels, labels], axis=1),
        words=random.integers(1, 9, size).astype(np.float32),
    )
    made = replace(usual, **facts)  # type: ignore[arg-type]
    blocks[:, 0], blocks[:, 1], blocks[:, 2] = made.labels * 2 - 1, made.kind - 1, number
    return made


def weights_of(members: list[Member]) -> list[torch.Tensor]:
    return [weight for member in members for weight in member.state_dict().values()]


def test_members_go_on_from_those_of_a_model_in_turn() -> None:
    pages = [[sample(number)] for number in range(12)]
    start = [one.member for one in fit(pages, SIZES, EYES, SHORT)]
    assert not all(map(torch.equal, weights_of(start[:1]), weights_of(start[1:])))
    still = replace(SHORT, members=3, epochs=1, learning_rate=1e-12, weight_decay=0.0)
    on = [one.member for one in fit(pages, SIZES, EYES, still, start=start)]
    for member, begun in zip(on, (start[0], start[1], start[0]), strict=True):
        for one, other in zip(weights_of([member]), weights_of([begun]), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
    fresh = [one.member for one in fit(pages, SIZES, EYES, still)]
    assert not np.allclose(fresh[0].page.read.weight.detach(), start[0].page.read.weight.detach())


def test_a_checkpoint_belongs_to_what_it_went_on_from(tmp_path: Path) -> None:
    pages = [[sample(number)] for number in range(12)]
    start, other = (
        [one.member for one in fit(pages, SIZES, EYES, replace(SHORT, seed=seed))]
        for seed in (0, 1)
    )
    path = tmp_path / "x.checkpoint"
    kept_weights = fit(pages, SIZES, EYES, SHORT, path, start=start)
    for begun in (start, other, None):
        found = fit(pages, SIZES, EYES, SHORT, path, start=begun)
        wanted = fit(pages, SIZES, EYES, SHORT, start=begun)
        pairs = zip(
            weights_of([one.member for one in found]),
            weights_of([one.member for one in wanted]),
            strict=True,
        )
        assert all(one.equal(each) for one, each in pairs)
        assert (begun is start) == np.array_equal(
            found[0].held_out.probability, kept_weights[0].held_out.probability
        )


def test_pages_of_a_site_are_held_out_together() -> None:
    """Each page has sizes of its own, by which what was held out is known."""
    sites = "abcdefg"
    pages = [[sample(number, 2 + number, site=sites[number % len(sites)])] for number in range(21)]
    settings = replace(SHORT, members=3, epochs=1)
    folds = {site: fold_of(site, settings) for site in sites}
    assert set(folds.values()) == {0, 1, 2}
    for number, one in enumerate(fit(pages, SIZES, EYES, settings)):
        judged = np.bincount(one.held_out.page).tolist()
        wanted = [len(page[0]) for page in pages if folds[page[0].site] == number]
        assert judged == sorted(wanted)
    # Other seeds hold out other sites.
    assert len({tuple(fold_of(s, replace(settings, seed=i)) for s in sites) for i in range(9)}) > 5


def test_pages_of_one_site_cannot_be_held_out() -> None:
    pages = [[sample(number, site="a")] for number in range(6)]
    with pytest.raises(DatasetError, match="all pages are of one site"):
        fit(pages, SIZES, EYES, SHORT)


def test_kinds_and_policies_are_learned() -> None:
    """By the policy 1 what the other calls content is none; a kind is known from any page."""
    pages = []
    for number in range(24):
        policy = number % 2
        made = sample(number, policy=policy, kind=UNKNOWN if number > 20 else number % 3)
        flipped = replace(made, labels=1 - made.labels, leaves=made.leaves[:, ::-1])
        pages.append([flipped if policy else made])
    settings = replace(SHORT, epochs=8, learning_rate=1e-2)
    trained = fit(pages, SIZES, EYES, settings)
    member = trained[0].member
    said = judge(member, [page[0] for page in pages], 0.1, "cpu")
    assert said.of_policy(0).page_f1 > 0.8
    assert said.of_policy(1).page_f1 > 0.8
    assert said.kind_accuracy > 0.6  # of three kinds
    other = [replace(page[0], policy=1 - page[0].policy) for page in pages]
    assert judge(member, other, 0.1, "cpu").page_f1 < 0.2
    assert SIZES.kinds == len(KINDS)


# Pages without content.


def test_the_loss_of_a_page_without_content_by_hand() -> None:
    """Odds of 3 for content, of 4 words and of 1: blocks lose ln 4, the page 1 - 1 / (1 + 3.75)."""
    empty = sample(0, 2, labels=np.zeros(2, np.int64), words=np.array([4, 1], np.float32))
    batch = collate([empty], [None], 2, "cpu")
    pairwise = torch.zeros(1, 1, 2, 2)
    unary = torch.tensor([[[0.0, math.log(3)]] * 2], requires_grad=True)
    loss = batch_loss("separate", unary, pairwise, batch)
    wanted = math.log(4) + 0.5 * (1 - 1 / 4.75) + math.log(4)
    assert loss.item() == pytest.approx(wanted)
    loss.backward()
    assert unary.grad is not None
    assert (unary.grad[0, :, 1] > 0).all()
    # Nothing kept is right, and costs nothing.
    none = batch_loss("separate", torch.tensor([[[40.0, -40.0]] * 2]), pairwise, batch)
    assert none.item() == pytest.approx(math.log(4))


def test_pages_without_content_are_learned() -> None:
    """Where column 3 is high on a page, nothing of it is content."""
    pages = []
    for number in range(24):
        bare = number % 2 == 0
        made = sample(number, labels=np.zeros(6, np.int64)) if bare else sample(number)
        made.blocks[:, 0] = np.random.default_rng(number).choice([-1, 1], 6)
        labels = np.zeros(6, np.int64) if bare else (made.blocks[:, 0] > 0).astype(np.int64)
        made.blocks[:, 3] = bare
        leaves = np.stack([1 - labels, labels], axis=1)
        pages.append([replace(made, labels=labels, leaves=leaves)])
    settings = replace(SHORT, epochs=6, learning_rate=1e-2)
    held_out = together([one.held_out for one in fit(pages, SIZES, EYES, settings)])
    assert held_out.page_f1 > 0.9
