"""ContentExtractor: blocks that few pages of a site have are its content.

Debnath, Mitra, Pal, Giles: Automatic Identification of Informative Sections of Web Pages (IEEE
TKDE 17(9), 2005). The inverse block document frequency (IBDF) of a block falls with the number of
the site's pages that hold a similar block; two blocks are similar if the cosine of their feature
vectors is above a threshold. Here the features are the words of a block alone, not the paper's
counts of images, scripts and the like, and the blocks are those of `blocks`, finer than the
paper's tables and lists.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from .blocks import TextBlock, joined, word_list
from .protocol import StudyPage, System
from .sitewise import CACHED_PAGES, SIBLINGS, others_of, page_blocks

# Cosine from which on two blocks are the same. The paper leaves it to the use that is made of it.
SIMILAR = 0.9
# Sums of floats may miss a cosine by so much.
_ROUNDING = 1e-9
# A block of a lower IBDF is template: one other page with a similar block is enough, as it must be
# where a site gives two pages, the fewest that the paper asks for.
LEAST_IBDF = 1.0
# Blocks of one page that are looked at for one block of another: bounds the work on a page of
# thousands of blocks with the same few words. They are looked at in the order of the page.
MOST_CANDIDATES = 1000

# The share of each word in a block, as a vector of length 1.
_Vector: TypeAlias = Mapping[str, float]


class BlockFrequency(System):
    """The blocks of a page whose IBDF over the site's pages is high; blocks without words go.

    Siblings that are copies of the page, or empty, say nothing and are passed over; with none
    left, all text that can be seen on the page is kept.
    """

    name = "block-frequency"
    version = "1"
    siblings = SIBLINGS

    def extract(self, page: StudyPage) -> str:
        """The blocks that no sibling has in a similar form."""
        others = [_index(sibling) for sibling in others_of(page)]
        vectors = {block.text: _vector(block) for block in page_blocks(page.html) if block.words}
        kept = {
            text
            for text, vector in vectors.items()
            if inverse_frequency(sum(other.has(vector) for other in others)) >= LEAST_IBDF
        }
        return joined([block for block in page_blocks(page.html) if block.text in kept])


def inverse_frequency(pages: int) -> float:
    """IBDF of a block that `pages` other pages hold in a similar form (section 5.1)."""
    return 1 / (pages + 1)


class _Index:
    """The blocks of one page, found by their words."""

    def __init__(self, blocks: tuple[TextBlock, ...]):
        by_text = {block.text: _vector(block) for block in blocks if block.words}
        self._vectors = list(by_text.values())
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, vector in enumerate(self._vectors):
            for word in vector:
                self._places[word].append(place)

    def has(self, vector: _Vector) -> bool:
        """Whether a block of the page is similar to this one."""
        return any(
            sum(share * other.get(word, 0.0) for word, share in vector.items())
            >= SIMILAR - _ROUNDING
            for other in self._candidates(vector)
        )

    def _candidates(self, vector: _Vector) -> Iterator[_Vector]:
        """All blocks that can be similar: they share one of the block's rarest words.

        Without those, what is left of the vector is too short for its cosine with any other.
        """
        rarest_first = sorted(vector, key=lambda word: (len(self._places.get(word, ())), word))
        left, seen = 1.0, set[int]()
        for word in rarest_first:
            if math.sqrt(max(left, 0.0)) < SIMILAR - _ROUNDING or len(seen) >= MOST_CANDIDATES:
                return
            left -= vector[word] ** 2
            for place in self._places.get(word, ())[:MOST_CANDIDATES]:
                if place not in seen:
                    seen.add(place)
                    yield self._vectors[place]


@lru_cache(CACHED_PAGES)
def _index(html: str) -> _Index:
    return _Index(page_blocks(html))


def _vector(block: TextBlock) -> _Vector:
    counts = Counter(word_list(block.text))
    length = math.sqrt(sum(count * count for count in counts.values()))
    return {word: count / length for word, count in counts.items()}
