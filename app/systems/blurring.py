"""Content code blurring: text where, all around, there is more text than code.

T. Gottron, "Content Code Blurring: A New Approach to Content Extraction" (DEXA 2008): the source
without comments, scripts and styles is a vector with 1 for text and 0 for code. It is blurred, as
a picture is, with a Gaussian over each place's surroundings; what stays above a threshold is
content. ACCB leaves out the tags of links, which part no text; TCCB has an entry for each tag and
word instead of one for each character.

The paper blurs again and again with a narrow Gaussian. Variances add up, so that one pass with a
wide one does the same. Its width here is not known to be the paper's: it is that of a public
program of the token variant, for the characters too.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from .protocol import StudyPage, System
from .texts import join_words, source_pieces, split_words

THRESHOLD = 0.75
WIDTH = 30.0
"""Standard deviation of the Gaussian, in entries of the vector."""


class CodeBlurring(System):
    """CCB; with `tokens` TCCB; without `links` the tags of links are no code, as in ACCB."""

    version = "1"

    def __init__(self, *, tokens: bool = False, links: bool = True):
        self.name = ("" if links else "a") + ("tccb" if tokens else "ccb")
        self._tokens = tokens
        self._links = links

    def extract(self, page: StudyPage) -> str:
        """The words whose surroundings are text, a line a block."""
        pieces = source_pieces(page.html)
        words = split_words(piece for piece in pieces if self._links or piece.tag != "a")
        if not words:
            return ""
        # [t] whether it is a word
        is_word = np.array([not piece.tag for piece in words], np.bool_)
        sizes = [1 if self._tokens else len(piece.text) for piece in words]
        lengths = np.array(sizes, np.int64)
        # [entries]
        vector = np.repeat(is_word.astype(np.float64), lengths)
        blurred = gaussian_filter1d(vector, WIDTH, mode="nearest")
        # [t] Words stay whole: their mean decides.
        means = np.add.reduceat(blurred, np.cumsum(lengths) - lengths) / lengths
        return join_words(words, (means > THRESHOLD).tolist())
