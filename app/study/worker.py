"""One system in a process of its own: what crashes or hangs there costs one page."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from ...render.errors import PagesightError, StudyError
from ..systems.protocol import LearnedSystem, StudyPage, TrainingPage
from ..systems.registry import Spec, missing_package
from .outputs import Output
from .processes import end_with_parent, no_interrupts

# Making a system imports packages and loads weights.
START_SECONDS = 120.0

_SPAWN = multiprocessing.get_context("spawn")


class Worker:
    """Runs a system page by page; a process that ended is started again for the next page.

    state: what a LearnedSystem has learned.
    Raises StudyError where the system cannot be started.
    """

    def __init__(self, spec: Spec, state: bytes | None, deadline: float) -> None:
        self._spec, self._state, self._deadline = spec, state, deadline
        self._start()

    def extract(self, page: StudyPage) -> Output:
        """What the system makes of a page; whatever goes wrong is in the output's `error`."""
        begin = time.perf_counter()
        if not self._process.is_alive():
            try:
                self._start()
            except StudyError as failure:
                return Output("", time.perf_counter() - begin, 0, str(failure))
        try:
            self._pipe.send(page)
            if self._pipe.poll(self._deadline):
                output: Output = self._pipe.recv()
                return output
            error = f"no answer within {self._deadline:g} s"
        except (EOFError, OSError):
            error = ""
        self.close()
        return Output("", time.perf_counter() - begin, 0, error or self._last_words())

    def kill(self) -> None:
        """End the process, whatever it does; who waits for its answer gets none."""
        self._process.kill()

    def close(self) -> None:
        """End the process and free what it used."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _start(self) -> None:
        self._pipe, theirs = _SPAWN.Pipe()
        arguments = (theirs, self._spec, self._state)
        self._process = _SPAWN.Process(target=_serve, args=arguments, daemon=True)
        with no_interrupts():
            self._process.start()
        theirs.close()
        try:
            said = self._pipe.recv() if self._pipe.poll(START_SECONDS) else "it does not start"
        except (EOFError, OSError):
            self._process.join()
            said = self._last_words()
        if said:
            self.close()
            raise StudyError(f"{self._spec.name}: {said}")

    def _last_words(self) -> str:
        code = self._process.exitcode or 0
        return f"its process died of {signal.Signals(-code).name}" if code < 0 else "it gave up"


def learn(spec: Spec, pages: list[TrainingPage]) -> bytes:
    """What a LearnedSystem learns from pages, in a process of its own. Raises StudyError."""
    ours, theirs = _SPAWN.Pipe()
    process = _SPAWN.Process(target=_learn, args=(theirs, spec, pages), daemon=True)
    with no_interrupts():
        process.start()
    theirs.close()
    try:
        answer: bytes | str = ours.recv()
    except EOFError:
        raise StudyError(f"{spec.name}: its process died while it learned") from None
    finally:
        process.kill()
        process.join()
    if isinstance(answer, str):
        raise StudyError(f"{spec.name}: {answer}")
    return answer


def _serve(pipe: Connection, spec: Spec, state: bytes | None) -> None:
    _be_quiet()
    try:
        system = spec.make()
        if state is not None and isinstance(system, LearnedSystem):
            system.load(state)
    except Exception as failure:
        pipe.send(_one_line(failure))
        return
    with suppress(Exception):
        system.warm_up()
    pipe.send("")
    while True:
        try:
            page: StudyPage = pipe.recv()
        except EOFError:
            return
        begin, text, error = time.perf_counter(), "", ""
        try:
            text = system.extract(page)
        except Exception as failure:
            error = _one_line(failure)
        # What UTF-8 cannot write is no text.
        text = text.encode("utf-8", "replace").decode()
        pipe.send(Output(text, time.perf_counter() - begin, _peak_memory(), error))


def _learn(pipe: Connection, spec: Spec, pages: list[TrainingPage]) -> None:
    _be_quiet()
    try:
        system = spec.make()
        if not isinstance(system, LearnedSystem):
            raise TypeError("it does not learn")
        pipe.send(system.fit(pages))
    except Exception as failure:
        pipe.send(_one_line(failure))


def _be_quiet() -> None:
    """What systems print is no part of a study."""
    end_with_parent()
    null = os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(null, 1)
    os.dup2(null, 2)


def _one_line(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return missing_package(error)
    said = " ".join(str(error).split())[:300]
    if isinstance(error, PagesightError) and said:
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _peak_memory() -> int:
    """Bytes. `ru_maxrss` would count what the parent had in memory when it started this process."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
