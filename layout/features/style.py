"""Type and colours of a block, against the main text of its page and against its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .css import contrast_ratio, luminance
from .scales import heaviest, weighted_median
from .scene import Bool, Columns, Float64, Int, Scene, nearest

STYLE = (
    "font_size",  # log ratio to the main text's, which is the median of the characters
    "font_size_before",  # log ratio to the block before
    "font_size_after",  # log ratio to the block after
    "largest",  # 1 where it has the largest font that is seen, and larger than the main text's
    "font_weight",  # less the main text's, 300 is 1
    "font_weight_before",  # less the block's before, 300 is 1
    "italic",  # 1 or 0
    "main_family",  # 1 where the font family is the main text's
    "same_font_before",  # 1 where family, size, weight and slant are those of the block before
    "line_height",  # of the font's size, less 1.2; 0 where it is the font's own
    "main_style",  # 1 where it has the size, weight and colour that most characters have
    "contrast",  # log of the WCAG ratio of text and background; 21 is 1, the same colour 0
    "colour_distance",  # from the main text's colour; black to white is 1
    "coloured",  # the largest less the smallest of red, green and blue, 0 to 1
    "dark_ground",  # 1 less the luminance of the background
    "other_ground",  # 1 where the background differs from the main text's
    "underlined",  # 1 or 0
    "centred",  # 1 or 0
    "pointer",  # 1 where the cursor says that it can be clicked
    "preformatted",  # 1 where white space is preserved
)

_FONT = ("font-family", "font-size", "font-weight", "font-style")
_SAME_SIZE = 0.5  # pixels
_SAME_COLOUR = 0.01
_LAYERS = 8  # half-transparent backgrounds above each other that are looked through


@dataclass(frozen=True, slots=True, eq=False)
class _Colours:
    text: Float64  # [v, 3] as it looks on the ground
    ground: Float64  # [v, 3]
    main: Bool  # [v] has the main text's size, weight and colour
    main_text: Float64  # [3]
    main_ground: Float64  # [3]


def style_columns(scene: Scene, weight: Float64) -> Columns:
    """The columns of STYLE, [v] each; the main text is where the `weight`, [v], is."""
    return _type(scene, weight) | _colour(_colours(scene, weight)) | _flags(scene)


def font_sizes(scene: Scene) -> Float64:
    """[v] in pixels."""
    return scene.styles.number("font-size")[scene.style]


def _type(scene: Scene, weight: Float64) -> Columns:
    styles, row = scene.styles, scene.style
    size, heavy = font_sizes(scene), styles.number("font-weight", 400)[row]
    main_size = weighted_median(size, weight)
    relative = np.log(np.maximum(size, 1) / max(main_size, 1))
    family, font = styles.kinds("font-family")[row], styles.kinds(*_FONT)[row]
    high = styles.number("line-height")[row]
    lead = np.where(high > 0, high / np.maximum(size, 1) - 1.2, 0)
    step = np.diff(relative)
    return {
        "font_size": np.clip(relative, -1.5, 1.5),
        "font_size_before": np.clip(np.append(0, step), -1.5, 1.5),
        "font_size_after": np.clip(np.append(-step, 0), -1.5, 1.5),
        "largest": size > max(size[weight > 0].max(), main_size + 2 * _SAME_SIZE) - _SAME_SIZE,
        "font_weight": np.clip((heavy - weighted_median(heavy, weight)) / 300, -1, 1),
        "font_weight_before": np.clip(np.append(0, np.diff(heavy)) / 300, -1, 1),
        "main_family": family == heaviest(family, weight),
        "same_font_before": np.append(False, font[1:] == font[:-1]),
        "line_height": np.clip(lead, -1, 1),
    }


def _colour(colours: _Colours) -> Columns:
    text, ground = colours.text, colours.ground
    return {
        "main_style": colours.main,
        "contrast": np.log(contrast_ratio(text, ground)) / np.log(21),
        "colour_distance": _distance(text, colours.main_text),
        "coloured": text.max(axis=1) - text.min(axis=1),
        "dark_ground": 1 - luminance(ground),
        "other_ground": _distance(ground, colours.main_ground) > _SAME_COLOUR,
    }


def _flags(scene: Scene) -> Columns:
    styles, row = scene.styles, scene.style
    return {
        "italic": styles.test("font-style", lambda value: value.startswith(("ital", "obl")))[row],
        "underlined": styles.test("text-decoration-line", lambda value: "underline" in value)[row],
        "centred": styles.equals("text-align", "center", "-webkit-center")[row],
        "pointer": styles.equals("cursor", "pointer")[row],
        "preformatted": styles.test("white-space-collapse", lambda value: "preserve" in value)[row],
    }


def _colours(scene: Scene, weight: Float64) -> _Colours:
    ground = grounds(scene)
    colour = scene.styles.colour("color")[scene.style]
    text = colour[:, :3] * colour[:, 3:] + ground * (1 - colour[:, 3:])
    look = scene.styles.kinds("font-size", "font-weight", "color")[scene.style]
    main = look == heaviest(look, weight)
    return _Colours(
        text=text,
        ground=ground,
        main=main,
        main_text=_mode(text, weight * main),
        main_ground=_mode(ground, weight * main),
    )


def grounds(scene: Scene) -> Float64:
    """The background that each block stands on, [v, 3]; the page itself is white.

    The nearest background above counts, and where it lets light through, what is below it.
    """
    colour = scene.styles.colour("background-color")
    parent = scene.page.snapshot.parent
    painted = nearest(parent, (colour[:, 3] > 0)[scene.node_style])
    lower = np.append(painted, -1)[np.append(parent, -1)]  # [n + 1]
    node, seen = painted[scene.leaf], np.ones((len(scene), 1))
    ground = np.zeros((len(scene), 3))
    for _ in range(_LAYERS):
        if not (node >= 0).any():
            break
        rgba = colour[np.append(scene.node_style, -1)[node]]  # [v, 4]
        ground += seen * rgba[:, 3:] * rgba[:, :3]
        seen = seen * (1 - rgba[:, 3:])
        node = np.where(seen[:, 0] > _SAME_COLOUR, lower[node], -1)
    return np.clip(ground + seen, 0, 1)


def _mode(colour: Float64, weight: Float64) -> Float64:
    """The [3] colour, in 256 steps, with most weight."""
    steps = np.round(colour * 255).astype(np.intp)
    kind: Int = steps @ np.array([65536, 256, 1])
    _, first, which = np.unique(kind, return_index=True, return_inverse=True)
    return np.asarray(colour[first[heaviest(which.ravel(), weight)]], np.float64)


def _distance(colour: Float64, other: Float64) -> Float64:
    return np.sqrt(((colour - other) ** 2).mean(axis=1))
