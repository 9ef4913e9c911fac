"""Counts of the texts of a page: one pass over all its characters, then sums over ranges.

Counts add up toward the root of the collapsed DOM, so that the properties of a node are those of
the range of leaves below it (Web2Text, section 3.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from .characters import (
    DECIMAL,
    DIGIT,
    PUNCTUATION,
    SENTENCE_END,
    UPPER,
    WORD,
    Characters,
)
from .schema import Float32, signed
from .stopwords import STOP_WORDS

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

# Each begins with plain characters: texts are searched for those fast.
_PATTERNS = {
    "copyright": ("©", "\N{SOUND RECORDING COPYRIGHT}", "&copy;", r"\([cC]\)"),
    # From the sign on: a search for what may stand before it stops at every word.
    "email": (r"@(?<=[\w.+-]@)[\w-]{1,63}\.[\w.-]{2,63}",),
    "url": (r"https?://\S", r"www\.(?<!http://www\.)(?<!https://www\.)\w"),
}
_COMPILED = {name: tuple(map(re.compile, patterns)) for name, patterns in _PATTERNS.items()}

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
# Means and deviations of the columns that are standardised.
_SCALES = {
    "mean_word_length": (4.91, 1.9057),
    "stop_word_ratio": (0.374, 0.1529),
    "log_punctuation_ratio": (-3.3385, 0.6059),
    "has_digit": (-0.5901, 0.8073),
    "digit_ratio": (0.2656, 0.3053),
    "log_sentence_length": (3.109, 1.011),
    "capitalised_ratio": (0.4476, 0.4129),
    "capitalised_ratio_squared": (0.3708, 0.4334),
    "capitalised_ratio_cubed": (0.3408, 0.4404),
}


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


def count_texts(read: Characters, in_link: Bool) -> TextCounts:
    """The counts of b texts; `in_link` [b] tells which stand in a link."""
    words = read.words
    count = np.fromiter(map(len, words), np.int64, len(words))
    word, upper = read.has(WORD), read.has(UPPER)
    word_starts = word & ~np.append(False, word[:-1])
    characters = np.maximum(read.lengths, 1)
    last = np.maximum(read.starts + read.lengths - 1, 0)
    return TextCounts(
        characters=characters,
        words=count,
        word_characters=read.total(word),
        stop_words=_stop_words(words, count),
        punctuation=read.total(read.has(PUNCTUATION)),
        digits=read.total(read.has(DIGIT)),
        capitalised=read.total(word_starts & upper),
        sentences=read.total(_sentence_ends(read, upper)) + 1,
        link_characters=np.where(in_link, characters, 0),
        year=read.total(_years(word, word_starts, read.has(DECIMAL))),
        ends_in_punctuation=(read.flags[last] & PUNCTUATION) > 0,
        ends_in_question_mark=read.codes[last] == ord("?"),
        **{name: _matches(patterns, read) for name, patterns in _COMPILED.items()},
    )


def sum_ranges(counts: TextCounts, first: Int32, last: Int32) -> TextCounts:
    """The counts of r ranges [first, last) of texts; none of them may be empty."""
    table = np.stack([getattr(counts, name) for name in _SUMMED])  # [13, b]
    running = np.concatenate([np.zeros((len(table), 1), np.int64), table.cumsum(axis=1)], axis=1)
    return TextCounts(
        **dict(zip(_SUMMED, running[:, last] - running[:, first], strict=True)),
        ends_in_punctuation=counts.ends_in_punctuation[last - 1],
        ends_in_question_mark=counts.ends_in_question_mark[last - 1],
    )


def shared_text_columns(
    counts: TextCounts, low: float, high: float, mean: float, deviation: float
) -> Float32:
    """The 17 columns that leaves and inner nodes have in common, TEXT_COLUMNS, [r, 17].

    `low` to `deviation` scale the logarithm of the characters, the one column that differs.
    """
    words, characters = np.maximum(counts.words, 1), counts.characters
    capitals = counts.capitalised / words
    marks = np.log(np.maximum(counts.punctuation, 1e-9) / characters)
    columns = (
        np.clip(counts.word_characters / words, 3, 15),
        signed(counts.stop_words > 0),
        counts.stop_words / words,
        np.clip(np.log(characters), low, high),
        np.clip(marks, -4, -2.5),
        signed(counts.digits > 0),
        counts.digits / characters,
        np.clip(np.log(characters / counts.sentences), 2, 5),
        signed(counts.ends_in_punctuation),
        signed(counts.ends_in_question_mark),
        signed(counts.copyright > 0),
        signed(counts.email > 0),
        signed(counts.url > 0),
        signed(counts.year > 0),
        capitals,
        capitals**2,
        capitals**3,
    )
    scales = _SCALES | {"log_characters": (mean, deviation)}
    scale = np.array([scales.get(name, (0, 1)) for name in TEXT_COLUMNS]).T
    table = (np.stack(columns, axis=1) - scale[0]) / scale[1]
    table[counts.words == 0, TEXT_COLUMNS.index("mean_word_length")] = -1
    table[counts.punctuation == 0, TEXT_COLUMNS.index("log_punctuation_ratio")] = 0
    return table.astype(np.float32)


def _stop_words(words: list[list[str]], count: Int64) -> Int64:
    """How many words of each text are stop words, [b]; the paper's list is case-sensitive."""
    hits = np.fromiter(map(STOP_WORDS.__contains__, chain.from_iterable(words)), bool, count.sum())
    running = np.append(0, np.cumsum(hits))
    return np.diff(running[np.cumsum(count)], prepend=0)


def _sentence_ends(read: Characters, upper: Bool) -> Bool:
    """Where a mark, a space and a capital follow each other, [c]."""
    ends = read.has(SENTENCE_END)
    ends[:-2] &= (read.codes[1:-1] == ord(" ")) & upper[2:]
    return ends


def _years(word: Bool, word_starts: Bool, digit: Bool) -> Bool:
    """Where a word of four decimal digits starts, [c]."""
    years = word_starts[:-4] & ~word[4:]
    for place in range(4):
        years &= digit[place : place - 4]
    return np.append(years, np.zeros(4, bool))


def _matches(patterns: tuple[re.Pattern[str], ...], read: Characters) -> Int64:
    """How many matches of the patterns start in each text, [b]."""
    found = [match.start() for pattern in patterns for match in pattern.finditer(read.joined)]
    owner = np.searchsorted(read.starts, found, side="right") - 1
    return np.bincount(owner, minlength=len(read.starts)).astype(np.int64)
