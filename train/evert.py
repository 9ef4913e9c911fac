"""The CleanEval scorer: words of a text aligned to those of the gold.

Evert, "A Lightweight and Efficient Tool for Cleaning Web Pages" (LREC 2008), and his script
`cleaneval.py` 1.0, whose alignment is Python's `difflib`: the longest common run of words first,
then the same to its left and right. Of a gold of 200 words or more, words that make up over 1 %
are only matched next to others. Apart from the script, no empty word is counted where a text
starts or ends with white space, and two texts that share more than `MOST_PAIRS` pairs of places
are aligned by their longest common subsequence, since the script would take hours.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from rapidfuzz.distance import LCSseq

MOST_PAIRS = 2_000_000
"""No page of CleanEval and WCXB, taken whole, has more than 770,000."""

# A line of `URL: ...` heads most gold files; the script drops such lines from both texts.
_URL_LINE = re.compile(r"^[^\S\n]*URL.*$", re.MULTILINE)
_MARK = re.compile(r"<[phl]>", re.IGNORECASE)
# White space is what it is in ASCII, and any control character: the script reads bytes.
_WORD = re.compile(r"[^\x00-\x20]+")


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Words of a page: matched in the alignment, of the text, and of the gold."""

    matched: int
    given: int
    wanted: int

    @property
    def f1(self) -> float:
        """F of the page; for two texts without words 1."""
        total = self.given + self.wanted
        return 2 * self.matched / total if total else 1.0


def evert_counts(predicted: str, reference: str, marks: bool = False) -> WordCounts:
    """Align a text to its gold, word by word.

    marks: whether the segment marks `<p>`, `<h>`, `<l>` are words of their own, all the same one
        (the script's unlabelled scoring); else they are dropped from both.

    >>> evert_counts("the cat sat", "<p>the cat <l>on a mat")
    WordCounts(matched=2, given=3, wanted=5)
    """
    given, wanted = _words(predicted, marks), _words(reference, marks)
    return WordCounts(_matched(given, wanted), len(given), len(wanted))


def _matched(given: list[str], wanted: list[str]) -> int:
    if _pairs(given, wanted) > MOST_PAIRS:
        return LCSseq.similarity(given, wanted)
    blocks = SequenceMatcher(None, given, wanted).get_matching_blocks()
    return sum(block.size for block in blocks)


def _pairs(given: list[str], wanted: list[str]) -> int:
    """Pairs of equal words that `difflib` looks at: those of words that are not too common."""
    most = len(wanted) // 100 + 1 if len(wanted) >= 200 else len(wanted)
    counts = {word: count for word, count in Counter(wanted).items() if count <= most}
    return sum(counts.get(word, 0) for word in given)


def _words(text: str, marks: bool) -> list[str]:
    return _WORD.findall(_MARK.sub(" <p> " if marks else " ", _URL_LINE.sub("", text)))
