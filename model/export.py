"""Networks as files for ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .networks import Eyes, Mean, Member
from .web2text import Web2TextNetwork

_ANY = torch.export.Dim.DYNAMIC


def export_members(members: list[Member], path: Path, vision_path: Path | None) -> None:
    """Write the mean of the members' networks, and with a path what they see of a picture."""
    page, looks = members[0].page, members[0].eyes.settings.looks
    inputs = {
        "blocks": torch.zeros(2, 12, len(page.standardise.mean)),
        "edges": torch.zeros(1, 11, len(page.standardise_edges.mean)),
        "looks": torch.zeros(len(members), 12, looks),
        "policy": torch.ones(1, page.policies),
    }
    dynamic = {"blocks": {0: _ANY, 1: _ANY}, "edges": {1: _ANY}, "looks": {1: _ANY}, "policy": {}}
    _export(Mean(members), inputs, ["unary", "pairwise", "kinds"], dynamic, path)
    if vision_path is None:
        return
    inputs = {
        "pixels": torch.zeros(1, 3, 100, 90, dtype=torch.uint8),
        "boxes": torch.tensor([[0.0, 0.0, 10.0, 10.0]]).repeat(12, 1),
        "seen": torch.ones(12, dtype=torch.bool),
    }
    dynamic = {"pixels": {2: _ANY, 3: _ANY}, "boxes": {0: _ANY}, "seen": {0: _ANY}}
    _export(Eyes(members), inputs, ["looks"], dynamic, vision_path)


def export_web2text(network: Web2TextNetwork, path: Path) -> None:
    """Write the two networks of the paper."""
    features = [next(part.parameters()).shape[1] for part in (network.unary, network.pairwise)]
    inputs = {
        "blocks": torch.zeros(2, 12, features[0]),
        "edges": torch.zeros(2, 11, features[1]),
    }
    both = {0: _ANY, 1: _ANY}
    dynamic = {"blocks": both, "edges": both}
    _export(network, inputs, ["unary", "pairwise"], dynamic, path)


def _export(
    network: nn.Module,
    inputs: dict[str, Tensor],
    outputs: list[str],
    dynamic: dict[str, Any],
    path: Path,
) -> None:
    """Write a network whose inputs have these names, and any size where `dynamic` says so."""
    program = torch.onnx.export(
        network.eval(),
        tuple(inputs.values()),
        input_names=list(inputs),
        output_names=outputs,
        dynamic_shapes=dynamic,
        dynamo=True,
        verbose=False,
    )
    assert program is not None
    for node in program.model.graph.all_nodes():
        # Where in whose folders each operation was written is nobody's business.
        node.metadata_props.clear()
        for value in node.outputs:
            value.metadata_props.clear()
    program.save(str(path), include_initializers=True, external_data=False)
