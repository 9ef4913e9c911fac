"""Models: damage is told, labels of any page are sound, pictures count where they are looked at."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pagesight.layout.features import BLOCK, EDGE, WEB2TEXT_BLOCK
from pagesight.layout.page import Page, build_page
from pagesight.model import reasons as reasons_module
from pagesight.model.calibration import Calibration
from pagesight.model.card import DEFAULT, FAVOURS, RECIPES, Card, Policy, packaged, read_card
from pagesight.model.chain import marginals, viterbi
from pagesight.model.kinds import KINDS
from pagesight.model.predict import Model
from pagesight.model.reasons import occluded, reasons_of
from pagesight.render.capture import Renderer
from pagesight.render.errors import ModelError, SnapshotError
from pagesight.render.loop import LoopThread
from pagesight.render.static import parse

SAMPLES = sorted((Path(__file__).parents[1] / "data" / "samples").glob("*.html"))
NETWORKS = (".onnx", ".vision.onnx", ".reasons.onnx")
SUFFIXES = (*NETWORKS, ".json")
ASPECTS = tuple(reasons_module._ASPECTS)
# A dark bar of links, a red title, and a sentence of three leaves.
RENDERED = b"""<!doctype html><body style="margin:0;background:#fff">
<nav style="background:#246;color:#fff;padding:40px"><a href=x>Home</a> <a href=y>News</a></nav>
<h1 style="color:#d00">Title</h1><p>A sentence with a <a href=z>link</a> in it, of some length."""


def page_of(html: str) -> Page:
    return build_page(parse(html.encode(), "utf-8"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def card_of(path: Path, recipe: str, *others: str, **facts: Any) -> Card:
    return Card(
        name=path.stem,
        policies=dict.fromkeys(("own", *others), Policy((("none", "all"),))),
        block_digest=RECIPES[recipe].block_set.digest,
        edge_digest=EDGE.digest,
        pairwise_weight=0.5,
        weights_sha256=digest(path),
        recipe=recipe,
        **facts,
    )


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Networks of random weights, two policies and eyes, with a card, as training leaves them."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    from pagesight.model.export import export_members
    from pagesight.model.networks import Member, NetworkSettings
    from pagesight.model.vision import VisionSettings

    torch.manual_seed(3)
    sizes = NetworkSettings(policies=2, width=16, dilations=(1, 2), pooled_after=(0,), pair_width=8)
    vision = VisionSettings(widths=(4, 8), looks=6)
    members = [Member(len(BLOCK), len(EDGE), sizes, vision) for _ in range(2)]
    for member in members:
        with torch.no_grad():
            member.page.unary.weight.mul_(4)  # of odds to either side
            member.page.pairwise[2].weight.normal_()
            member.page.kind.weight.normal_()
    path = tmp_path_factory.mktemp("model") / "random.onnx"
    eyes, reasons = (path.with_suffix(f".{kind}.onnx") for kind in ("vision", "reasons"))
    export_members(members, path, eyes)
    export_members(members[:1], reasons, None)
    digests = {"vision_sha256": digest(eyes), "reasons_sha256": digest(reasons)}
    card_of(path, "pagesight", "other", **digests).write(path.with_suffix(".json"))
    return path


@pytest.fixture(scope="module")
def network() -> Any:
    """The paper's networks, of random weights."""
    torch = pytest.importorskip("torch")
    from pagesight.model.web2text import Web2TextNetwork, Web2TextSettings

    torch.manual_seed(3)
    return Web2TextNetwork(len(WEB2TEXT_BLOCK), len(EDGE), Web2TextSettings()).eval()


@pytest.fixture(scope="module")
def by_paper(network: Any, tmp_path_factory: pytest.TempPathFactory) -> Model:
    from pagesight.model.export import export_web2text

    path = tmp_path_factory.mktemp("model") / "paper.onnx"
    export_web2text(network, path)
    card_of(path, "web2text").write(path.with_suffix(".json"))
    return Model.load(path)


@pytest.fixture(scope="module")
def model(exported: Path) -> Model:
    return Model.load(exported)


@pytest.fixture(params=["pagesight", "web2text"])
def either(request: pytest.FixtureRequest) -> Model:
    name = "model" if request.param == "pagesight" else "by_paper"
    return request.getfixturevalue(name)


@pytest.fixture
def copied(exported: Path, tmp_path: Path) -> Path:
    """The same in a place where it may be damaged."""
    for suffix in SUFFIXES:
        (tmp_path / f"own{suffix}").write_bytes(exported.with_suffix(suffix).read_bytes())
    return tmp_path / "own.onnx"


def with_card(model: Model, **changes: Any) -> Model:
    """The same networks under another card."""
    changed = copy(model)
    changed.card = replace(model.card, **changes)
    return changed


def with_policy(model: Model, **changes: Any) -> Model:
    """The same networks under a policy of the same name."""
    changed = copy(model)
    changed.policy = replace(model.policy, **changes)
    return changed


# The networks of the paper.


@pytest.mark.parametrize(("features", "classes", "size"), [(128, 2, 17_960), (25, 4, 12_870)])
def test_weights_without_biases(features: int, classes: int, size: int) -> None:
    pytest.importorskip("torch")
    from pagesight.model.web2text import SequenceCnn, Web2TextSettings

    network = SequenceCnn(features, classes, Web2TextSettings())
    weights = [p for name, p in network.named_parameters() if name.endswith("weight")]
    assert sum(weight.numel() for weight in weights) == size
    assert len(weights) == 5


@pytest.mark.parametrize(("pages", "blocks"), [(1, 1), (1, 2), (1, 3), (1, 400), (7, 50), (3, 1)])
def test_onnx_runtime_agrees_with_torch(
    network: Any, by_paper: Model, pages: int, blocks: int
) -> None:
    import torch

    rng = np.random.default_rng(blocks)
    features = rng.normal(0, 2, (pages, blocks, len(WEB2TEXT_BLOCK))).astype(np.float32)
    edges = rng.normal(0, 2, (blocks - 1, len(EDGE))).astype(np.float32)
    unary, pairwise, kinds = by_paper.potentials(features, edges)
    assert kinds.tolist() == [0] * len(KINDS)
    with torch.inference_mode():
        wanted = network.unary(torch.from_numpy(features)).numpy()
        np.testing.assert_allclose(unary, wanted, atol=1e-5, rtol=1e-5)
        assert pairwise.shape == (blocks - 1, 2, 2)
        if blocks > 1:
            wanted = network.pairwise(torch.from_numpy(edges)[None]).numpy()
            np.testing.assert_allclose(pairwise.reshape(-1, 4), wanted[0], atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(np.exp(unary).sum(axis=2), 1, atol=1e-5)
    np.testing.assert_allclose(np.exp(pairwise).sum(axis=(1, 2)), 1, atol=1e-5)


def test_a_network_sees_its_neighbours_and_no_further(network: Any) -> None:
    import torch

    features = torch.zeros(1, 21, len(WEB2TEXT_BLOCK), requires_grad=True)
    network.unary(features)[0, 10, 1].backward()
    assert features.grad is not None
    seen = features.grad[0].abs().sum(dim=1).nonzero().flatten().tolist()
    assert seen == [*range(7, 14)]  # three kernels of 3


# Files and cards.


def test_what_is_packaged() -> None:
    assert DEFAULT in packaged()
    assert {*read_card(DEFAULT).policies} == {"web", "article", "cleaneval"}
    assert read_card(DEFAULT).policy() == "web"
    for name in packaged():
        card = Model.load(name).card
        assert card.name == name
        assert name.startswith("web2text") == (card.recipe == "web2text")
        assert not card.vision_sha256 or card.recipe == "pagesight"
        card.require_features()


@pytest.mark.parametrize("name", packaged())
def test_packaged_models_tell_prose_from_links(name: str) -> None:
    model = Model.load(name)
    page = page_of(
        "<ul>" + "<li><a href=x>Home</a>" * 20 + "</ul>"
        "<p>" + "It was late in the year, and the rain had not stopped for days. " * 9 + "</p>" * 3
    )
    probability = model.label(page).probability
    assert probability[-1] > probability[:-1].max()


def test_a_model_of_one_s_own(exported: Path) -> None:
    page = page_of("<p>one<p>two")
    wanted = Model.load(exported).label(page)
    for path in (str(exported), exported.with_suffix(".json")):
        model = Model.load(path)
        assert (model.card.name, model.card.pairwise_weight) == ("random", 0.5)
        np.testing.assert_array_equal(model.label(page).probability, wanted.probability)


def assert_refused(path: Path, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        Model.load(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_no_such_model(copied: Path) -> None:
    with pytest.raises(ModelError, match=r"^nonsense: no such model: .*nonsense\.json is missing$"):
        Model.load("nonsense")
    for suffix in (".reasons.onnx", ".vision.onnx", ".onnx", ".json"):
        copied.with_suffix(suffix).unlink()
        assert_refused(copied, rf"no such model: .*own\{suffix} is missing$")


@pytest.mark.parametrize("suffix", NETWORKS)
def test_damaged_weights(copied: Path, suffix: str) -> None:
    path = copied.with_suffix(suffix)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for content in (b"", whole[:-1], whole[: len(whole) // 2], bytes(flipped), whole + b"\0"):
        path.write_bytes(content)
        assert_refused(copied, "the weights are damaged, or not those of the card$")
    path.write_bytes(whole)
    assert Model.load(copied).card.name == "random"


def test_one_file_in_place_of_the_other(copied: Path) -> None:
    copied.with_suffix(".vision.onnx").write_bytes(copied.read_bytes())
    assert_refused(copied, "the weights are damaged, or not those of the card$")


def test_a_folder_in_place_of_the_weights(copied: Path) -> None:
    copied.unlink()
    copied.mkdir()
    assert_refused(copied, "damaged model: ")


NO_NETWORKS = [b"", b"no network at all", b"\x08\x07" * 50]


@pytest.mark.parametrize("content", NO_NETWORKS)
def test_weights_that_are_no_network(copied: Path, content: bytes) -> None:
    """The card vouches for them, and still they are not to be used."""
    copied.write_bytes(content)
    rewrite(copied, weights_sha256=digest(copied))
    assert_refused(copied, "the weights cannot be read: ")


@pytest.mark.parametrize("content", NO_NETWORKS[1:])
def test_eyes_that_are_no_network(copied: Path, content: bytes) -> None:
    """They are opened when they are first needed."""
    path = copied.with_suffix(".vision.onnx")
    path.write_bytes(content)
    rewrite(copied, vision_sha256=digest(path))
    model, page = Model.load(copied), with_picture("<p>one", [[0, 0, 40, 40]])
    assert len(model.label(page).content) == 1
    with pytest.raises(ModelError, match="random: the eyes cannot be read: ") as caught:
        model.label(page, vision=True)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", NO_NETWORKS[1:])
def test_reasons_that_are_no_network(copied: Path, content: bytes) -> None:
    path = copied.with_suffix(".reasons.onnx")
    path.write_bytes(content)
    rewrite(copied, reasons_sha256=digest(path))
    model, page = Model.load(copied), page_of("<p>one")
    assert len(model.label(page, reasons=False).content) == 1
    with pytest.raises(ModelError, match="random: the reasons cannot be read: ") as caught:
        model.label(page)
    assert "\n" not in str(caught.value)


def rewrite(path: Path, **changes: Any) -> None:
    card = json.loads(path.with_suffix(".json").read_bytes()) | changes
    kept = {key: value for key, value in card.items() if value != "left out"}
    path.with_suffix(".json").write_text(json.dumps(kept))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "null", "{}", '{"name": "x"}', "\x00", "[" * 100_000]
)
def test_cards_that_are_none(copied: Path, content: str) -> None:
    copied.with_suffix(".json").write_text(content)
    assert_refused(copied, "damaged model card: ")


def test_a_card_that_is_no_text(copied: Path) -> None:
    copied.with_suffix(".json").write_bytes(b"\xff\xfe\xfa")
    assert_refused(copied, "damaged model card: ")
    copied.with_suffix(".json").unlink()
    copied.with_suffix(".json").mkdir()
    assert_refused(copied, "damaged model: ")


@pytest.mark.parametrize(
    "changes",
    [
        {"pairwise_weight": "left out"},
        {"pairwise_weight": "0.1"},
        {"pairwise_weight": None},
        {"pairwise_weight": float("nan")},
        {"pairwise_weight": 10**400},
        {"recipe": "another"},
        {"recipe": []},
        {"slope": 1.0},  # that of a policy stands in the policy
        *(
            {"policies": {"own": {"sources": [], **policy}}}
            for policy in (
                {"slope": 0},
                {"slope": -1.0},
                {"slope": float("inf")},
                {"slope": "1"},
                {"slope": None},
                {"slope": 10**400},
                {"sources": [["cleaneval"]]},
                {"sources": 3},
                {"sources": None},
                {"precision": 0.4},
                {"precision": float("nan")},
                {"precision": "0.8"},
                {"recall": 0.6},
                {"recall": -0.1},
                {"recall": None},
                {"surprise": 1},
            )
        ),
        {"policies": "left out"},
        {"policies": {}},
        {"policies": []},
        {"policies": None},
        {"policies": {"own": None}},
        {"policies": {"own": {"slope": 1.0}}},
        {"policies": {"own": [["none", "all"]]}},
        {"surprise": 1},
    ],
    ids=lambda changes: repr(changes)[:40],
)
def test_damaged_cards(copied: Path, changes: dict[str, Any]) -> None:
    rewrite(copied, **changes)
    assert_refused(copied, "damaged model card: ")
    with pytest.raises(ModelError, match="damaged model card: "):
        read_card(copied)


@pytest.mark.parametrize("name", ["block_digest", "edge_digest"])
def test_models_of_other_features(copied: Path, name: str) -> None:
    rewrite(copied, **{name: "0" * 16})
    with pytest.raises(ModelError, match=r"trained on other features than this version computes$"):
        Model.load(copied)


def test_a_card_of_the_other_recipe_does_not_fit(copied: Path) -> None:
    rewrite(copied, recipe="web2text")
    with pytest.raises(ModelError, match="trained on other features"):
        Model.load(copied)


def test_a_card_is_written_as_it_is_read(copied: Path, exported: Path) -> None:
    sources = (("cleaneval", "web2text"), ("wcxb", "all"))
    policies = {"mine": Policy(sources, 0.7, 0.8, 0.1), "own": Policy()}
    facts: dict[str, Any] = {"figures": {"f1": 0.5}, "settings": {"widths": [1, 2]}}
    card = replace(Model.load(exported).card, policies=policies, **facts)
    card.write(copied.with_suffix(".json"))
    assert Model.load(copied).card == card == read_card(copied)
    assert [*read_card(copied).policies] == ["mine", "own"]
    assert card.policies["mine"].calibration == Calibration(0.7)
    wanted = asdict(card)
    wanted["policies"]["mine"]["sources"] = [list(source) for source in sources]
    wanted["policies"]["own"]["sources"] = []
    assert json.loads(copied.with_suffix(".json").read_text()) == wanted


def test_a_card_of_few_words_changes_nothing(copied: Path) -> None:
    """What a card does not say: no eyes, no explainer, and probabilities left as they are."""
    unsaid = dict.fromkeys(("recipe", "vision_sha256", "reasons_sha256"), "left out")
    policies = {name: {"sources": []} for name in ("own", "other")}
    rewrite(copied, policies=policies, **unsaid)
    card = Model.load(copied).card
    assert (card.recipe, card.vision_sha256, card.reasons_sha256) == ("pagesight", "", "")
    assert card.policies == {"own": Policy(), "other": Policy()}
    assert (card.policies["own"].calibration, card.home) == (Calibration(), ("", ""))


# Labels.


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_labels_of_a_page(either: Model, path: Path) -> None:
    page = page_of(path.read_bytes().decode("utf-8"))
    labels = either.label(page)
    assert labels.content.shape == labels.probability.shape == (len(page),)
    assert (labels.content.dtype, labels.probability.dtype) == (bool, np.float32)
    assert ((labels.probability >= 0) & (labels.probability <= 1)).all()
    assert len({*labels.probability.tolist()}) > 1
    assert len(labels.reasons) == len(page)
    assert all(reason and "\n" not in reason for reason in labels.reasons)
    assert labels.kind in (KINDS if either.recipe.over_runs else ("",))
    again = either.label(page)
    assert again.reasons == labels.reasons
    np.testing.assert_array_equal(again.probability, labels.probability)
    plain = either.label(page, reasons=False)
    assert plain.reasons == ("",) * len(page)
    np.testing.assert_allclose(plain.probability, labels.probability, atol=1e-5)
    np.testing.assert_array_equal(plain.content, labels.content)
    assert plain.kind == labels.kind


@pytest.mark.parametrize("favour", ["", "precision", "recall"])
@pytest.mark.parametrize(
    ("html", "blocks"), [("", 0), ("<p>one", 1), ("<p>one<p>two", 2), ("a<b>b", 2)]
)
def test_small_pages(either: Model, html: str, blocks: int, favour: str) -> None:
    for vision in (False, True) if either.recipe.over_runs else (False,):
        labels = either.label(page_of(html), favour=favour, vision=vision)
        assert labels.content.shape == labels.probability.shape == (blocks,)
        assert labels.content.dtype == bool
        assert len(labels.reasons) == blocks
        assert np.isfinite(labels.probability).all()
        assert bool(labels.kind) == (blocks > 0 and either.recipe.over_runs)


PARTS = st.lists(
    st.sampled_from(
        [
            "<p>A sentence of some length, as people write them. And one more.",
            *("<li><a href=x>Link</a>", "<h1>Title</h1>", "<footer>© 2024", "<td>12", "<div>word"),
            *("<b>bold", "<i>slanted</i>", "plain"),
        ]
    ),
    max_size=15,
)


@given(PARTS)
@settings(max_examples=30, deadline=None)
def test_labels_follow_the_probability(model: Model, parts: list[str]) -> None:
    """Of runs as a whole; the stricter keeps a part of what the laxer keeps."""
    page = page_of("".join(parts))
    found = {favour: model.label(page, False, favour) for favour in FAVOURS}
    for favour, labels in found.items():
        np.testing.assert_array_equal(labels.probability, found[""].probability)
        least = {"precision": 0.75, "": 0.5, "recall": 0.25}[favour]
        assert labels.content.tolist() == (labels.probability > least).tolist()
        for run in {*page.run.tolist()}:
            assert len({*labels.probability[page.run == run].tolist()}) == 1


def test_the_likeliest_labels_are_not_the_likeliest_sequence(model: Model, by_paper: Model) -> None:
    """Sequences 00, 10, 11 of .4, .3, .3: the best is 00, but the first state is 1 in .6."""
    unary = np.log(np.array([[0.4, 0.6], [1, 1]], np.float32))
    pairwise = np.log(np.array([[[1, 1e-9], [0.5, 0.5]]], np.float32))
    labelled = {
        (kind, favour): with_card(each, pairwise_weight=1).decode(unary, pairwise, favour)
        for kind, each in (("ours", model), ("paper", by_paper))
        for favour in FAVOURS
    }
    for _, probability in labelled.values():
        assert probability.tolist() == pytest.approx([0.6, 0.3], abs=1e-5)
    content = {key: labels.tolist() for key, (labels, _) in labelled.items()}
    assert content["ours", ""] == [True, False]
    assert content["paper", ""] == [False, False]
    for kind in ("ours", "paper"):
        assert content[kind, "precision"] == [False, False]
        assert content[kind, "recall"] == [True, True]


def test_pairs_weigh_what_the_card_says(model: Model) -> None:
    unary = np.array([[0, 1], [0, -0.5], [0, 1]], np.float32)
    pairwise = np.array([[[1, -1], [-1, 1]], [[0.5, 0], [0, 2]]], np.float32)
    for weight in (0.0, 0.5, 3.0):
        found = with_card(model, pairwise_weight=weight).decode(unary, pairwise)[1]
        np.testing.assert_allclose(found, marginals(unary, weight * pairwise), atol=1e-6)


def test_ours_labels_runs(model: Model) -> None:
    """Five leaves of two runs: the chain has two states and one edge."""
    page = page_of("<p>A <b>longer</b> sentence, of <i>words</i>.<p>Another one")
    assert page.run.tolist() == [0, 0, 0, 0, 0, 1]
    states = model.states(page)
    assert (states.blocks.shape, states.edges.shape) == ((2, len(BLOCK)), (1, len(EDGE)))
    unary, pairwise, kinds = model.potentials(states.blocks[None], states.edges)
    content, probability = model.decode(unary[0], pairwise)
    labels = model.label(page)
    assert labels.content.tolist() == content[page.run].tolist()
    np.testing.assert_allclose(labels.probability, probability[page.run], atol=1e-6)
    assert labels.reasons[0] == labels.reasons[4]
    assert kinds.shape == (len(KINDS),)
    assert labels.kind == KINDS[kinds.tolist().index(kinds.max())]


def test_the_paper_labels_leaves(by_paper: Model) -> None:
    page = page_of("<p>A <b>longer</b> sentence, of <i>words</i>.<p>Another one")
    states = by_paper.states(page)
    assert (states.blocks.shape, states.edges.shape) == ((6, 128), (5, len(EDGE)))
    unary, pairwise, _ = by_paper.potentials(states.blocks[None], states.edges)
    labels = by_paper.label(page)
    edges = pairwise * by_paper.card.pairwise_weight
    assert labels.content.tolist() == viterbi(unary[0], edges).astype(bool).tolist()
    np.testing.assert_allclose(labels.probability, marginals(unary[0], edges), atol=1e-5)
    assert len({*labels.probability[:5].tolist()}) == 5


@pytest.mark.parametrize("slope", [0.5, 3.0])
def test_probabilities_are_calibrated(either: Model, slope: float) -> None:
    page = page_of(SAMPLES[0].read_bytes().decode("utf-8"))
    plain, labels = (each.label(page) for each in (either, with_policy(either, slope=slope)))
    wanted = Calibration(slope).apply(plain.probability)
    np.testing.assert_allclose(labels.probability, wanted, atol=1e-5)
    sure = plain.probability.astype(np.float64)
    odds = slope * np.log(sure / (1 - sure))
    np.testing.assert_allclose(labels.probability, 1 / (1 + np.exp(-odds)), atol=1e-4)
    assert not np.allclose(labels.probability, plain.probability, atol=1e-3)
    assert labels.content.tolist() == plain.content.tolist()


def test_several_variants_at_once_are_those_one_by_one(either: Model) -> None:
    rng = np.random.default_rng(0)
    width = len(either.recipe.block_set)
    blocks = rng.normal(0, 1, (5, 40, width)).astype(np.float32)
    edges = rng.normal(0, 1, (39, len(EDGE))).astype(np.float32)
    together, pairwise, kinds = either.potentials(blocks, edges)
    assert (together.shape, pairwise.shape) == ((5, 40, 2), (39, 2, 2))
    for i, variant in enumerate(blocks):
        alone, pairs, own = either.potentials(variant[None], edges)
        np.testing.assert_allclose(alone[0], together[i], atol=1e-5, rtol=1e-5)
        if not i:  # of pairs and kinds, those of the first variant
            np.testing.assert_allclose(pairs, pairwise, atol=1e-5, rtol=1e-5)
            np.testing.assert_allclose(own, kinds, atol=1e-5, rtol=1e-5)


def test_a_label_is_of_the_page_alone(model: Model) -> None:
    """What was labelled or looked at before leaves no trace."""
    page = page_of("<p>one<p>two<p>three")
    first = model.label(page).probability
    model.label(page_of("<div>another</div>" * 30))
    model.label(with_picture("<p>one", [[0, 0, 40, 40]]), vision=True)
    np.testing.assert_array_equal(model.label(page).probability, first)


# Reasons.


def test_reasons_follow_the_features(model: Model) -> None:
    page = page_of(
        "<nav><a href=x>Home</a></nav>" + "<p>A long sentence, with words in it.</p>" * 9
    )
    reasons = model.label(page).reasons
    for reason in reasons:
        if reason == "nothing speaks clearly for or against":
            continue
        for part in reason.split("; "):
            side, shares = part.split(": ")
            assert side in {"for", "against"}
            for share in shares.split(", "):
                name, value = share.split(" ")
                assert name in {*ASPECTS, "neighbours"}
                assert value[0] == ("+" if side == "for" else "−")
                assert float(value[1:]) >= 0.2
    assert len({*reasons}) > 1


def alone(path: Path, blocks: np.ndarray, edges: np.ndarray, looks: np.ndarray) -> np.ndarray:
    """The unary potentials of the member that explains, under the first of two policies."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    policy = np.array([[1, 0]], np.float32)
    feed = {"blocks": blocks, "edges": edges[None], "looks": looks, "policy": policy}
    return np.asarray(session.run(["unary"], feed)[0])


@pytest.mark.parametrize("vision", [False, True])
def test_the_first_member_explains_for_all(model: Model, exported: Path, vision: bool) -> None:
    """Its differences, added to what all say together."""
    page = with_picture("<p>one<p>two", [[0, 0, 100, 40], [0, 100, 100, 40]])
    states = model.states(page)
    looks = model.looks(page) if vision else np.zeros((2, 2, 6), np.float32)
    assert looks is not None
    unary = model.potentials(states.blocks[None], states.edges, looks)[0]
    path = exported.with_suffix(".reasons.onnx")
    said = alone(path, occluded(states.blocks, math.nan), states.edges, looks[:1])
    labels = model.label(page, vision=vision)
    assert labels.reasons == reasons_of(unary[0] + said - said[0], labels.probability)
    tripled = with_policy(model, slope=3.0).label(page, vision=vision)
    wanted = reasons_of(3 * (unary[0] + said - said[0]), tripled.probability)
    assert tripled.reasons == wanted != labels.reasons


def test_without_an_explainer_all_explain(copied: Path, model: Model) -> None:
    rewrite(copied, reasons_sha256="")
    page = page_of("<nav><a href=x>Home</a></nav>" + "<p>A long sentence, of words.</p>" * 9)
    states, labels = model.states(page), Model.load(copied).label(page)
    unary = model.potentials(occluded(states.blocks, math.nan), states.edges)[0]
    probability = labels.probability[page.tree.break_before]
    assert list(labels.reasons) == [reasons_of(unary, probability)[run] for run in page.run]


@pytest.mark.parametrize(("features", "unknown"), [(BLOCK, math.nan), (WEB2TEXT_BLOCK, 0.0)])
def test_occluded_variants(features: Any, unknown: float) -> None:
    blocks = np.random.default_rng(0).normal(5, 1, (3, len(features))).astype(np.float32)
    before = blocks.copy()
    variants = occluded(blocks, unknown)
    np.testing.assert_array_equal(blocks, before)
    assert variants.shape == (1 + len(ASPECTS), 3, len(features))
    np.testing.assert_array_equal(variants[0], blocks)
    for variant, starts in zip(variants[1:], reasons_module._ASPECTS.values(), strict=True):
        gone = np.array([name.startswith(starts) for name in features.columns])
        assert np.array_equal(variant[:, gone], np.full((3, gone.sum()), unknown), equal_nan=True)
        np.testing.assert_array_equal(variant[:, ~gone], blocks[:, ~gone])
    gone = (variants[1:] != blocks).any(axis=(0, 1))
    assert [name for name, any_ in zip(features.columns, gone, strict=True) if not any_] == []


def test_every_aspect_is_of_some_column() -> None:
    for starts in reasons_module._ASPECTS.values():
        for start in starts:
            assert any(name.startswith(start) for name in BLOCK.columns), start


def reasons_by(odds: list[float], probability: float) -> str:
    """The reasons of one block, from the log odds of it and of it without each aspect."""
    unary = np.stack([np.zeros(len(odds)), odds], axis=1)[:, None].astype(np.float32)
    (reason,) = reasons_of(unary, np.array([probability], np.float32))
    return reason


def test_reasons_by_hand() -> None:
    """2.0 as it is, 0.5 without its text, 2.9 without its tags, and 3 with its neighbours."""
    rest = [2.0] * (len(ASPECTS) - 2)
    assert ASPECTS[:2] == ("text", "tags")
    at_3 = 1 / (1 + math.exp(-3))
    assert reasons_by([2.0, 0.5, 2.9, *rest], at_3) == (
        "for: text +1.5, neighbours +1.0; against: tags −0.9"
    )
    # The three that say most: not the neighbours' 0.3, nor what is below 0.2.
    others = [1.6, 2.5, *[2.0] * (len(ASPECTS) - 4)]
    at_2_3 = 1 / (1 + math.exp(-2.3))
    assert reasons_by([2.0, 0.5, 2.9, *others], at_2_3) == (
        "for: text +1.5; against: tags −0.9, grandparent −0.5"
    )
    at_2 = 1 / (1 + math.exp(-2))
    nothing = "nothing speaks clearly for or against"
    assert reasons_by([2.0, 1.85, 2.1, *rest], at_2) == nothing
    assert reasons_by([2.0, 2.5, 2.0, *rest], at_2) == "against: text −0.5"


@pytest.mark.parametrize("probability", [0.0, 1.0])
@pytest.mark.parametrize("size", [0.0, 1e4])
def test_reasons_of_what_is_certain(probability: float, size: float) -> None:
    sign = 1 if probability else -1
    reason = reasons_by([sign * size] * (1 + len(ASPECTS)), probability)
    side = "for: neighbours +13.8" if probability else "against: neighbours −13.8"
    assert reason == ("nothing speaks clearly for or against" if size else side)


def test_no_blocks_have_no_reasons() -> None:
    unary = np.zeros((1 + len(ASPECTS), 0, 2), np.float32)
    assert reasons_of(unary, np.zeros(0, np.float32)) == ()
    assert occluded(np.zeros((0, len(BLOCK)), np.float32), math.nan).shape[1] == 0


# Pictures.


def with_picture(html: str, boxes: list[list[float]], content: bytes | None = None) -> Page:
    """A page with a box a block, and a picture of noise, 400 x 400 CSS pixels."""
    page = page_of(html)
    if content is None:
        noise = np.random.default_rng(0).integers(0, 256, (100, 100, 3), np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(noise).save(buffer, "JPEG", quality=95)
        content = buffer.getvalue()
    snapshot = replace(page.snapshot, screenshot=content).with_meta(screenshot_scale=0.25)
    return replace(page, snapshot=snapshot, box=np.array(boxes, np.float32).reshape(-1, 4))


NOWHERE = [math.nan] * 4


@pytest.fixture
def rendered(loop: LoopThread, renderer: Renderer) -> Callable[[bytes], Page]:
    return lambda content: build_page(
        loop.run(renderer.replay(content, "https://site.example/a", "utf-8"))
    )


def test_a_model_without_eyes_does_not_look(by_paper: Model, copied: Path) -> None:
    rewrite(copied, vision_sha256="")
    page = with_picture("<p>one", [[0, 0, 40, 40]])
    for model in (by_paper, Model.load(copied)):
        for each in (page, page_of("<p>one"), page_of("")):
            with pytest.raises(ModelError, match=f"{model.card.name}: .* not learned to look"):
                model.label(each, vision=True)
        assert len(model.label(page).content) == 1


def test_a_picture_counts_where_it_is_looked_at(
    model: Model, rendered: Callable[[bytes], Page]
) -> None:
    page = rendered(RENDERED)
    assert page.snapshot.screenshot
    blind, looking = model.label(page), model.label(page, vision=True)
    assert np.abs(blind.probability - looking.probability).max() > 1e-3
    np.testing.assert_array_equal(model.label(page, vision=True).probability, looking.probability)
    np.testing.assert_allclose(
        model.label(page, reasons=False, vision=True).probability, looking.probability, atol=1e-5
    )
    bare = replace(page, snapshot=replace(page.snapshot, screenshot=b""))
    unseen = model.label(bare, vision=True)
    np.testing.assert_array_equal(unseen.probability, blind.probability)
    assert unseen.reasons == blind.reasons


def test_what_the_picture_shows_counts(model: Model) -> None:
    """The same boxes on noise, and on white."""
    html, boxes = "<p>one<p>two", [[0, 0, 100, 40], [0, 100, 100, 40]]
    buffer = io.BytesIO()
    Image.new("RGB", (100, 100), "white").save(buffer, "JPEG")
    noise, white = (with_picture(html, boxes, content) for content in (None, buffer.getvalue()))
    np.testing.assert_array_equal(model.label(noise).probability, model.label(white).probability)
    both = [model.label(page, vision=True).probability for page in (noise, white)]
    assert not np.allclose(*both, atol=1e-3)


def test_runs_are_looked_at_as_a_whole(model: Model) -> None:
    """The second of two runs is outside of the picture, the third is not laid out."""
    page = with_picture(
        "<p>a<b>b</b><p>c<p>d",
        [[0, 0, 40, 40], [40, 0, 40, 40], [0, 500, 40, 40], NOWHERE],
    )
    looks = model.looks(page)
    assert looks is not None
    assert looks.shape == (2, 3, 6)  # members, runs, looks
    assert (looks[:, 0] != 0).any(axis=1).all()
    assert (looks[:, 1:] == 0).all()
    whole = with_picture("<p>ab<p>c<p>d", [[0, 0, 80, 40], [0, 500, 40, 40], NOWHERE])
    found = model.looks(whole)
    assert found is not None
    np.testing.assert_allclose(looks, found, atol=1e-6)


@pytest.mark.parametrize(
    ("html", "boxes"),
    [("<p>one<p>two", [NOWHERE] * 2), ("<p>one<p>two", [[0, 900, 9, 9]] * 2), ("", [])],
)
def test_pages_of_which_nothing_is_seen(model: Model, html: str, boxes: list[list[float]]) -> None:
    page = with_picture(html, boxes)
    assert model.looks(page) is None
    np.testing.assert_array_equal(
        model.label(page, vision=True).probability, model.label(page).probability
    )


def test_damaged_pictures(model: Model) -> None:
    page = with_picture("<p>one", [[0, 0, 40, 40]], b"\xff\xd8\xff")
    with pytest.raises(SnapshotError, match="damaged"):
        model.label(page, vision=True)
    assert len(model.label(page).content) == 1


def test_looks_move_the_potentials_and_zeros_do_not(model: Model) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 7):
        blocks = rng.normal(0, 1, (3, size, len(BLOCK))).astype(np.float32)
        edges = rng.normal(0, 1, (size - 1, len(EDGE))).astype(np.float32)
        looks = rng.normal(0, 1, (2, size, 6)).astype(np.float32)
        blind, pairs, _ = model.potentials(blocks, edges)
        nothing, same_pairs, _ = model.potentials(blocks, edges, looks * 0)
        np.testing.assert_array_equal(nothing, blind)
        np.testing.assert_array_equal(same_pairs, pairs)
        assert np.abs(model.potentials(blocks, edges, looks)[0] - blind).max() > 1e-3
