"""Victor: a chain of labels over the blocks of a page.

Spousta, Marek, Pecina: Victor, the Web-Page Cleaning Tool (WAC4, 2008). A linear-chain CRF says
of each block whether it is content. What it sees of a block are categories: counts and shares in
bins. It sees them for the three blocks to each side as well, which is the window of the feature
template published with the tool; so are the groups of features, while the bins are our own.
Left out: the languages of a text, and the class that headings and list items have of their own.
"""

from __future__ import annotations

import re
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...render.errors import ModelError
from .blocks import TextBlock, joined, text_blocks
from .dom import parse_html
from .protocol import LearnedSystem, StudyPage, TrainingPage

if TYPE_CHECKING:
    from pycrfsuite import Tagger

WINDOW = 3
ITERATIONS = 100
L2 = 1.0
# Attributes that are rarer say nothing of other pages.
LEAST_SEEN = 5

# Where CRFsuite's model file holds its own size. The library does not look whether it is cut.
_SIZE = slice(4, 8)

CONTENT = "content"
OTHER = "other"

_COUNTS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765)
_SHARES = 10
_CLASSES: Mapping[str, frozenset[str]] = {
    "bold": frozenset({"b", "strong"}),
    "italic": frozenset({"i", "em"}),
    "heading": frozenset({"h1", "h2", "h3", "h4", "h5", "h6"}),
    "list": frozenset({"ul", "ol", "dl", "li", "dt", "dd"}),
    "form": frozenset({"form", "fieldset", "label", "button"}),
    "cell": frozenset({"td", "th"}),
    "link": frozenset({"a"}),
    "p": frozenset({"p"}),
}

_TOKEN = re.compile(r"\w+|[^\w\s]+")
_PUNCTUATION = frozenset(".,:;?!")
_SENTENCE_END = re.compile(r"""[.?!]["'”’)]?(?=\s|$)""")
_PATTERNS = {
    "url": re.compile(r"https?://|www\.|@\w+\.", re.I),
    "date": re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\b(?:19|20)\d\d\b"),
    "time": re.compile(r"\b\d{1,2}:\d\d\b"),
}


class Victor(LearnedSystem):
    """The blocks that the chain labels as content; blocks without words are left out."""

    name = "victor"
    version = "1"

    def __init__(self) -> None:
        self._tagger: Tagger | None = None
        self._state = b""

    def fit(self, pages: Sequence[TrainingPage]) -> bytes:
        """The CRF's model file, by L-BFGS; its labels are those of `train.align`."""
        from pycrfsuite import Trainer

        trainer = Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c2": L2, "max_iterations": ITERATIONS, "feature.minfreq": LEAST_SEEN})
        for page in pages:
            if blocks := _worded_blocks(page.page):
                trainer.append(list(attributes(blocks)), _labels(page.gold, blocks))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            trainer.train(str(path))
            return path.read_bytes()

    def load(self, state: bytes) -> None:
        """Take over a model file; raises ModelError if it is none."""
        from pycrfsuite import Tagger

        tagger = Tagger()
        if int.from_bytes(state[_SIZE], "little") != len(state):
            raise ModelError("victor: the model of the CRF is damaged")
        try:
            tagger.open_inmemory(state)
        except ValueError as error:
            raise ModelError(f"victor: not a model of a CRF: {error}") from error
        # The tagger reads from these bytes, but does not keep them.
        self._state, self._tagger = state, tagger

    def extract(self, page: StudyPage) -> str:
        """The blocks of the likeliest chain's content; raises ModelError before `load`."""
        if self._tagger is None:
            raise ModelError("victor: nothing learned yet")
        blocks = _worded_blocks(page)
        labels = self._tagger.tag(list(attributes(blocks)))
        return joined(
            [block for block, label in zip(blocks, labels, strict=True) if label == CONTENT]
        )


def attributes(blocks: Sequence[TextBlock]) -> Iterator[list[str]]:
    """What the CRF sees of each block: `place|name=category` of it and of its neighbours."""
    own = _block_features(blocks)
    document = _document_features(blocks)
    # The same few hundred texts make up most of a page.
    placed: dict[tuple[int, str], str] = {}
    for number, place in enumerate(_places(blocks)):
        seen = [*document, *place]
        for offset in range(-WINDOW, WINDOW + 1):
            beside = number + offset
            features = own[beside] if 0 <= beside < len(own) else ("outside",)
            for feature in features:
                key = offset, feature
                seen.append(placed.get(key) or placed.setdefault(key, f"{offset}|{feature}"))
        yield seen


def _worded_blocks(page: StudyPage) -> list[TextBlock]:
    return [block for block in text_blocks(parse_html(page.html)) if block.words]


def _labels(gold: str, blocks: Sequence[TextBlock]) -> list[str]:
    from ...train import align

    shares = align.text_labels(gold, [block.text for block in blocks])
    return [CONTENT if share > align.CONTENT else OTHER for share in shares]


def _document_features(blocks: Sequence[TextBlock]) -> list[str]:
    """Of the page as a whole, the same for all its blocks."""
    cells, divisions = _words_by(blocks, "cell"), _words_by(blocks, "division")
    return [
        f"page-words={_bin(sum(block.words for block in blocks))}",
        f"page-blocks={_bin(len(blocks))}",
        f"page-sentences={_bin(sum(_sentences(block.text) for block in blocks))}",
        f"page-largest-cell={_bin(max(cells.values(), default=0))}",
        f"page-largest-division={_bin(max(divisions.values(), default=0))}",
    ]


def _places(blocks: Sequence[TextBlock]) -> Iterator[list[str]]:
    """Of each block: where it is on the page, and whether its text is there for the first time."""
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        yield [
            f"position={_share(number, len(blocks))}",
            f"first-twin={block.text not in seen}",
        ]
        seen.add(block.text)


def _block_features(blocks: Sequence[TextBlock]) -> list[list[str]]:
    """Of each block: what its neighbours see of it, too."""
    cells, divisions = _words_by(blocks, "cell"), _words_by(blocks, "division")
    words = sum(block.words for block in blocks)
    twins = Counter(block.text for block in blocks)
    return [
        [
            *_text_features(block.text),
            *_markup_features(block),
            f"twins={_bin(twins[block.text])}",
            f"cell={_share(cells[block.cell] if block.cell else 0, words)}",
            f"division={_share(divisions[block.division] if block.division else 0, words)}",
        ]
        for block in blocks
    ]


def _text_features(text: str) -> Iterator[str]:
    """Classes of tokens and of characters, sentences, patterns."""
    tokens = _TOKEN.findall(text)
    classes = Counter(map(_token_class, tokens))
    counted = len(tokens) - classes["punctuation"]
    for name in ("letters", "digits", "mixed", "other"):
        yield f"tokens-{name}={_bin(classes[name])}"
        yield f"tokens-{name}-share={_share(classes[name], counted)}"
    letters = sum(map(str.isalpha, text))
    digits = sum(map(str.isdecimal, text))
    blanks = text.count(" ")
    points = sum(map(text.count, _PUNCTUATION))
    for name, count in (
        ("letters", letters),
        ("digits", digits),
        ("blanks", blanks),
        ("points", points),
        ("rest", len(text) - letters - digits - blanks - points),
    ):
        yield f"characters-{name}={_share(count, len(text))}"
    yield f"word-length={_bin(round(letters / max(1, classes['letters'])))}"
    yield f"words-between-points={_bin(round(counted / (classes['punctuation'] + 1)))}"
    yield f"sentences={_bin(_sentences(text))}"
    yield f"sentence-begins={text[0].isupper()}"
    yield f"sentence-ends={_SENTENCE_END.search(text[-2:]) is not None}"
    for name, pattern in _PATTERNS.items():
        yield f"{name}={pattern.search(text) is not None}"


def _markup_features(block: TextBlock) -> Iterator[str]:
    """What the block stands in, what comes before it, how much of it is links."""
    for name, tags in _CLASSES.items():
        yield f"in-{name}={not tags.isdisjoint(block.containers)}"
    for marker in sorted(block.before):
        yield f"after-{marker}"
    yield f"links={_share(block.linked, block.words)}"


def _token_class(token: str) -> str:
    if token.isalpha():
        return "letters"
    if token.isdecimal():
        return "digits"
    if token.isalnum():
        return "mixed"
    return "punctuation" if _PUNCTUATION.issuperset(token) else "other"


def _sentences(text: str) -> int:
    return len(_SENTENCE_END.findall(text))


def _words_by(blocks: Sequence[TextBlock], group: str) -> Counter[int]:
    """Words of all blocks in each cell or division."""
    words: Counter[int] = Counter()
    for block in blocks:
        number: int = getattr(block, group)
        words[number] += block.words if number else 0
    return words


def _bin(count: int) -> int:
    return bisect_right(_COUNTS, count)


def _share(part: int, whole: int) -> int:
    return round(_SHARES * part / max(1, whole))
