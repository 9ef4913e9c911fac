"""How well pages are found by what was extracted of them: known-item search.

After the second experiment of Web2Text (Vogels, Ganea and Eickhoff, ECIR 2018), at the size of
a data set: all texts of one system are indexed, and a query made from the gold of a page
should bring that page to the top. What a system lost cannot be found, what it kept too much draws
other queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from ...data.records import PageRecord
from .bootstrap import Float64, Statistic, share

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009);
# the values that search engines ship with.
K1 = 1.2
B = 0.75

MU = 2000
"""Words of the collection that each text is smoothed with (Zhai and Lafferty 2001)."""

DEPTH = 10

COLUMNS = ("bm25_reciprocal", "bm25_hits", "ql_reciprocal", "ql_hits", "queries")

RETRIEVAL: Mapping[str, Statistic] = {
    "bm25_mrr": share(0, 4),
    "bm25_recall10": share(1, 4),
    "ql_mrr": share(2, 4),
    "ql_recall10": share(3, 4),
}
"""Means over queries: of the reciprocal rank, and of being among the first ten."""

# Scores so near are equal but for rounding.
_EQUAL = 1e-9

_BATCH = 1000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Query:
    """Words to search by, one at least, and the id of the page that they were taken from."""

    page: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Ranker:
    """A text's score for a query: the sum of its weights over the query's words.

    weights: [pages, words], of the words that are in the text. prior: [pages], for each word of
        the query, in the text or not.
    """

    weights: csr_array
    prior: Float64

    def scores(self, asked: csr_array) -> Float64:
        """Scores [queries, pages] for counts of words [queries, words]."""
        matched: Float64 = (asked @ self.weights.T).toarray()
        return matched + asked.sum(axis=1)[:, None] * self.prior


def queries_of(record: PageRecord) -> tuple[Query, ...]:
    """The queries of one page: its title, or else the gold's first line, and its snippets.

    What has no words makes no query.
    """
    lines = (record.title or "", *(record.gold or "").splitlines())
    title = next(filter(_WORD.search, lines), "")
    texts = dict.fromkeys((title, *record.with_snippets))
    return tuple(Query(record.id, text) for text in texts if _WORD.search(text))


def retrieval_columns(texts: Mapping[str, str], queries: Sequence[Query]) -> Float64:
    r"""Columns [pages, 5] for `Bootstrap` and `RETRIEVAL`, the pages in the order of `texts`.

    The queries of a page are summed, since they must be drawn together. Words are `\w+` of the
    lower-cased texts; a word that no text has is left out of its query. A tie gives the worst
    rank, so that a page found by no word of its query is last. Raises KeyError for a query of a
    page that has no text.
    """
    columns = np.zeros((len(texts), len(COLUMNS)))
    if not queries:
        return columns
    rows = {page: row for row, page in enumerate(texts)}
    owners = np.array([rows[query.page] for query in queries])
    np.add.at(columns[:, 4], owners, 1)
    counts, asked = _count(texts.values(), [query.text for query in queries])
    lengths = np.array([len(_words(text)) for text in texts.values()], np.float64)
    for first, ranker in ((0, bm25(counts, lengths)), (2, likelihood(counts, lengths))):
        ranks = _ranks(ranker, asked, owners)
        np.add.at(columns[:, first], owners, 1 / ranks)
        np.add.at(columns[:, first + 1], owners, ranks <= DEPTH)
    return columns


def bm25(counts: csr_array, lengths: Float64) -> Ranker:
    """BM25 over texts of these lengths [pages] with these counts of words [pages, words].

    With log(1 + ...) in a word's weight, so that one in most texts counts little, not less than
    nothing. Every word is in some text.
    """
    found = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log1p((len(lengths) - found + 0.5) / (found + 0.5))
    # [n] over the n counts that are not 0: the length of their text in mean lengths
    size = (lengths / (lengths.mean() or 1.0))[_rows(counts)]
    saturated = counts.data * (K1 + 1) / (counts.data + K1 * (1 - B + B * size))
    return Ranker(_like(counts, rarity[counts.indices] * saturated), np.zeros(len(lengths)))


def likelihood(counts: csr_array, lengths: Float64) -> Ranker:
    """Query likelihood with Dirichlet smoothing, arguments as for `bm25`.

    The logarithm, less the part that is the same for all texts.
    """
    common = counts.sum(axis=0) / (lengths.sum() or 1.0)
    weights = np.log1p(counts.data / (MU * common[counts.indices]))
    return Ranker(_like(counts, weights), np.log(MU / (MU + lengths)))


def _count(texts: Iterable[str], queries: Sequence[str]) -> tuple[csr_array, csr_array]:
    """How often the words of queries are in texts [pages, words] and queries [queries, words]."""
    vocabulary = sorted({word for query in queries for word in _words(query)})
    counter = CountVectorizer(vocabulary=vocabulary, token_pattern=_WORD.pattern)
    counts = csr_array(counter.transform(texts), dtype=np.float64)
    asked = csr_array(counter.transform(queries), dtype=np.float64)
    seen = np.flatnonzero(counts.sum(axis=0))
    return counts[:, seen], asked[:, seen]


def _ranks(ranker: Ranker, asked: csr_array, owners: npt.NDArray[np.int64]) -> Float64:
    """The rank [queries] of each query's own page, 1 for the first, the last of equals."""
    ranks = []
    for start in range(0, len(owners), _BATCH):
        own = owners[start : start + _BATCH]
        scores = ranker.scores(asked[start : start + _BATCH])
        least = scores[np.arange(len(own)), own] - _EQUAL
        ranks.append((scores > least[:, None]).sum(axis=1))
    return np.concatenate(ranks).astype(np.float64)


def _rows(counts: csr_array) -> npt.NDArray[np.int64]:
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def _like(counts: csr_array, data: Float64) -> csr_array:
    return csr_array((data, counts.indices, counts.indptr), counts.shape)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
