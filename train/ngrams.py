"""Scores by n-grams of words: the Article Extraction Benchmark's, and WebMainBench's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

AEB_N = 4
WEBMAINBENCH_N = 5

_WORD = re.compile(r"\w+")
# What `jieba` makes of text without Chinese: its dictionary has five words of Latin letters, runs
# of letters and digits stay whole, so do runs of seven signs, all else is one character each.
_ENTRY = r"AT&T|[cC](?:#|\+\+)"
_TOKEN = re.compile(
    rf"{_ENTRY}|(?:(?!{_ENTRY})[a-zA-Z0-9])+(?:\.[0-9]+)?%?|[-+#&._%]+|\r\n|.", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class ShingleShares:
    """4-grams of one page: in both texts, in the prediction alone, in the reference alone.

    As shares of all three together, so that a long page counts no more than a short one; all 0
    where neither text has words.
    """

    both: float
    extra: float
    missed: float


def shingle_shares(predicted: str, reference: str) -> ShingleShares:
    r"""Multisets of the 4-grams of `\w+`, case kept; a text of fewer words is one shingle.

    The first half of `evaluate.py` of the Article Extraction Benchmark (Scrapinghub 2019).

    >>> shingle_shares("a b c d", "a b c d e")
    ShingleShares(both=0.5, extra=0.0, missed=0.5)
    """
    given, wanted = _shingles(aeb_words(predicted)), _shingles(aeb_words(reference))
    both = (given & wanted).total()
    total = given.total() + wanted.total() - both
    if not total:
        return ShingleShares(0.0, 0.0, 0.0)
    extra, missed = given.total() - both, wanted.total() - both
    return ShingleShares(both / total, extra / total, missed / total)


def aeb_words(text: str) -> list[str]:
    """The benchmark's words of a text; its accuracy is the share of pages where all are equal."""
    return _WORD.findall(text)


def webmainbench_f1(predicted: str, reference: str) -> float:
    """WebMainBench's ROUGE-5 F1 of one page (Liu et al. 2025, "Dripper"; arXiv 2511.23119).

    White space and signs are tokens too, each of its own. The benchmark turns HTML to Markdown
    before, and takes plain text as it is. It segments Chinese with the dictionary of `jieba`;
    here each Chinese character is a token, and all other text is split as there. 1 for two blank
    texts; otherwise a text of fewer than five tokens has no 5-gram, and scores 0.

    >>> webmainbench_f1("a b c!", "a b c")
    0.6666666666666666
    """
    if not predicted.strip() and not reference.strip():
        return 1.0
    given = _ngrams(jieba_tokens(predicted), WEBMAINBENCH_N)
    wanted = _ngrams(jieba_tokens(reference), WEBMAINBENCH_N)
    total = given.total() + wanted.total()
    return 2 * (given & wanted).total() / total if total else 0.0


def jieba_tokens(text: str) -> list[str]:
    """Tokens of a text as `jieba` 0.42 gives them, but each Chinese character one of its own.

    >>> jieba_tokens("It's 3.5%--AT&T")
    ['It', "'", 's', ' ', '3.5%', '--', 'AT&T']
    """
    return _TOKEN.findall(text)


def _shingles(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    return (
        _ngrams(words, AEB_N) if len(words) >= AEB_N else Counter([tuple(words)] if words else [])
    )


def _ngrams(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(size)), strict=False))
