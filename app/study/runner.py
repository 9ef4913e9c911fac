"""Run a system over the pages of a study: what is in the store is not run again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event

from ..systems.protocol import StudyPage, System
from ..systems.recorded import Recorded
from ..systems.registry import Spec
from .outputs import Output, Outputs
from .pages import Pages
from .worker import Worker

_STOPPED = Output("", 0.0, 0, "stopped")


@dataclass(frozen=True, slots=True)
class Runner:
    """What every system of a study is run with.

    workers: processes for each system, one system after the other.
    """

    pages: Pages
    outputs: Outputs
    workers: int = 1

    def run(self, spec: Spec, system: System, state: bytes | None) -> Iterator[tuple[str, Output]]:
        """Each page's id and output, as they come.

        A page that fails gives an output with its error. Raises StudyError where the system
        cannot be started at all.
        """
        idle: SimpleQueue[Worker | None] = SimpleQueue()
        for _ in range(1 if system.live else self.workers):
            idle.put(None)
        started: list[Worker] = []
        stopped = Event()

        def work(id: str) -> tuple[str, Output]:
            if isinstance(system, Recorded):
                return id, _recorded(system, id)
            loaded = self.pages.load(id, system)
            if loaded is None:
                return id, Output("", 0.0, 0, "the page could not be rendered")
            page, digest = loaded
            output = self.outputs.get(system.name, system.version, digest)
            if output is not None:
                return id, output
            worker = idle.get()
            try:
                if worker is None and not stopped.is_set():
                    worker = Worker(spec, state, system.deadline)
                    started.append(worker)
                if worker is None or stopped.is_set():
                    return id, _STOPPED
                output = worker.extract(page)
            finally:
                idle.put(worker)
            # A page that was stopped has not failed.
            if not stopped.is_set() and not (system.live and output.error):
                self.outputs.put(system.name, system.version, digest, output)
            return id, output

        try:
            # One thread more than processes: it reads the next page while they are busy.
            with ThreadPoolExecutor(self.workers + 1) as threads:
                futures = [threads.submit(work, id) for id in self.pages.ids]
                try:
                    for future in as_completed(futures):
                        yield future.result()
                finally:
                    stopped.set()
                    threads.shutdown(wait=False, cancel_futures=True)
                    for worker in started:
                        worker.kill()
        finally:
            for worker in started:
                worker.close()


def _recorded(system: Recorded, id: str) -> Output:
    try:
        text = system.extract(StudyPage(id, "", ""))
        return Output(text.encode("utf-8", "replace").decode(), 0.0, 0)
    except KeyError:
        return Output("", 0.0, 0, "no output is recorded")
