"""Models: torch and ONNX Runtime agree, damage is told, labels of any page are sound."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features import BLOCK, EDGE, extract
from pagesight.layout.page import Page, build_page
from pagesight.model import predict
from pagesight.model.chain import marginals, viterbi
from pagesight.model.predict import DEFAULT, FAVOUR, POLICIES, RECIPES, Card, Model, packaged
from pagesight.render.errors import ModelError
from pagesight.render.static import parse

SAMPLES = sorted((Path(__file__).parents[1] / "data" / "samples").glob("*.html"))


def page_of(html: str) -> Page:
    return build_page(parse(html.encode(), "utf-8"))


@pytest.fixture(scope="module")
def network() -> Any:
    torch = pytest.importorskip("torch")
    from pagesight.model.networks import NetworkSettings, Web2TextNetwork

    torch.manual_seed(3)
    return Web2TextNetwork(len(BLOCK), len(EDGE), NetworkSettings())


@pytest.fixture(scope="module")
def exported(network: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of random weights with a card that fits, as training leaves them."""
    from pagesight.model.networks import export_onnx

    path = tmp_path_factory.mktemp("model") / "random.onnx"
    export_onnx(network, str(path))
    card = Card(
        name="random",
        dataset="none",
        split="none",
        block_digest=BLOCK.digest,
        edge_digest=EDGE.digest,
        pairwise_weight=0.1,
        weights_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )
    card.write(path.with_suffix(".json"))
    return path


@pytest.fixture
def copied(exported: Path, tmp_path: Path) -> Path:
    """The same in a place where it may be damaged."""
    for suffix in (".onnx", ".json"):
        (tmp_path / f"own{suffix}").write_bytes(exported.with_suffix(suffix).read_bytes())
    return tmp_path / "own.onnx"


@pytest.mark.parametrize(("features", "classes", "size"), [(128, 2, 17_960), (25, 4, 12_870)])
def test_weights_without_biases(features: int, classes: int, size: int) -> None:
    pytest.importorskip("torch")
    from pagesight.model.networks import NetworkSettings, SequenceCnn

    network = SequenceCnn(features, classes, NetworkSettings())
    weights = [p for name, p in network.named_parameters() if name.endswith("weight")]
    assert sum(weight.numel() for weight in weights) == size
    assert len(weights) == 5


@pytest.mark.parametrize(("pages", "blocks"), [(1, 1), (1, 2), (1, 3), (1, 400), (7, 50), (3, 9)])
def test_onnx_runtime_agrees_with_torch(
    network: Any, exported: Path, pages: int, blocks: int
) -> None:
    import torch

    rng = np.random.default_rng(blocks)
    features = rng.normal(0, 2, (pages, blocks, len(BLOCK))).astype(np.float32)
    edges = rng.normal(0, 2, (blocks - 1, len(EDGE))).astype(np.float32)
    unary, pairwise = Model.load(exported).potentials(features, edges)
    with torch.inference_mode():
        network.eval()
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

    features = torch.zeros(1, 21, len(BLOCK), requires_grad=True)
    network.eval().unary(features)[0, 10, 1].backward()
    assert features.grad is not None
    seen = features.grad[0].abs().sum(dim=1).nonzero().flatten().tolist()
    assert seen == [*range(7, 14)]  # three kernels of 3


@pytest.mark.parametrize("name", packaged())
def test_several_variants_at_once_are_those_one_by_one(name: str) -> None:
    model = Model.load(name)
    rng = np.random.default_rng(0)
    width = len(RECIPES[model.card.recipe].block_set)
    blocks = rng.normal(0, 1, (5, 40, width)).astype(np.float32)
    edges = rng.normal(0, 1, (39, len(EDGE))).astype(np.float32)
    together, pairwise = model.potentials(blocks, edges)
    assert together.shape == (5, 40, 2)
    for variant, unary in zip(blocks, together, strict=True):
        alone, same = model.potentials(variant[None], edges)
        np.testing.assert_allclose(alone[0], unary, atol=1e-6, rtol=1e-6)
        np.testing.assert_allclose(same, pairwise, atol=1e-6, rtol=1e-6)


def test_what_is_packaged() -> None:
    assert DEFAULT in packaged()
    assert {*POLICIES.values()} <= {*packaged()}
    for name in packaged():
        card = Model.load(name).card
        assert card.name == name
        assert name.startswith("web2text") == (card.recipe == "web2text")
        blocks = RECIPES[card.recipe].block_set
        assert (card.block_digest, card.edge_digest) == (blocks.digest, EDGE.digest)


def test_a_model_of_one_s_own(exported: Path) -> None:
    page = page_of("<p>one<p>two")
    wanted = Model.load(exported).label(page)
    for path in (str(exported), exported.with_suffix(".json")):
        model = Model.load(path)
        assert (model.card.name, model.card.pairwise_weight) == ("random", 0.1)
        np.testing.assert_array_equal(model.label(page).probability, wanted.probability)


def assert_refused(path: Path, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        Model.load(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_no_such_model(copied: Path) -> None:
    with pytest.raises(ModelError, match=r"^nonsense: no such model: .*nonsense\.json is missing$"):
        Model.load("nonsense")
    copied.unlink()
    assert_refused(copied, r"no such model: .*own\.onnx is missing$")
    copied.with_suffix(".json").unlink()
    assert_refused(copied, r"no such model: .*own\.json is missing$")


def test_damaged_weights(copied: Path) -> None:
    whole = copied.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for content in (b"", whole[:-1], whole[: len(whole) // 2], bytes(flipped), whole + b"\0"):
        copied.write_bytes(content)
        assert_refused(copied, "the weights are damaged, or not those of the card$")
    copied.write_bytes(whole)
    assert Model.load(copied).card.name == "random"


@pytest.mark.parametrize("content", [b"", b"no network at all", b"\x08\x07" * 50])
def test_weights_that_are_no_network(copied: Path, content: bytes) -> None:
    """The card vouches for them, and still they are not to be used."""
    copied.write_bytes(content)
    rewrite(copied, weights_sha256=hashlib.sha256(content).hexdigest())
    assert_refused(copied, "the weights cannot be read: ")


def rewrite(path: Path, **changes: Any) -> None:
    card = json.loads(path.with_suffix(".json").read_bytes()) | changes
    kept = {key: value for key, value in card.items() if value != "left out"}
    path.with_suffix(".json").write_text(json.dumps(kept))


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "null", "{}", '{"name": "x"}', "\x00"])
def test_cards_that_are_none(copied: Path, content: str) -> None:
    copied.with_suffix(".json").write_text(content)
    assert_refused(copied, "damaged model card: ")


def test_a_card_that_is_no_text(copied: Path) -> None:
    copied.with_suffix(".json").write_bytes(b"\xff\xfe\xfa")
    assert_refused(copied, "damaged model card: ")
    copied.with_suffix(".json").unlink()
    copied.with_suffix(".json").mkdir()
    assert_refused(copied, "damaged model card: ")


@pytest.mark.parametrize(
    "changes",
    [
        {"pairwise_weight": "left out"},
        {"pairwise_weight": "0.1"},
        {"pairwise_weight": None},
        {"pairwise_weight": float("nan")},
        {"surprise": 1},
    ],
    ids=repr,
)
def test_damaged_cards(copied: Path, changes: dict[str, Any]) -> None:
    rewrite(copied, **changes)
    assert_refused(copied, "damaged model card: ")


@pytest.mark.parametrize("name", ["block_digest", "edge_digest"])
def test_models_of_other_features(copied: Path, name: str) -> None:
    rewrite(copied, **{name: "0" * 16})
    assert_refused(copied, "trained on other features than this version computes$")


def test_a_card_is_written_as_it_is_read(copied: Path, exported: Path) -> None:
    card = replace(Model.load(exported).card, figures={"f1": 0.5}, settings={"widths": [1, 2]})
    card.write(copied.with_suffix(".json"))
    assert Model.load(copied).card == card
    assert json.loads(copied.with_suffix(".json").read_text()) == asdict(card)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model.load()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_labels_of_a_page(model: Model, path: Path) -> None:
    page = page_of(path.read_bytes().decode("utf-8"))
    labels = model.label(page)
    assert labels.content.shape == labels.probability.shape == (len(page),)
    assert labels.content.dtype == bool
    assert ((labels.probability >= 0) & (labels.probability <= 1)).all()
    assert len(labels.reasons) == len(page)
    assert all(reason and "\n" not in reason for reason in labels.reasons)
    again = Model.load().label(page)
    assert again.reasons == labels.reasons
    np.testing.assert_array_equal(again.probability, labels.probability)
    plain = model.label(page, reasons=False)
    assert plain.reasons == ("",) * len(page)
    np.testing.assert_allclose(plain.probability, labels.probability, atol=1e-5)
    np.testing.assert_array_equal(plain.content, labels.content)


def test_reasons_follow_the_features(model: Model) -> None:
    page = page_of(
        "<nav><a href=x>Home</a></nav>" + "<p>A long sentence, with words in it.</p>" * 9
    )
    reasons = model.label(page).reasons
    names = {*predict._ASPECTS, "neighbours"}
    for reason in reasons:
        if reason == "nothing speaks clearly for or against":
            continue
        for part in reason.split("; "):
            side, shares = part.split(": ")
            assert side in {"for", "against"}
            for share in shares.split(", "):
                name, value = share.split(" ")
                assert name in names
                assert value[0] == ("+" if side == "for" else "−")
                assert float(value[1:]) >= 0.2
    assert len({*reasons}) > 1


@pytest.mark.parametrize("favour", ["", "precision", "recall"])
@pytest.mark.parametrize(
    ("html", "blocks"), [("", 0), ("<p>one", 1), ("<p>one<p>two", 2), ("a<b>b", 2)]
)
def test_small_pages(model: Model, html: str, blocks: int, favour: str) -> None:
    labels = model.label(page_of(html), favour=favour)
    assert labels.content.shape == labels.probability.shape == (blocks,)
    assert labels.content.dtype == bool
    assert len(labels.reasons) == blocks
    assert np.isfinite(labels.probability).all()


PARTS = st.lists(
    st.sampled_from(
        [
            "<p>A sentence of some length, as people write them. And one more.",
            *("<li><a href=x>Link</a>", "<h1>Title</h1>", "<footer>© 2024", "<td>12", "<div>word"),
        ]
    ),
    max_size=15,
)


@given(PARTS)
@settings(max_examples=30, deadline=None)
def test_precision_keeps_a_part_of_what_recall_keeps(model: Model, parts: list[str]) -> None:
    page = page_of("".join(parts))
    strict, lenient = (model.label(page, False, favour) for favour in ("precision", "recall"))
    np.testing.assert_array_equal(strict.probability, lenient.probability)
    assert not (strict.content & ~lenient.content).any()
    assert strict.content.tolist() == (strict.probability > FAVOUR["precision"]).tolist()
    assert lenient.content.tolist() == (lenient.probability > FAVOUR["recall"]).tolist()


def test_the_parts_of_a_run_share_their_label(model: Model) -> None:
    """Runs of 1 + 3 characters and of 2: the chain sees two states, and one edge of three."""
    page = page_of("<p>a<b>bcd</b><p>ef<i>ghi</i>")
    assert page.run.tolist() == [0, 0, 1, 1]
    unary = np.log(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]], np.float32))
    pairwise = np.random.default_rng(1).normal(0, 3, (3, 2, 2)).astype(np.float32)
    states = np.stack([(unary[0] + 3 * unary[1]) / 4, (2 * unary[2] + 3 * unary[3]) / 5])
    edges = pairwise[1:2] * model.card.pairwise_weight
    content, probability = model.decode(page, unary, pairwise)
    assert content.tolist() == np.repeat(viterbi(states, edges), 2).astype(bool).tolist()
    np.testing.assert_allclose(probability, np.repeat(marginals(states, edges), 2), atol=1e-6)


def test_a_label_is_of_the_page_alone(model: Model) -> None:
    """What was labelled before leaves no trace."""
    page = page_of("<p>one<p>two<p>three")
    first = model.label(page).probability
    model.label(page_of("<div>another</div>" * 30))
    np.testing.assert_array_equal(model.label(page).probability, first)
    assert len(extract(page).edges) == 2
