"""Block and edge features, by name and version."""

from __future__ import annotations

import numpy as np

from ..page import Page
from .context import CONTEXT, context_features
from .declared import DECLARED, declared_features
from .geometry import GEOMETRY, geometry_features
from .groups import GROUPS, group_features
from .names import NAMES, name_features
from .phrases import PHRASES, phrase_features
from .schema import Features, FeatureSet
from .sections import SECTIONS, section_features
from .survey import survey_page
from .web2text import BLOCK as WEB2TEXT_BLOCK
from .web2text import EDGE, block_and_edge_features

BLOCK = FeatureSet(
    "web2text+names+phrases+context+groups+sections+declared+geometry",
    1,
    (
        *WEB2TEXT_BLOCK.columns,
        *(f"names.{name}" for name in NAMES.columns),
        *(f"phrases.{name}" for name in PHRASES.columns),
        *(f"context.{name}" for name in CONTEXT.columns),
        *(f"groups.{name}" for name in GROUPS.columns),
        *(f"sections.{name}" for name in SECTIONS.columns),
        *(f"declared.{name}" for name in DECLARED.columns),
        *(f"geometry.{name}" for name in GEOMETRY.columns),
    ),
)

__all__ = [
    "BLOCK",
    "CONTEXT",
    "DECLARED",
    "EDGE",
    "GEOMETRY",
    "GROUPS",
    "NAMES",
    "PHRASES",
    "SECTIONS",
    "WEB2TEXT_BLOCK",
    "FeatureSet",
    "Features",
    "extract",
]


def extract(page: Page, block_set: FeatureSet = BLOCK) -> Features:
    """The features of a page, BLOCK's or WEB2TEXT_BLOCK's.

    The geometry columns are zeros where the page was not rendered.
    """
    seen = survey_page(page)
    blocks, edges = block_and_edge_features(seen)
    if block_set is WEB2TEXT_BLOCK:
        return Features(blocks, edges)
    phrases = phrase_features(page)
    parts = (
        blocks,
        name_features(seen),
        phrases,
        context_features(seen),
        group_features(seen),
        section_features(seen, phrases),
        declared_features(seen),
        geometry_features(page),
    )
    return Features(np.concatenate(parts, axis=1), edges)
