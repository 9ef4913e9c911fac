"""Body Text Extraction: the one span of a page that has many words and few tags.

A. Finn, N. Kushmerick, B. Smyth, "Fact or Fiction: Content Classification for Digital Libraries"
(DELOS workshop 2001): the page is a sequence of tags and words; the content lies between the two
places which maximise the words between them plus the tags outside of them.

Comments, and what is in scripts, styles and titles, are neither. J. Pomikálek's program, which
benchmarks run, cuts the page to what follows its last `<body>` and precedes the next `</body>`
first, so that it loses pages with several; here the whole source counts.
"""

from __future__ import annotations

import numpy as np

from .protocol import StudyPage, System
from .texts import join_words, source_pieces, split_words


class Bte(System):
    """Keeps the words of the best span; of equal spans the one that starts, then ends, first."""

    name = "bte"
    version = "1"

    def extract(self, page: StudyPage) -> str:
        """The words of the span, a line a block."""
        words = split_words(source_pieces(page.html))
        # [t] The tags outside are all tags less those inside: the sum to maximise is the span's
        # words less its tags.
        values = np.array([-1 if piece.tag else 1 for piece in words], np.int64)
        # [t + 1]
        sums = np.concatenate([[0], np.cumsum(values)])
        end = int(np.argmax(sums - np.minimum.accumulate(sums)))
        start = int(np.argmin(sums[: end + 1]))
        return join_words(words[start:end], [True] * (end - start))
