"""Which charset a page's bytes are in: one rule for the browser and for the static parse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import webencodings

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_META = re.compile(rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([a-zA-Z0-9_:.-]{2,40})""", re.I)
_PRESCAN = 4096
_REPLACEMENT = "\ufffd".encode()
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_GUESS_BYTES = 100_000
_GUESS_BEFORE = 1000


def choose(content: bytes, label: str = "") -> str:
    """The charset to read `content` with, as the Encoding Standard names it.

    The order: byte-order mark; UTF-8 where bytes beyond ASCII form valid UTF-8, since nothing else
    does so by chance; the transport's `label`; the page's own `<meta>`; a guess from the bytes.
    A label that the bytes contradict is passed over.
    """
    for mark, name in _BOMS:
        if content.startswith(mark):
            return name
    if content.isascii():
        return _declared(content, label) or "utf-8"
    if _is_utf8(content):
        return "utf-8"
    beyond, broken = _count_utf8(content)
    if beyond and not broken:
        return "utf-8"
    name = _declared(content, label)
    if name == "utf-8":
        # A few damaged characters do not make a page another charset's.
        return name if broken * 10 < beyond else _guess(content)
    return name if name and _fits(content, name) else _guess(content)


def decode(content: bytes, charset: str) -> str:
    """`content` as text; bytes that are invalid in `charset` become U+FFFD, a mark is dropped."""
    encoding = webencodings.lookup(charset) or webencodings.UTF8
    if encoding.name == "gbk":
        # The standard reads it with the decoder of its superset.
        encoding = webencodings.lookup("gb18030") or encoding
    text: str = encoding.codec_info.decode(content, "replace")[0]
    return text.removeprefix("\ufeff")


def as_utf8(content: bytes, charset: str) -> bytes:
    """What `decode` reads, in UTF-8; bytes that are it already are not made again."""
    encoding = webencodings.lookup(charset) or webencodings.UTF8
    if encoding is webencodings.UTF8 and _is_utf8(content):
        return content.removeprefix(_BOMS[0][0])
    return decode(content, charset).encode("utf-8", "ignore")


def _declared(content: bytes, label: str) -> str:
    match = _META.search(content[:_PRESCAN])
    for candidate in (label, match[1].decode("ascii") if match else ""):
        encoding = webencodings.lookup(candidate)
        # The standard empties pages in the few charsets that it has retired.
        if encoding is not None and encoding.name != "replacement":
            # A meta element that could be read as ASCII is in no UTF-16 page.
            return "utf-8" if encoding.name.startswith("utf-16") else encoding.name
    return ""


def _is_utf8(content: bytes) -> bool:
    try:
        return content.isascii() or bool(content.decode())
    except UnicodeDecodeError:
        return False


def _count_utf8(content: bytes) -> tuple[int, int]:
    """How many characters beyond ASCII are valid UTF-8, and how many are not."""
    # U+FFFD may stand in a page, put there by whoever read it wrongly before: it is valid.
    text = content.replace(_REPLACEMENT, b"").decode("utf-8", "replace")
    # A page that was cut in the middle of a character is not broken for that.
    broken = text.removesuffix("\ufffd").count("\ufffd")
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return beyond - text.count("\ufffd") + content.count(_REPLACEMENT), broken


def _fits(content: bytes, name: str) -> bool:
    return decode(content, name).count("\ufffd") * 1000 <= len(content)


def _matches(content: bytes) -> list[CharsetMatch]:
    """What the bytes may be, the likeliest first."""
    from charset_normalizer import from_bytes  # slow to import, and rarely needed

    return list(from_bytes(content, threshold=0.3, cp_exclusion=_NOT_GUESSED))


def _guess(content: bytes) -> str:
    # Scripts and styles in a page's head are often ASCII, and long.
    beyond = _NOT_ASCII.search(content)
    start = max(0, beyond.start() - _GUESS_BEFORE) if beyond else 0
    part = content[start : start + _GUESS_BYTES]
    matches = _matches(part)
    if part[-1] >= 0x80:
        # It may be the first half of a character.
        shorter = _matches(part[:-1])
        if shorter and (not matches or shorter[0].chaos < matches[0].chaos):
            matches = shorter
    if not matches:
        return "windows-1252"
    # Code pages of one family differ in a few letters: short texts fit several equally well.
    best = matches[0]
    western = next((match for match in matches if "cp1252" in match.could_be_from_charset), None)
    enough = best.coherence if best.coherence >= 0.5 else 0.0
    if western is not None and western.chaos <= best.chaos and western.coherence >= enough:
        return "windows-1252"
    for name in (best.encoding, *best.could_be_from_charset):
        encoding = webencodings.lookup(_WEB_NAMES.get(name, name.replace("_", "-")))
        if encoding is not None:
            return encoding.name
    return "windows-1252"


# Told by a mark, or by what `choose` does before it guesses.
_NOT_GUESSED = ["utf_7", "utf_8", "utf_8_sig", "utf_16", "utf_16_be", "utf_16_le"]
_NOT_GUESSED += ["utf_32", "utf_32_be", "utf_32_le"]
# Python's names where they are no labels of the Encoding Standard but for a dash.
_WEB_NAMES = {
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "cp950": "big5",
    "big5hkscs": "big5",
    "mac_cyrillic": "x-mac-cyrillic",
    "mac_roman": "macintosh",
    "shift_jis_2004": "shift_jis",
    "shift_jisx0213": "shift_jis",
}
