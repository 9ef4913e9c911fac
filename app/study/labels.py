"""Names beside the points of a chart, placed so that they do not cover each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

# The chart's font: 11 pixels, upper bound of its mean width; a line of it with some air.
_CHARACTER, _LINE = 6.4, 13.0
_GAP = 8.0
# How far a name may go up or down from its point, in half lines, nearest first.
_LIFTS = (0, -1, 1, -2, 2, -3, 3, -4, 4)


@dataclass(frozen=True, slots=True)
class Point:
    """A place on the chart in pixels, y downwards."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on the chart in pixels, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, first: Point, second: Point, margin: float = 3.0) -> Box:
        """The box of two points, the first up and left of the second, with a margin."""
        return cls(first.x - margin, first.y - margin, second.x + margin, second.y + margin)

    def meets(self, other: Box) -> bool:
        """Whether the two have an area in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True, slots=True)
class Label:
    """Where a name is anchored, by the middle of its `align` side."""

    x: float
    y: float
    align: Literal["left", "right"]


def place_labels(
    points: Sequence[tuple[str, Point]], marks: Sequence[Box], width: float, height: float
) -> list[Label]:
    """A label for each named point: clear of marks and other labels, else of labels, else beside.

    Greedy: earlier points choose first.
    """
    taken: list[Box] = []
    labels: list[Label] = []
    for name, point in points:
        options = list(_options(name, point, width, height))
        free = [(label, box) for label, box in options if not any(map(box.meets, taken))]
        clear = [(label, box) for label, box in free if not any(map(box.meets, marks))]
        label, box = (clear or free or options)[0]
        labels.append(label)
        taken.append(box)
    return labels


def _options(name: str, point: Point, width: float, height: float) -> Iterator[tuple[Label, Box]]:
    """Places for a name from the best on; the first stands even where none is inside the chart."""
    long = len(name) * _CHARACTER
    outside = []
    for lift in _LIFTS:
        y = point.y + lift * _LINE / 2
        top, bottom = y - _LINE / 2, y + _LINE / 2
        right, left = point.x + _GAP, point.x - _GAP
        for label, box in (
            (Label(right, y, "left"), Box(right, top, right + long, bottom)),
            (Label(left, y, "right"), Box(left - long, top, left, bottom)),
        ):
            if box.left >= 0 and box.right <= width and top >= 0 and bottom <= height:
                yield label, box
            else:
                outside.append((label, box))
    yield from outside
