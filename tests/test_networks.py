"""The networks of a page: padding, what is not known, how far they see, and their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
from pagesight.model.export import export_members  # noqa: E402
from pagesight.model.kinds import KINDS  # noqa: E402
from pagesight.model.networks import (  # noqa: E402
    DilatedLayer,
    Eyes,
    Mean,
    Member,
    NetworkSettings,
    PageDropout,
    PageNetwork,
    PagePool,
    Standardise,
)
from pagesight.model.vision import VisionSettings  # noqa: E402

COLUMNS, EDGES, LOOKS, MEMBERS, POLICIES = 11, 5, 4, 2, 3
SIZES = NetworkSettings(width=16, dilations=(1, 2, 4), pooled_after=(0, 2), pair_width=8)
VISION = VisionSettings(widths=(4, 6), looks=LOOKS)


def randomised(page: PageNetwork) -> PageNetwork:
    """As if trained: pairs and kinds tell something; no mean, deviation or norm is 0 and 1."""
    with torch.no_grad():
        for part in page.modules():
            if isinstance(part, torch.nn.LayerNorm):
                part.weight.uniform_(0.5, 2)
                part.bias.normal_()
        for weight in (*page.pairwise[2].parameters(), *page.kind.parameters()):
            weight.normal_()
        for part in (page.standardise, page.standardise_edges):
            part.mean.normal_()
            part.deviation.uniform_(0.5, 2)
    return page.eval()


def network(sizes: NetworkSettings = SIZES, seed: int = 0) -> PageNetwork:
    """With random weights, for use."""
    torch.manual_seed(seed)
    return randomised(PageNetwork(COLUMNS, EDGES, LOOKS, sizes))


@pytest.fixture(scope="module")
def members() -> list[Member]:
    torch.manual_seed(3)
    # Small files are soon written.
    sizes = replace(SIZES, policies=POLICIES, dilations=(1, 4), pooled_after=(0,))
    made = [Member(COLUMNS, EDGES, sizes, VISION).eval() for _ in range(MEMBERS)]
    for member in made:
        randomised(member.page)
    return made


def pages(lengths: list[int], seed: int = 0) -> tuple[Any, Any, Any, Any, Any]:
    """Random pages of these lengths and of one policy, padded with what is not to be read."""
    generator = torch.Generator().manual_seed(seed)
    count, longest = len(lengths), max(lengths)

    def normal(*shape: int) -> Any:
        return torch.randn(count, *shape, generator=generator)

    real = torch.arange(longest) < torch.tensor(lengths)[:, None]
    tables = normal(longest, COLUMNS), normal(longest - 1, EDGES), normal(longest, LOOKS)
    return *tables, real, torch.ones(count, 1)


@torch.no_grad()
def run(page: PageNetwork, inputs: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    unary, pairwise, kinds = page(*inputs)
    return unary, pairwise, kinds


def assert_close(found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=1e-5)


def test_more_is_dropped_of_few_pages() -> None:
    few, many = NetworkSettings.for_pages(199), NetworkSettings.for_pages(200)
    assert many == NetworkSettings()
    assert many.dropped_columns < few.dropped_columns < 1
    assert many.dropped_channels < few.dropped_channels < 1
    shares = {name: getattr(many, name) for name in ("dropped_columns", "dropped_channels")}
    assert replace(few, **shares) == many
    assert NetworkSettings.for_pages(199, 3) == replace(few, policies=3)
    assert NetworkSettings.for_pages(200, 3) == replace(many, policies=3)


# Batches.

LENGTHS = st.lists(st.integers(1, 14), min_size=1, max_size=5)


@given(LENGTHS, st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_pages_in_a_batch_are_those_one_by_one(lengths: list[int], seed: int) -> None:
    page, inputs = network(), pages(lengths, seed)
    unary, pairwise, kinds = run(page, inputs)
    assert unary.shape == (len(lengths), max(lengths), 2)
    assert pairwise.shape == (len(lengths), max(lengths) - 1, 2, 2)
    assert kinds.shape == (len(lengths), len(KINDS))
    for i, size in enumerate(lengths):
        ends = (size, size - 1, size, size, 1)
        alone = tuple(t[i : i + 1, :end] for t, end in zip(inputs, ends, strict=True))
        one_unary, one_pairwise, one_kinds = run(page, alone)
        assert_close(unary[i, :size], one_unary[0])
        assert_close(pairwise[i, : size - 1], one_pairwise[0])
        assert_close(kinds[i], one_kinds[0])


def test_the_order_of_pages_does_not_matter() -> None:
    page, inputs = network(), pages([5, 9, 1, 9])
    said = run(page, inputs)
    order = torch.tensor([2, 0, 3, 1])
    moved = run(page, tuple(table[order] for table in inputs))
    for one, other in zip(moved, said, strict=True):
        assert_close(one, other[order])
        assert not np.allclose(other[1], other[3])


def test_training_takes_nothing_from_padding() -> None:
    blocks, edges, looks, real, policy = pages([3, 7])
    tables = [table.requires_grad_() for table in (blocks, edges, looks)]
    unary, pairwise, kinds = network()(*tables, real, policy)
    used = unary[real].square().sum() + pairwise[0, :2].sum() + pairwise[1].sum()
    (used + kinds.square().sum()).backward()
    assert (blocks.grad[~real] == 0).all()
    assert (looks.grad[~real] == 0).all()
    assert (edges.grad[0, 2:] == 0).all()
    for table in (blocks, looks):
        assert (table.grad[real] != 0).any(dim=1).all()


def test_the_chain_starts_as_independent_states_and_knows_no_kinds() -> None:
    torch.manual_seed(0)
    page = PageNetwork(COLUMNS, EDGES, LOOKS, SIZES)
    unary, pairwise, kinds = run(page, pages([6]))
    assert (pairwise == 0).all()
    assert (kinds == 0).all()
    assert (unary != 0).all()


# What is not known.


@given(st.sets(st.integers(0, COLUMNS - 1), min_size=1))
@settings(max_examples=20, deadline=None)
def test_what_is_not_known_counts_as_the_mean(columns: set[int]) -> None:
    page, (blocks, *rest) = network(), pages([6, 4])
    chosen = sorted(columns)
    unknown, usual = blocks.clone(), blocks.clone()
    unknown[:, :, chosen] = torch.nan
    usual[:, :, chosen] = page.standardise.mean[chosen]
    found, wanted = run(page, (unknown, *rest)), run(page, (usual, *rest))
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other)
    assert not np.allclose(found[0], run(page, (blocks, *rest))[0])


def test_a_page_of_which_nothing_is_known() -> None:
    blocks, edges, looks, *rest = pages([4])
    nothing = torch.full_like(blocks, torch.nan), torch.full_like(edges, torch.nan), looks * 0
    assert all(said.isfinite().all() for said in run(network(), (*nothing, *rest)))


def test_standardise_by_hand() -> None:
    """Columns of mean 2 and deviation 1, of mean -10 and deviation 5, and of 7 alone."""
    standardise = Standardise(3)
    standardise.fit(torch.tensor([[1.0, -15, 7], [3, -5, 7], [1, -5, 7], [3, -15, 7]]))
    rows = torch.tensor([[2.0, -10, 7], [3, -5, 7.05], [torch.nan, -15, 6.9], [99, -1e30, 1e9]])
    assert_close(standardise(rows), torch.tensor([[0.0, 0, 0], [1, 1, 1], [0, -1, -2], [5, -5, 5]]))
    infinite = standardise(torch.tensor([[torch.inf, -torch.inf, torch.inf]]))
    assert infinite.tolist() == [[5, -5, 5]]


def test_one_row_or_columns_that_never_vary_stay_small() -> None:
    standardise = Standardise(2)
    standardise.fit(torch.tensor([[4.0, 0.0]]))
    assert standardise(torch.tensor([[4.0, 0.0]])).tolist() == [[0, 0]]
    assert standardise(torch.tensor([[4.0, 0.01]]))[0].tolist() == pytest.approx([0, 0.2])


def test_what_was_fitted_is_saved_with_the_weights() -> None:
    page, other = network(seed=1), network(seed=2)
    other.load_state_dict(page.state_dict())
    assert_close(run(other, pages([7]))[0], run(page, pages([7]))[0])


# Dropout.


def test_dropout_is_the_same_for_all_states_of_a_page() -> None:
    torch.manual_seed(0)
    dropped = PageDropout(0.25).train()(torch.ones(40, 7, 30))
    assert (dropped == dropped[:, :1]).all()
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert float((dropped == 0).float().mean()) == pytest.approx(0.25, abs=0.05)
    assert not (dropped == dropped[:1]).all()  # another page loses others


def test_dropout_is_for_training_only() -> None:
    values = torch.randn(3, 4, 5)
    assert PageDropout(0.9).eval()(values) is values
    assert PageDropout(0.0).train()(values) is values
    page, inputs = network(), pages([6, 3])
    used = run(page, inputs)[0]
    assert_close(run(page, inputs)[0], used)
    page.train()
    assert not np.allclose(run(page, inputs)[0], used)
    assert not np.allclose(run(page, inputs)[0], run(page, inputs)[0])
    none = replace(SIZES, dropped_columns=0.0, dropped_inputs=0.0, dropped_channels=0.0)
    whole = PageNetwork(COLUMNS, EDGES, LOOKS, none).train()
    whole.load_state_dict(page.state_dict())
    assert_close(run(whole, inputs)[0], used)


def test_what_is_dropped_of_a_page_is_dropped_of_all_its_states() -> None:
    """Every state reads the same features: no state is told what another may not know."""
    sizes = replace(SIZES, dropped_inputs=0.0, dropped_channels=0.0)
    page, (blocks, *rest) = network(sizes).train(), pages([6])
    blocks.mul_(0.1).requires_grad_()  # nothing so far out that it is cut
    torch.manual_seed(1)
    page(blocks, *rest)[0].square().sum().backward()
    used = blocks.grad[0] != 0  # [6, COLUMNS]
    assert (used == used[0]).all()
    assert 0 < int(used[0].sum()) < COLUMNS


# How far it sees.


def seen(page: PageNetwork, size: int, state: int) -> list[int]:
    """The states that the potentials of one state depend on."""
    blocks, *rest = pages([size])
    blocks.requires_grad_()
    page(blocks, *rest)[0][0, state].square().sum().backward()
    return blocks.grad[0].abs().sum(dim=1).nonzero().flatten().tolist()


@pytest.mark.parametrize(
    "dilations", [(), (1,), (2,), (1, 2, 4), (1, 1), NetworkSettings().dilations]
)
def test_without_pools_it_sees_as_far_as_its_layers_reach(dilations: tuple[int, ...]) -> None:
    page = network(replace(SIZES, dilations=dilations, pooled_after=()))
    offsets = {0}
    for dilation in dilations:
        offsets = {offset + step for offset in offsets for step in (-dilation, 0, dilation)}
    assert max(offsets) == sum(dilations)
    assert seen(page, 81, 40) == sorted(40 + offset for offset in offsets)
    assert seen(page, 81, 0) == sorted(offset for offset in offsets if offset >= 0)


def test_a_dilated_layer_by_hand() -> None:
    """One channel pair, states 2 apart: each sum of three normalised states is added on."""
    layer = DilatedLayer(2, 2, dropped=0.0).eval()
    with torch.no_grad():
        layer.mix.weight.copy_(torch.tensor([[1.0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0]]))
        layer.mix.bias.zero_()
        layer.out.weight.copy_(torch.eye(2))
        layer.out.bias.zero_()
        # The norm makes +1, -1 of states whose first channel is the larger, else -1, +1.
        states = torch.tensor([[[9.0, 1], [4, 2], [8, 2], [1, 5], [7, 3]]])
        found = layer(states, torch.ones(1, 5, 1))
    changes = (found - states)[0]
    assert changes[:, 0].tolist() == pytest.approx([2, 0, 3, 0, 2], abs=1e-3)
    assert changes[:, 1].tolist() == [0] * 5


def test_a_pool_sees_the_whole_page_and_no_other() -> None:
    page = network(replace(SIZES, dilations=(1,), pooled_after=(0,)))
    assert seen(page, 50, 3) == [*range(50)]
    blocks, *rest = pages([30, 20])
    blocks.requires_grad_()
    page(blocks, *rest)[0][1, 0].square().sum().backward()
    assert (blocks.grad[0] == 0).all()
    assert (blocks.grad[1, 20:] == 0).all()
    assert (blocks.grad[1, :20] != 0).any(dim=1).all()


def test_a_pool_by_hand() -> None:
    """Means 1 and -3, highest 4 and -2, over two states of three."""
    pool = PagePool(2, dropped=0.0).eval()
    with torch.no_grad():
        pool.mix.weight.copy_(torch.tensor([[1.0, 0, 10, 0], [0, -1, 0, -10]]))
        pool.mix.bias.zero_()
        states = torch.tensor([[[4.0, -4], [-2, -2], [0, 0]]])
        found = pool(states, torch.tensor([[[1.0], [1], [0]]]))
    assert found.tolist() == [[[4 + 41, -4 + 23], [-2 + 41, -2 + 23], [0, 0]]]


def test_pairs_see_both_their_states_and_their_edge() -> None:
    page = network(replace(SIZES, dilations=(), pooled_after=()))
    blocks, edges, looks, *rest = pages([8])
    tables = [table.requires_grad_() for table in (blocks, edges, looks)]
    page(*tables, *rest)[1][0, 3].square().sum().backward()
    for table, wanted in ((blocks, [3, 4]), (looks, [3, 4]), (edges, [3])):
        assert table.grad[0].abs().sum(dim=1).nonzero().flatten().tolist() == wanted


# Policies and kinds.


def heads_of(page: PageNetwork, policy: int) -> PageNetwork:
    """The same network with one of its heads."""
    alone = PageNetwork(COLUMNS, EDGES, LOOKS, SIZES)
    weights = {**page.state_dict()}
    for name, size in (("unary", 2), ("pairwise.2", 4)):
        for part in ("weight", "bias"):
            rows = slice(policy * size, (policy + 1) * size)
            weights[f"{name}.{part}"] = weights[f"{name}.{part}"][rows]
    alone.load_state_dict(weights)
    return alone.eval()


def test_each_policy_has_a_head_on_one_trunk() -> None:
    page = network(replace(SIZES, policies=POLICIES))
    *rest, _ = pages([5, 2, 6])
    for policy in range(POLICIES):
        asked = torch.eye(POLICIES)[[policy] * 3]
        single = run(heads_of(page, policy), (*rest, torch.ones(3, 1)))
        for one, other in zip(run(page, (*rest, asked)), single, strict=True):
            assert_close(one, other)


def test_pages_of_several_policies_in_one_batch() -> None:
    page = network(replace(SIZES, policies=POLICIES))
    *rest, _ = pages([4, 6, 5])
    mixed = run(page, (*rest, torch.eye(POLICIES)[[2, 0, 1]]))
    for i, policy in enumerate((2, 0, 1)):
        same = run(page, (*rest, torch.eye(POLICIES)[[policy] * 3]))
        for one, other in zip(mixed, same, strict=True):
            assert_close(one[i], other[i])
        another = run(page, (*rest, torch.eye(POLICIES)[[(policy + 1) % 3] * 3]))
        assert not np.allclose(mixed[0][i], another[0][i])
        assert not np.allclose(mixed[1][i], another[1][i])
        assert_close(mixed[2][i], another[2][i])  # what kind a page is does not depend on it


def test_a_policy_teaches_its_own_head_only() -> None:
    page = network(replace(SIZES, policies=POLICIES))
    *rest, _ = pages([4, 6])
    unary, pairwise, _ = page(*rest, torch.eye(POLICIES)[[1, 1]])
    (unary.square().sum() + pairwise.square().sum()).backward()
    for layer, size in ((page.unary, 2), (page.pairwise[2], 4)):
        taught = layer.weight.grad.reshape(POLICIES, size, -1).abs().sum(dim=2) > 0
        assert taught.tolist() == [[False] * size, [True] * size, [False] * size]
    assert (page.read.weight.grad != 0).any(dim=0).sum() > COLUMNS


def test_kinds_are_told_from_the_whole_page_and_no_other() -> None:
    page = network(replace(SIZES, dilations=(), pooled_after=()))
    blocks, *rest = pages([7, 4])
    blocks.requires_grad_()
    page(blocks, *rest)[2][1].square().sum().backward()
    assert (blocks.grad[0] == 0).all()
    assert (blocks.grad[1, 4:] == 0).all()
    assert (blocks.grad[1, :4] != 0).any(dim=1).all()


# Several members, and their files.


@pytest.fixture(scope="module")
def files(members: list[Member], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("networks")
    paths = folder / "m.onnx", folder / "m.vision.onnx"
    export_members(members, *paths)
    return paths


def session(path: Path) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@torch.no_grad()
def agreed(module: Any, path: Path, inputs: dict[str, Any]) -> list[np.ndarray]:
    """What ONNX Runtime gives, the same as torch."""
    found = session(path).run(None, {name: table.numpy() for name, table in inputs.items()})
    wanted = module.eval()(*inputs.values())
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=2e-5, rtol=2e-5)
        assert np.isfinite(one).all()
    return list(found)


def variants(count: int, size: int, looked: bool) -> dict[str, Any]:
    """One page of `size` states in variants, some columns of the later ones not known."""
    generator = torch.Generator().manual_seed(count * 1000 + size)
    blocks = torch.randn(count, size, COLUMNS, generator=generator)
    blocks[1:, :, 2:4] = torch.nan
    edges = torch.randn(1, size - 1, EDGES, generator=generator)
    looks = torch.randn(MEMBERS, size, LOOKS, generator=generator)
    return {
        "blocks": blocks,
        "edges": edges,
        "looks": looks if looked else looks * 0,
        "policy": torch.eye(POLICIES)[count % POLICIES][None],
    }


@pytest.mark.parametrize("looked", [False, True])
@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize("size", [1, 2, 3, 400])
def test_onnx_runtime_agrees_on_pages(
    members: list[Member], files: tuple[Path, Path], size: int, count: int, looked: bool
) -> None:
    unary, pairwise, kinds = agreed(Mean(members), files[0], variants(count, size, looked))
    assert (unary.shape, pairwise.shape) == ((count, size, 2), (count, size - 1, 2, 2))
    assert kinds.shape == (count, len(KINDS))


def picture(blocks: int, height: int, width: int) -> dict[str, Any]:
    """A picture of noise, with boxes of any place on it; every third block is not seen."""
    generator = torch.Generator().manual_seed(blocks)
    corners = torch.rand(blocks, 2, 2, generator=generator).sort(dim=1)[0]
    return {
        "pixels": torch.randint(0, 256, (1, 3, height, width), generator=generator).byte(),
        "boxes": corners.flatten(1) * torch.tensor([width, height, width, height]),
        "seen": torch.arange(blocks) % 3 != 2,
    }


@pytest.mark.parametrize(("height", "width"), [(300, 320), (1, 1), (5, 320), (97, 1280)])
@pytest.mark.parametrize("blocks", [1, 2, 3, 400])
def test_onnx_runtime_agrees_on_pictures(
    members: list[Member], files: tuple[Path, Path], blocks: int, height: int, width: int
) -> None:
    inputs = picture(blocks, height, width)
    (looks,) = agreed(Eyes(members), files[1], inputs)
    assert looks.shape == (MEMBERS, blocks, LOOKS)
    assert (looks[:, ~inputs["seen"].numpy()] == 0).all()
    assert (looks[:, inputs["seen"].numpy()] != 0).any(axis=2).all()
    assert not np.allclose(looks[0], looks[1])


def test_the_mean_is_of_what_each_member_says_of_what_it_saw(members: list[Member]) -> None:
    inputs = variants(3, 7, looked=True)
    real = torch.ones(1, 7, dtype=torch.bool)
    with torch.no_grad():
        said = Mean(members)(*inputs.values())
    rest = real, inputs["policy"]
    for i in range(3):
        one = [
            run(member.page, (inputs["blocks"][i : i + 1], inputs["edges"], looks[None], *rest))
            for member, looks in zip(members, inputs["looks"], strict=True)
        ]
        for found, each in zip(said, zip(*one, strict=True), strict=True):
            assert_close(found[i], torch.stack(each).mean(dim=0)[0])


def test_looks_of_zeros_are_those_of_nothing_seen(members: list[Member]) -> None:
    shown, inputs = picture(6, 40, 60), variants(1, 6, looked=False)
    nothing = shown | {"seen": torch.zeros(6, dtype=torch.bool)}
    with torch.no_grad():
        blind, eyes = Mean(members)(*inputs.values()), Eyes(members)
        unseen = Mean(members)(*(inputs | {"looks": eyes(*nothing.values())}).values())
        looked = Mean(members)(*(inputs | {"looks": eyes(*shown.values())}).values())
    for one, other, third in zip(blind, unseen, looked, strict=True):
        assert one.equal(other)
        assert not np.allclose(one, third)


def test_files_stand_alone(files: tuple[Path, Path]) -> None:
    onnx = pytest.importorskip("onnx")
    assert {*files[0].parent.iterdir()} == {*files}
    for path in files:
        model = onnx.load(str(path), load_external_data=False)
        tensors = model.graph.initializer
        assert tensors
        assert all(tensor.data_location == onnx.TensorProto.DEFAULT for tensor in tensors)
        assert all(tensor.raw_data or tensor.ByteSize() > 0 for tensor in tensors)


def test_files_name_what_they_take_and_give(files: tuple[Path, Path]) -> None:
    for path, takes, gives in (
        (files[0], ["blocks", "edges", "looks", "policy"], ["unary", "pairwise", "kinds"]),
        (files[1], ["pixels", "boxes", "seen"], ["looks"]),
    ):
        opened = session(path)
        assert [node.name for node in opened.get_inputs()] == takes
        assert [node.name for node in opened.get_outputs()] == gives
    inputs = {node.name: node.shape for node in session(files[0]).get_inputs()}
    assert (inputs["looks"][0], inputs["looks"][2]) == (MEMBERS, LOOKS)
    assert inputs["policy"] == [1, POLICIES]


def test_a_member_is_small() -> None:
    """A page is labelled in milliseconds; the weights travel in the package."""
    member = Member(250, 25, NetworkSettings(), VisionSettings())
    assert sum(weights.numel() for weights in member.page.parameters()) < 120_000
