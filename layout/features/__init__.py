"""Block and edge features, by name and version."""

from __future__ import annotations

import numpy as np

from ..page import Page
from .context import CONTEXT, context_features
from .geometry import GEOMETRY, geometry_features
from .names import NAMES, name_features
from .phrases import PHRASES, phrase_features
from .schema import Features, FeatureSet
from .web2text import BLOCK as WEB2TEXT_BLOCK
from .web2text import EDGE, block_and_edge_features, count_blocks

BLOCK = FeatureSet(
    "web2text+names+phrases+context+geometry",
    1,
    (
        *WEB2TEXT_BLOCK.columns,
        *(f"names.{name}" for name in NAMES.columns),
        *(f"phrases.{name}" for name in PHRASES.columns),
        *(f"context.{name}" for name in CONTEXT.columns),
        *(f"geometry.{name}" for name in GEOMETRY.columns),
    ),
)

__all__ = [
    "BLOCK",
    "CONTEXT",
    "EDGE",
    "GEOMETRY",
    "NAMES",
    "PHRASES",
    "WEB2TEXT_BLOCK",
    "FeatureSet",
    "Features",
    "extract",
]


def extract(page: Page, block_set: FeatureSet = BLOCK) -> Features:
    """The features of a page, BLOCK's or WEB2TEXT_BLOCK's.

    The geometry columns are zeros where the page was not rendered.
    """
    counts = count_blocks(page)
    blocks, edges = block_and_edge_features(page, counts)
    if block_set is WEB2TEXT_BLOCK:
        return Features(blocks, edges)
    parts = (
        blocks,
        name_features(page),
        phrase_features(page),
        context_features(page, counts),
        geometry_features(page),
    )
    return Features(np.concatenate(parts, axis=1), edges)
