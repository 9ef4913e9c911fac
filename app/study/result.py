"""What a study found: figures with intervals for each system, differences, single pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...train.metrics import Difference

# A figure with its 95 % interval over pages has the same three numbers as a difference.
Figure = Difference


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system.

    figures: by metric. by_type: by page type, then by metric; empty where pages have no types.
    seconds: mean wall time a page; None for recorded outputs. memory: peak of its process, bytes.
    errors: pages on which it failed (they score as an empty text). failures: by page id, why.
    """

    name: str
    version: str
    figures: Mapping[str, Figure]
    by_type: Mapping[str, Mapping[str, Figure]]
    seconds: float | None
    memory: int | None
    failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """How many pages it failed on."""
        return len(self.failures)


@dataclass(frozen=True, slots=True)
class Pair:
    """How far two systems are apart: `difference` is first - second, pages paired.

    page_type: of the pages, "" for all of them.
    """

    metric: str
    first: str
    second: str
    difference: Difference
    page_type: str = ""

    @property
    def told_apart(self) -> bool:
        """Whether the interval excludes 0; if not, neither system may be called better."""
        return self.difference.low > 0 or self.difference.high < 0


@dataclass(frozen=True, slots=True)
class StudyResult:
    """A whole study.

    pages: how many; without_gold: how many more could not be scored. types: pages of each type.
    input: "raw" or "rendered". pairs: none on few pages, where an interval claims too much.
    main: the metric that tables and charts rank by. agreement: without gold, word F1 between each
    two systems, mean over pages; its order is that of `systems`.
    """

    dataset: str
    split: str
    input: str
    pages: int
    types: Mapping[str, int]
    main: str
    systems: tuple[SystemResult, ...]
    pairs: tuple[Pair, ...] = ()
    agreement: tuple[tuple[float, ...], ...] = ()
    without_gold: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PageView:
    """One page of the report's page browser.

    gold: None where there is none. outputs, scores: by system; scores are of the study's main
    metric on this page alone (of its agreement with the other systems where there is no gold).
    blocks: text of each block. boxes: [x, y, width, height] of each in CSS pixels, None where the
    page was not rendered. kept: by system, for each block whether the system's text has it.
    gold_kept: the same for gold; empty where there is none.
    picture: JPEG of the page's top, b"" where there is none; scale: its pixels a CSS pixel.
    """

    id: str
    url: str
    page_type: str
    gold: str | None
    outputs: Mapping[str, str]
    scores: Mapping[str, float]
    blocks: tuple[str, ...]
    boxes: tuple[tuple[float, float, float, float], ...] | None
    kept: Mapping[str, tuple[bool, ...]]
    gold_kept: tuple[bool, ...]
    picture: bytes = b""
    scale: float = 0.0
