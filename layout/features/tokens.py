"""Blocks and phrases as rows of tokens: words, numbers, signs, edges."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .characters import SPACE, classify, decode, encode

EDGE = "^"  # before and after each block
HEAD, TAIL = 100, 60  # characters that are looked at of a long block
LONG = 200

_GAP = "~"  # where the middle of a long block is left out
_STAND_INS = (("\n", EDGE), ("\t", _GAP))
_SIGNS = '|»›>•·→«‹<←▶►▼▲/*[]+©?？¿؟“”„":'  # each a token
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # Japanese, Chinese: a character a token
_PHRASE_TOKEN = re.compile(rf"\^|#+|\w+|[{re.escape(_SIGNS)}]")
_IN_TOKEN, _ALONE = 1, 2


def phrase_tokens(phrase: str) -> tuple[str, ...]:
    """The tokens of a phrase in lower case, with `^` for an edge, `#` to `####` for numbers."""
    return tuple(_PHRASE_TOKEN.findall(_SPACELESS.sub(r" \g<0> ", phrase)))


def page_tokens(texts: Sequence[str]) -> list[str]:
    """The tokens of all texts; EDGE stands before the first, after the last and between them."""
    seen = (t if len(t) <= LONG else f"{t[:HEAD]}\t{t[-TAIL:]}" for t in texts)
    codes = encode("\n".join(("", *seen, "")).lower())  # [c]
    flags = classify(codes, _flags_of)
    codes = np.where(flags, codes, np.uint32(SPACE))
    for character, token in _STAND_INS:
        codes[codes == ord(character)] = ord(token)
    alone = np.flatnonzero(flags & _ALONE)
    return decode(np.insert(codes, np.concatenate([alone, alone + 1]), SPACE)).split()


def _flags_of(character: str) -> int:
    word = character.isalnum() or character == "_"
    alone = character in _SIGNS or character in "\n\t"
    alone |= word and bool(_SPACELESS.match(character))
    return _IN_TOKEN * (word or alone) | _ALONE * alone
