"""Progress of long work on stderr: a bar for a person, a line every tenth for a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[], None]


@contextmanager
def track(what: str, total: int) -> Iterator[Advance]:
    """Yields a function that goes one step on."""
    with _bar(what, total) if sys.stderr.isatty() else _lines(what, total) as advance:
        yield advance


@contextmanager
def _bar(what: str, total: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), *columns, console=console) as progress:
        task = progress.add_task(escape(what), total=total)
        yield lambda: progress.advance(task)


@contextmanager
def _lines(what: str, total: int) -> Iterator[Advance]:
    done, tenth = 0, max(total // 10, 1)

    def advance() -> None:
        nonlocal done
        done += 1
        if done % tenth == 0 or done == total:
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)

    yield advance
