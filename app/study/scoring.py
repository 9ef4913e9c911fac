"""Scores of texts, in processes of their own while the next system runs, each computed once."""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ...render.errors import StudyError
from ..code_digest import code_digest
from .outputs import Outputs
from .processes import end_with_parent, no_interrupts
from .scores import FAMILIES, Family, Reference, families_of

Float64 = npt.NDArray[np.float64]
# A page's columns, by family.
PageScores = dict[str, tuple[float, ...]]

_CHUNK = 8


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """The scores of one system on their way."""

    families: Sequence[Family]
    found: list[PageScores]
    awaited: Sequence[tuple[Sequence[int], Future[list[PageScores]]]]

    def columns(self) -> Mapping[str, Float64]:
        """By family, [p, k]; waits for what is not there yet. Raises StudyError."""
        try:
            for places, future in self.awaited:
                for place, scores in zip(places, future.result(), strict=True):
                    self.found[place] |= scores
        except BrokenProcessPool as error:
            raise StudyError("a process that scores texts died: is memory short?") from error
        return {
            family.name: np.array([page[family.name] for page in self.found], np.float64)
            for family in self.families
        }


class Scorer:
    """Scores texts against the references of their pages.

    metrics: what is to be computed. store: keeps scores by a digest of what was scored and of the
    code that scores. Use it as a context.
    """

    def __init__(
        self, references: Sequence[Reference], metrics: Sequence[str], store: Outputs, workers: int
    ) -> None:
        self._families, self._store = families_of(metrics), store
        self._digests = [reference.digest() for reference in references]
        self._pool = ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(references,),
        )

    def start(self, texts: Sequence[str | None]) -> Scoring:
        """Begin to score the texts of all pages, in the order of the references.

        None is for a page on which the system failed.
        """
        keys = [self._keys(place, text) for place, text in enumerate(texts)]
        found = [self._stored(of_page) for of_page in keys]
        missing = [place for place, scores in enumerate(found) if len(scores) < len(keys[place])]
        awaited = []
        for start in range(0, len(missing), _CHUNK):
            places = missing[start : start + _CHUNK]
            tasks = [
                (place, texts[place], [name for name in keys[place] if name not in found[place]])
                for place in places
            ]
            with no_interrupts():
                future = self._pool.submit(_score, tasks)
            future.add_done_callback(partial(self._keep, places, keys))
            awaited.append((places, future))
        return Scoring(self._families, found, awaited)

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _keys(self, place: int, text: str | None) -> dict[str, str]:
        """The key of a page's scores by each family."""
        code = code_digest("train/*.py", "app/study/scores.py")
        scored = f"{code}\0{self._digests[place]}\0{text!r}".encode("utf-8", "replace")
        digest = hashlib.sha256(scored).hexdigest()
        return {family.name: f"{family.name}:{digest}" for family in self._families}

    def _stored(self, keys: Mapping[str, str]) -> PageScores:
        stored = {name: self._store.scores(key) for name, key in keys.items()}
        return {name: scores for name, scores in stored.items() if scores is not None}

    def _keep(
        self,
        places: Sequence[int],
        keys: Sequence[Mapping[str, str]],
        done: Future[list[PageScores]],
    ) -> None:
        if not done.cancelled() and done.exception() is None:
            # A full disk costs only that they must be computed again.
            with suppress(StudyError):
                for place, scores in zip(places, done.result(), strict=True):
                    for name, columns in scores.items():
                        self._store.keep_scores(keys[place][name], columns)


_references: Sequence[Reference] = ()


def _begin(references: Sequence[Reference]) -> None:
    """In each process of the pool: what is scored against is sent there once."""
    global _references
    _references = references
    end_with_parent()


def _score(tasks: Sequence[tuple[int, str | None, Sequence[str]]]) -> list[PageScores]:
    return [
        {
            family.name: tuple(map(float, family.page(text, _references[place])))
            for family in FAMILIES
            if family.name in names
        }
        for place, text, names in tasks
    ]
