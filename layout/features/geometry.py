"""What the rendered page shows of each block: place, size, type, colours, visibility.

Lengths are CSS pixels before they are scaled; every column is about -1 to +1. The modules that
compute the columns say what each one is. All columns are zero for a page without layout, and for a
block without a box all but the first: the first column tells the three cases apart.
"""

from __future__ import annotations

import numpy as np

from ..page import Page
from .main_column import MAIN_COLUMN, main_column_columns
from .neighbours import NEIGHBOURS, neighbour_columns
from .place import PLACE, place_columns
from .scales import weighted_median
from .scene import Columns, Scene, build_scene
from .schema import FeatureSet, Float32
from .style import STYLE, style_columns
from .visibility import VISIBILITY, visibility_columns

GEOMETRY = FeatureSet(
    "geometry",
    2,
    (
        "laid_out",  # +1 has a box, -1 has none, 0 nothing is known
        *PLACE,
        *MAIN_COLUMN,
        *NEIGHBOURS,
        *STYLE,
        *VISIBILITY,
    ),
)


def geometry_features(page: Page) -> Float32:
    """[b, len(GEOMETRY)]; zeros where the Snapshot has no layout."""
    out = np.zeros((len(page), len(GEOMETRY)), np.float32)
    if not page.snapshot.rendered:
        return out
    out[:, 0] = -1
    scene = build_scene(page)
    if len(scene):
        columns = _columns(scene)
        out[scene.block, 0] = 1
        out[scene.block, 1:] = np.column_stack([columns[name] for name in GEOMETRY.columns[1:]])
    return out


def _columns(scene: Scene) -> Columns:
    """All columns but the first, [v] each."""
    visibility = visibility_columns(scene)
    # What nobody sees, such as closed menus, does not tell how the main text looks.
    seen = ~np.asarray(visibility["hidden"], bool) & ~np.asarray(visibility["off_page"], bool)
    weight = scene.characters * (seen if seen.any() else True)
    line = max(weighted_median(scene.box[:, 3] / np.maximum(scene.lines, 1), weight), 1.0)
    return (
        place_columns(scene, weight, line)
        | main_column_columns(scene, weight)
        | neighbour_columns(scene, line)
        | style_columns(scene, weight)
        | visibility
    )
