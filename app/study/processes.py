"""Processes that end with the study that started them, and leave interrupts to it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_interrupts() -> Iterator[None]:
    """A process that is started within never sees SIGINT: Ctrl-C reaches the whole group."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """End this process as soon as the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait, args=(parent,), daemon=True).start()


def _wait(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
