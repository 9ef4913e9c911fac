"""The weights of a model's members, beside its networks, for trainings that go on from them."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..render.errors import ModelError
from ..render.files import write_whole
from .card import read_card, read_file
from .networks import Member, NetworkSettings
from .vision import VisionSettings

SUFFIX = ".npz"


def write_members(members: list[Member], path: Path) -> None:
    """Write the weights of a model's members beside its `.onnx`: arrays, no code."""
    arrays = {
        f"{number}.{key}": value.numpy()
        for number, member in enumerate(members)
        for key, value in member.state_dict().items()
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_whole(path.with_suffix(SUFFIX), buffer.getvalue())


def read_members(name: str) -> list[Member]:
    """The members of a packaged model, or of one's own by the path of its `.onnx`.

    Their only policy is the first of the model. Raises ModelError where it computes other features,
    or was not trained here.
    """
    card = read_card(name)
    card.require_features()
    content = read_file(name, SUFFIX)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {key: torch.from_numpy(file[key]) for key in file.files}
        sizes = _settings(NetworkSettings, card.settings | {"policies": 1})
        vision = _settings(VisionSettings, card.settings["vision"])
        return [
            _member(_part(arrays, f"{number}."), sizes, vision)
            for number in range(int(card.settings["members"]))
        ]
    except Exception as error:  # zipfile, zlib, numpy and torch raise a dozen kinds
        raise ModelError(f"{name}: the members' weights cannot be read: {error}") from error


def _member(
    weights: dict[str, torch.Tensor], sizes: NetworkSettings, vision: VisionSettings
) -> Member:
    columns, edge_columns = (
        len(weights[f"page.{part}.mean"]) for part in ("standardise", "standardise_edges")
    )
    member = Member(columns, edge_columns, sizes, vision)
    # Heads of the first policy stand first.
    own = {key: weights[key][: len(value)] for key, value in _heads(member).items()}
    member.load_state_dict(weights | own)
    return member


def _heads(member: Member) -> dict[str, torch.Tensor]:
    names = ("page.unary.", "page.pairwise.2.")
    return {key: value for key, value in member.state_dict().items() if key.startswith(names)}


def _part(arrays: dict[str, torch.Tensor], start: str) -> dict[str, torch.Tensor]:
    return {key[len(start) :]: value for key, value in arrays.items() if key.startswith(start)}


def _settings(kind: type[Any], facts: dict[str, Any]) -> Any:
    names = [field.name for field in fields(kind)]
    values = {name: facts[name] for name in names if name in facts}
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
