"""A progress bar on stderr, where there is a person to see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def track(what: str, total: int) -> Iterator[Callable[..., None]]:
    """Yields a function that goes one step on, or to the step that it is given."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(what, total=total)

        def advance(step: int | None = None) -> None:
            if step is None:
                progress.advance(task)
            else:
                progress.update(task, completed=step)

        yield advance
