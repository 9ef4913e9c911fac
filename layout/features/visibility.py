"""Whether a person sees a block, and in which layer it is painted, the elements above included."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..cdom import named
from ..geometry import area, intersection, share_inside
from .scene import Bool, Columns, Float64, Int32, Scene, nearest

VISIBILITY = (
    "hidden",  # 1 where visibility, opacity, a clip or a clip-path leaves nothing to see
    "transparent",  # 1 less the product of the opacities here and above, 0 to 1
    "clipped",  # share of the block's area outside the boxes that clip it, 0 to 1
    "clip_path",  # 1 where a clip-path is set, here or above
    "covered",  # 1 where a positioned box with a background is painted over the block's middle
    "off_page",  # 1 where it lies wholly left of, right of or above the page
    "fixed",  # 1 where it is fixed to the screen, here or above
    "sticky",  # 1 where it is sticky, here or above
    "absolute",  # 1 where it is absolutely positioned, here or above
    "floated",  # 1 where it floats, here or above
    "raised",  # 1 where it is in a layer with z-index above 0
    "paint_rank",  # place in the order of painting, 0 the first to 1 the last
    "in_scroller",  # 1 where it stands in a box with scrollbars
    "scrolled_away",  # share of the block's area outside the nearest such box, 0 to 1
)

_FAINT = 0.05  # opacity, or share in sight, that is taken for nothing
_EVERYWHERE = np.array([-1e9, -1e9, 2e9, 2e9])
_COVERS = 64  # boxes, the largest ones; a page that positions more has a game board, not a layer
_VIEWPORT_TAGS = frozenset({"html", "body"})  # their overflow is the viewport's


def visibility_columns(scene: Scene) -> Columns:
    """The columns of VISIBILITY, [v] each."""
    styles = scene.styles
    x, y, width, height = scene.box.T
    fixed, sticky, absolute = (
        styles.equals("position", value) for value in ("fixed", "sticky", "absolute")
    )
    opacity = node_opacity(scene)
    visible, scroller = _sight(scene, absolute, fixed)
    unseen = styles.equals("visibility", "hidden", "collapse")[scene.style]
    cut_away = scene.below(styles.test("clip-path", _cuts_all))
    faint = opacity[scene.leaf] < _FAINT
    paint = scene.page.snapshot.row_paint[scene.row[scene.leaf]]
    _, rank = np.unique(paint, return_inverse=True)
    return {
        "hidden": unseen | cut_away | faint | (visible < _FAINT),
        "transparent": 1 - opacity[scene.leaf],
        "clipped": 1 - visible,
        "clip_path": scene.below(~styles.equals("clip-path", "none", "")),
        "covered": _covered(scene, opacity, paint, absolute | fixed | sticky),
        "off_page": (x + width <= 0) | (y + height <= 0) | (x >= scene.page_width),
        "fixed": scene.below(fixed),
        "sticky": scene.below(sticky),
        "absolute": scene.below(absolute),
        "floated": scene.below(styles.equals("float", "left", "right")),
        "raised": scene.below(styles.number("z-index") > 0),
        "paint_rank": rank.ravel() / max(rank.max(initial=0), 1),
        "in_scroller": ~np.isnan(scroller[:, 0]),
        "scrolled_away": 1 - share_inside(scene.box, _or_everywhere(scroller)),
    }


def node_opacity(scene: Scene) -> Float64:
    """The product of the opacities of each node and all above it, [n]."""
    own = np.clip(scene.styles.number("opacity", 1.0), 1e-4, 1)
    size = len(scene.node_style)
    change = np.zeros(size + 1)
    starts = np.flatnonzero((own < 1)[scene.node_style])
    value = np.log(own[scene.node_style[starts]])
    np.add.at(change, starts, value)
    np.add.at(change, scene.page.tree.end[starts], -value)
    return np.exp(np.minimum(np.cumsum(change[:-1]), 0))


def _sight(scene: Scene, absolute: Bool, fixed: Bool) -> tuple[Float64, Float64]:
    """The share of each block in sight, [v], and the box of its nearest scroller, [v, 4] or NaN."""
    styles, node_style = scene.styles, scene.node_style
    across = styles.equals("overflow-x", "hidden", "clip")
    down = styles.equals("overflow-y", "hidden", "clip")
    scrolls = styles.equals("overflow-x", "auto", "scroll")
    scrolls |= styles.equals("overflow-y", "auto", "scroll")
    usable = ~named(scene.page.snapshot, _VIEWPORT_TAGS) & ~np.isnan(scene.node_box[:-1, 0])
    above = _containing(scene, absolute, fixed)
    scroller = nearest(above, scrolls[node_style] & usable)[scene.leaf]
    clips = np.flatnonzero((across | down)[node_style] & usable)
    box = scene.node_box[clips].copy()
    for axis, clipped in enumerate((across, down)):
        open_ends = ~clipped[node_style[clips]]
        box[open_ends, axis::2] = _EVERYWHERE[axis::2]
    return share_inside(scene.box, _folded(scene, above, clips, box)), scene.node_box[scroller]


def _containing(scene: Scene, absolute: Bool, fixed: Bool) -> Int32:
    """The node whose clips hold for each node, [n], -1 for none.

    A box that is positioned absolutely leaves those above it up to the next positioned one (CSS
    2.2, section 10.1), a fixed one leaves all.
    """
    above, style = scene.page.snapshot.parent, scene.node_style
    if not (absolute | fixed).any():
        return above
    placed = nearest(above, ~scene.styles.equals("position", "static", "")[style])
    outside = np.append(placed, -1)[above]
    return np.where(fixed[style], -1, np.where(absolute[style], outside, above)).astype(np.int32)


def _folded(scene: Scene, above: Int32, clips: npt.NDArray[np.intp], box: Float64) -> Float64:
    """What all the clipping boxes above a block share, [v, 4]; everywhere where there is none."""
    size = len(above)
    number = np.full(size + 1, len(clips))  # the last entries stand for "no clip"
    number[clips] = np.arange(len(clips))
    flag = np.zeros(size, bool)
    flag[clips] = True
    clip_of = number[nearest(above, flag)]  # [n]
    clip_of = np.append(clip_of, len(clips))
    box = np.append(box, _EVERYWHERE[None], axis=0)
    step = np.append(clip_of[above[clips]], len(clips))
    # Pointer doubling: after k rounds each box is cut by 2^k of those above it.
    while (step < len(clips)).any():
        box, step = intersection(box, box[step]), step[step]
    return np.asarray(box[clip_of[scene.leaf]], np.float64)


def _covered(scene: Scene, opacity: Float64, paint: npt.NDArray[np.int32], placed: Bool) -> Bool:
    """Whether a large positioned box with a background is painted later over a block's middle."""
    styles, rows = scene.styles, scene.page.snapshot.row_paint
    solid = (styles.colour("background-color")[:, 3] >= 0.5) & placed
    solid &= ~styles.equals("visibility", "hidden", "collapse")
    node = np.flatnonzero(solid[scene.node_style] & (opacity >= 0.5) & (scene.row >= 0))
    size = np.nan_to_num(area(scene.node_box[node]))
    node = node[np.argsort(-size, kind="stable")[:_COVERS]]
    x, y, width, height = scene.node_box[node].T  # [c] each
    middle_x = (scene.box[:, 0] + scene.box[:, 2] / 2)[:, None]  # [v, 1]
    middle_y = (scene.box[:, 1] + scene.box[:, 3] / 2)[:, None]
    over = (x <= middle_x) & (middle_x < x + width) & (y <= middle_y) & (middle_y < y + height)
    over &= rows[scene.row[node]] > paint[:, None]  # [v, c]
    return np.asarray(over.any(axis=1), np.bool_)


def _cuts_all(value: str) -> bool:
    """Whether a clip-path leaves nothing: the ways in which texts are kept for screen readers."""
    return value.startswith(("inset(50%", "inset(100%", "circle(0"))


def _or_everywhere(box: Float64) -> Float64:
    return np.where(np.isnan(box), _EVERYWHERE, box)
