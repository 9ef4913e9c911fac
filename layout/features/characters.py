"""The characters of many texts in one array, with what each of them is, and their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]

WORD, DIGIT, DECIMAL, UPPER, PUNCTUATION, SENTENCE_END = 1, 2, 4, 8, 16, 32

_PAD = "\n" * 4  # so that what follows a character can be looked at
SPACE = ord(" ")


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """c characters of b texts, in order, with a line feed after each text."""

    joined: str
    codes: UInt32  # [c]
    flags: UInt8  # [c] sums of WORD to SENTENCE_END
    starts: Int64  # [b] the first character of each text
    lengths: Int64  # [b]
    words: list[list[str]]  # [b] of each text, those that the regular expression \w+ finds

    def has(self, flag: int) -> Bool:
        """Which characters have a flag, [c]."""
        return (self.flags & flag) > 0

    def total(self, mask: Bool) -> Int64:
        """How many characters of each text a mask holds, [c] -> [b]; it must hold no line feed."""
        return np.add.reduceat(mask, self.starts, dtype=np.int64)


def read_characters(texts: Sequence[str]) -> Characters:
    """The characters of b texts."""
    joined = "\n".join(texts) + _PAD
    codes = encode(joined)
    flags = classify(codes, _flags_of)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    starts = np.cumsum(lengths + 1) - lengths - 1
    return Characters(joined, codes, flags, starts, lengths, _words(codes, flags, starts, lengths))


def _words(codes: UInt32, flags: UInt8, starts: Int64, lengths: Int64) -> list[list[str]]:
    text = decode(np.where(flags & WORD, codes, np.uint32(SPACE)))
    spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
    # No character of a word is white space.
    return [text[a:b].split() for a, b in spans]


def _flags_of(character: str) -> int:
    return (
        WORD * (character.isalnum() or character == "_")
        | DIGIT * character.isdigit()
        | DECIMAL * character.isdecimal()
        | UPPER * character.isupper()
        | PUNCTUATION * (character in ".,?;:!。，？；：！、؟،।")
        | SENTENCE_END * (character in ".?!;。？！；؟।")
    )


def encode(text: str) -> UInt32:
    """The code points of a text, [c]."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)


def classify(codes: UInt32, flags_of: Callable[[str], int]) -> UInt8:
    """The flags that a function gives each character, [c]; it is called once for each kind."""
    flags = _ascii_flags(flags_of).take(codes, mode="clip")
    beyond = np.flatnonzero(codes >= 128)
    if len(beyond):
        unique, inverse = np.unique(codes[beyond], return_inverse=True)
        known = np.fromiter(map(flags_of, map(chr, unique.tolist())), np.uint8, len(unique))
        flags[beyond] = known[inverse]
    return flags


def decode(codes: UInt32) -> str:
    """The text of [c] code points; there must be no lone surrogates."""
    return codes.tobytes().decode("utf-32")


@cache
def _ascii_flags(flags_of: Callable[[str], int]) -> UInt8:
    return np.fromiter(map(flags_of, map(chr, range(128))), np.uint8, 128)
