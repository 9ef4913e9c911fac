"""Scores of a text against the gold of its page, and the figures that a study makes of them.

Metrics that share their work on a page are one `Family`. It gives a few numbers a page, the
columns; a figure is a function of their sums over pages, so that pages can be drawn anew
(`bootstrap`) without scoring again. A page on which a system failed scores as the empty text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...data.records import PageRecord
from ...layout.page import build_page
from ...train.align import CONTENT, text_labels
from ...train.evert import evert_counts
from ...train.examples import gold_shares, static_snapshot
from ...train.metrics import rouge_lsum, snippet_share, word_f1
from ...train.ngrams import aeb_words, shingle_shares, webmainbench_f1
from .bootstrap import Statistic, harmonic_mean, mean, pooled_f1, share

Bool = npt.NDArray[np.bool_]
Columns: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What the texts of one page are scored against; b blocks, 0 where no metric asks for them."""

    record: PageRecord  # without its content and mask
    leaves: tuple[str, ...]  # [b] texts of the leaves of the collapsed DOM
    content: Bool  # [b] gold labels
    known: Bool  # [b] False where gold says nothing of a block

    def digest(self) -> str:
        """Changes with everything that a score of the page depends on, but the code."""
        record = self.record
        facts = (record.gold, record.marked, record.with_snippets, record.without_snippets)
        labels = self.content.tobytes() + self.known.tobytes()
        text = repr((facts, self.leaves)).encode("utf-8", "replace")
        return hashlib.sha256(text + labels).hexdigest()

    @property
    def gold(self) -> str:
        """The gold text. Raises ValueError where the record has none: it cannot be scored."""
        if self.record.gold is None:
            raise ValueError(f"{self.record.id}: no gold text")
        return self.record.gold


def _has_gold(record: PageRecord) -> bool:
    return record.gold is not None


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Metrics that share their work on a page.

    score: the columns of one page for a system's text. figures: by metric, see `Statistic`; a
        share of nothing is 0. applies: whether a page has what is scored against; the columns of
        one that has not are zeros, which count for nothing. failed: from the columns of the empty
        text to those of a system that came to no end, which must not be right by that.
    """

    name: str
    columns: tuple[str, ...]
    score: Callable[[str, Reference], tuple[float, ...]]
    figures: Mapping[str, Statistic]
    applies: Callable[[PageRecord], bool] = _has_gold
    failed: Callable[[Columns], Columns] = lambda columns: columns

    def page(self, text: str | None, reference: Reference) -> Columns:
        """The columns of one page; a text of None is that of a system that failed."""
        if not self.applies(reference.record):
            return (0.0,) * len(self.columns)
        columns = self.score(text or "", reference)
        return self.failed(columns) if text is None else columns


def is_scorable(record: PageRecord) -> bool:
    """Whether a page has gold, which may say that there is no content, or snippets."""
    return record.gold is not None or bool(record.with_snippets)


def make_reference(record: PageRecord, blocks: bool) -> Reference:
    """The reference of a page that is scorable, its leaves and their labels if `blocks`."""
    has_labels = blocks and record.gold is not None
    leaves = build_page(static_snapshot(record)).text if has_labels else ()
    part = gold_shares(record, leaves) if has_labels else np.zeros(0, np.float32)
    # Hundreds of pages are kept at a time: not with their sources.
    kept = replace(record, content=b"", mask=None)
    return Reference(kept, leaves, part > CONTENT, ~np.isnan(part))


def families_of(names: Iterable[str]) -> tuple[Family, ...]:
    """The families that have these metrics. Raises ValueError for a name that none has."""
    wanted = set(names)
    if unknown := sorted(wanted.difference(METRICS)):
        raise ValueError(f"no metric {unknown[0]!r}; there are {', '.join(METRICS)}")
    return tuple(family for family in FAMILIES if wanted & set(family.figures))


def needs_blocks(names: Iterable[str]) -> bool:
    """Whether one of these metrics reads `Reference.leaves`. Raises ValueError as `families_of`."""
    return BLOCKS in families_of(names)


def _score_snippets(text: str, reference: Reference) -> tuple[float, ...]:
    columns: list[float] = []
    for snippets in (reference.record.with_snippets, reference.record.without_snippets):
        columns += [snippet_share(text, snippets), 1.0] if snippets else [0.0, 0.0]
    return tuple(columns)


def _score_aeb(text: str, reference: Reference) -> tuple[float, ...]:
    shares = shingle_shares(text, reference.gold)
    given, wanted = shares.both + shares.extra, shares.both + shares.missed
    return (
        shares.both / given if given else 0.0,
        float(given > 0),
        shares.both / wanted if wanted else 0.0,
        float(wanted > 0),
        float(aeb_words(text) == aeb_words(reference.gold)),
        1.0,
    )


def _score_evert(text: str, reference: Reference) -> tuple[float, ...]:
    counts = evert_counts(text, reference.gold)
    return counts.f1, 1.0, counts.matched, counts.given, counts.wanted


def _score_marked(text: str, reference: Reference) -> tuple[float, ...]:
    # A text says where its segments begin by its lines.
    lines = [f"<p>{line}" for line in text.splitlines() if line.strip()]
    counts = evert_counts("\n".join(lines), reference.record.marked or "", marks=True)
    return counts.f1, 1.0, counts.matched, counts.given, counts.wanted


def _score_blocks(text: str, reference: Reference) -> tuple[float, ...]:
    # NaN, of a leaf without words, is not above.
    kept = (text_labels(text, reference.leaves) > CONTENT)[reference.known]
    gold = reference.content[reference.known]
    hits = int((kept & gold).sum())
    return hits, int(kept.sum()), int(gold.sum()), int((kept == gold).sum()), len(gold)


def _zero_first(columns: Columns) -> Columns:
    return (0.0, *columns[1:])


def _mean_family(
    name: str,
    score: Callable[[str, str], float],
    applies: Callable[[PageRecord], bool] = _has_gold,
) -> Family:
    """One score a page, and its mean over pages; a page without gold has an empty one."""
    return Family(
        name,
        (name, "pages"),
        lambda text, reference: (score(text, reference.record.gold or ""), 1.0),
        {name: mean(0, 1)},
        applies,
        _zero_first,
    )


SNIPPETS = Family(
    "snippets",
    ("with", "pages_with", "without", "pages_without"),
    _score_snippets,
    {"with_share": mean(0, 1), "without_share": mean(2, 3)},
    lambda record: True,
    lambda columns: (*columns[:2], columns[3], columns[3]),
)
AEB = Family(
    "aeb",
    ("precision", "pages_given", "recall", "pages_wanted", "exact", "pages"),
    _score_aeb,
    {
        "aeb_f1": harmonic_mean(share(0, 1), share(2, 3)),
        "aeb_precision": share(0, 1),
        "aeb_recall": share(2, 3),
        "aeb_accuracy": mean(4, 5),
    },
    failed=lambda columns: (*columns[:4], 0.0, columns[5]),
)
EVERT = Family(
    "evert",
    ("f1", "pages", "matched", "given", "wanted"),
    _score_evert,
    {"evert_f1": mean(0, 1), "evert_pooled_f1": pooled_f1(2, 3, 4)},
    failed=_zero_first,
)
EVERT_MARKED = Family(
    "evert_marked",
    EVERT.columns,
    _score_marked,
    {"evert_marked_f1": mean(0, 1), "evert_marked_pooled_f1": pooled_f1(2, 3, 4)},
    lambda record: record.marked is not None,
    _zero_first,
)
BLOCKS = Family(
    "blocks",
    ("hits", "given", "wanted", "right", "known"),
    _score_blocks,
    {
        "block_accuracy": share(3, 4),
        "block_precision": share(0, 1),
        "block_recall": share(0, 2),
        "block_f1": pooled_f1(0, 1, 2),
    },
)
FAMILIES = (
    # WCXB counts its pages that have snippets and no text as having an empty one.
    _mean_family("word_f1", word_f1, is_scorable),
    SNIPPETS,
    _mean_family("rouge_lsum", rouge_lsum),
    AEB,
    EVERT,
    EVERT_MARKED,
    _mean_family("webmainbench_f1", webmainbench_f1),
    BLOCKS,
)
METRICS = tuple(name for family in FAMILIES for name in family.figures)
"""Names of all figures."""
LOWER_IS_BETTER = frozenset({"without_share"})
