"""Counts of the texts of a page: one pass over all its characters, then sums over ranges.

Counts add up toward the root of the collapsed DOM, so that the properties of a node are those of
the range of leaves below it (Web2Text, section 3.2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from .schema import Float32, signed, standardise
from .stopwords import STOP_WORDS

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

_WORD, _DIGIT, _UPPER, _PUNCTUATION, _SENTENCE_END, _SPACE = 1, 2, 4, 8, 16, 32
_PATTERNS = {
    "copyright": re.compile("[©\N{SOUND RECORDING COPYRIGHT}]|&copy;|\\([cC]\\)"),
    # From the sign on: a search for what may stand before it stops at every word.
    "email": re.compile(r"@(?<=[\w.+-]@)[\w-]{1,63}\.[\w.-]{2,63}"),
    "url": re.compile(r"https?://\S|www\.\w"),
    "year": re.compile(r"(?<!\w)\d{4}(?!\w)"),
}

TEXT_COLUMNS = (
    "mean_word_length",
    "has_stop_word",
    "stop_word_ratio",
    "log_characters",
    "log_punctuation_ratio",
    "has_digit",
    "digit_ratio",
    "log_sentence_length",
    "ends_in_punctuation",
    "ends_in_question_mark",
    "has_copyright",
    "has_email",
    "has_url",
    "has_year",
    "capitalised_ratio",
    "capitalised_ratio_squared",
    "capitalised_ratio_cubed",
)


@dataclass(frozen=True, slots=True, eq=False)
class TextCounts:
    """Counts of r texts, or of r ranges of texts; all of shape [r]."""

    characters: Int64
    words: Int64
    word_characters: Int64
    stop_words: Int64
    punctuation: Int64
    digits: Int64
    capitalised: Int64
    sentences: Int64
    link_characters: Int64
    copyright: Int64
    email: Int64
    url: Int64
    year: Int64
    ends_in_punctuation: Bool
    ends_in_question_mark: Bool


_SUMMED = TextCounts.__slots__[:13]


def count_texts(texts: Sequence[str], in_link: Bool) -> TextCounts:
    """The counts of b texts; `in_link` [b] tells which stand in a link."""
    size = len(texts)
    joined = "\n".join(texts) + "\n\n\n"
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)  # [c]
    flags = _classify(codes)
    lengths = np.fromiter(map(len, texts), np.int64, size)
    starts = np.cumsum(lengths + 1) - lengths - 1

    def total(mask: Bool) -> Int64:
        sums = np.concatenate(([0], np.cumsum(mask, dtype=np.int64)))
        return sums[starts + lengths] - sums[starts]

    in_word = (flags & _WORD) > 0
    word_starts = in_word & ~np.concatenate(([False], in_word[:-1]))
    characters = np.maximum(lengths, 1)
    # A sentence ends where a mark, a space and a capital follow each other.
    ends = ((flags[:-2] & _SENTENCE_END) > 0) & ((flags[1:-1] & _SPACE) > 0)
    ends &= (flags[2:] & _UPPER) > 0
    last = flags[np.maximum(starts + lengths - 1, 0)]
    return TextCounts(
        characters=characters,
        words=total(word_starts),
        word_characters=total(in_word),
        stop_words=total(_stop_word_starts(joined, word_starts, in_word)),
        punctuation=total((flags & _PUNCTUATION) > 0),
        digits=total((flags & _DIGIT) > 0),
        capitalised=total(word_starts & ((flags & _UPPER) > 0)),
        sentences=total(np.append(ends, [False, False])) + 1,
        link_characters=np.where(in_link, characters, 0),
        ends_in_punctuation=(last & _PUNCTUATION) > 0,
        ends_in_question_mark=codes[np.maximum(starts + lengths - 1, 0)] == ord("?"),
        **{key: _matches(pattern, joined, starts) for key, pattern in _PATTERNS.items()},
    )


def sum_ranges(counts: TextCounts, first: Int32, last: Int32) -> TextCounts:
    """The counts of r ranges [first, last) of texts; none of them may be empty."""
    sums = {}
    for name in _SUMMED:
        running = np.concatenate(([0], np.cumsum(getattr(counts, name))))
        sums[name] = running[last] - running[first]
    return TextCounts(
        **sums,
        ends_in_punctuation=counts.ends_in_punctuation[last - 1],
        ends_in_question_mark=counts.ends_in_question_mark[last - 1],
    )


def shared_text_columns(
    counts: TextCounts, low: float, high: float, mean: float, deviation: float
) -> Float32:
    """The 17 columns that leaves and inner nodes have in common, TEXT_COLUMNS, [r, 17].

    `low` to `deviation` scale the logarithm of the characters, the one column that differs.
    """
    words = np.maximum(counts.words, 1)
    has_words = counts.words > 0
    capitals = np.where(has_words, counts.capitalised / words, 0)
    word_length = np.clip(counts.word_characters / words, 3, 15)
    marks = np.log(np.maximum(counts.punctuation, 1e-9) / counts.characters)
    columns = (
        np.where(has_words, standardise(word_length, 4.91, 1.9057), -1),
        signed(counts.stop_words > 0),
        standardise(np.where(has_words, counts.stop_words / words, 0), 0.374, 0.1529),
        standardise(np.clip(np.log(counts.characters), low, high), mean, deviation),
        np.where(counts.punctuation > 0, standardise(np.clip(marks, -4, -2.5), -3.3385, 0.6059), 0),
        standardise(signed(counts.digits > 0), -0.5901, 0.8073),
        standardise(counts.digits / counts.characters, 0.2656, 0.3053),
        standardise(np.clip(np.log(counts.characters / counts.sentences), 2, 5), 3.109, 1.011),
        signed(counts.ends_in_punctuation),
        signed(counts.ends_in_question_mark),
        signed(counts.copyright > 0),
        signed(counts.email > 0),
        signed(counts.url > 0),
        signed(counts.year > 0),
        standardise(capitals, 0.4476, 0.4129),
        standardise(capitals**2, 0.3708, 0.4334),
        standardise(capitals**3, 0.3408, 0.4404),
    )
    return np.stack(columns, axis=1).astype(np.float32)


@cache
def _ascii_flags() -> npt.NDArray[np.uint8]:
    return np.fromiter((_flags_of(chr(code)) for code in range(128)), np.uint8, 128)


def _flags_of(character: str) -> int:
    return (
        _WORD * (character.isalnum() or character == "_")
        | _DIGIT * character.isdigit()
        | _UPPER * character.isupper()
        | _PUNCTUATION * (character in ".,?;:!。，？；：！、؟،।")
        | _SENTENCE_END * (character in ".?!;。？！；؟।")
        | _SPACE * (character == " ")
    )


def _classify(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """The classes of each character, [c]."""
    beyond = codes >= 128
    flags = _ascii_flags()[np.where(beyond, 0, codes)]
    if beyond.any():
        unique, inverse = np.unique(codes[beyond], return_inverse=True)
        known = np.fromiter(
            (_flags_of(chr(code)) for code in unique.tolist()), np.uint8, len(unique)
        )
        flags[beyond] = known[inverse]
    return flags


def _stop_word_starts(joined: str, word_starts: Bool, in_word: Bool) -> Bool:
    """Where a stop word starts, [c]; the list is case-sensitive, as in the paper."""
    begins = np.flatnonzero(word_starts)
    ends = np.flatnonzero(in_word & ~np.append(in_word[1:], False)) + 1
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    hits = np.fromiter((joined[a:b] in STOP_WORDS for a, b in spans), bool, len(begins))
    mask = np.zeros(len(word_starts), bool)
    mask[begins[hits]] = True
    return mask


def _matches(pattern: re.Pattern[str], joined: str, starts: Int64) -> Int64:
    """How many matches start in each text, [b]."""
    found = [match.start() for match in pattern.finditer(joined)]
    owner = np.searchsorted(starts, found, side="right") - 1
    return np.bincount(owner, minlength=len(starts)).astype(np.int64)
