"""Systems that fail in every way a system can, for the tests of studies."""

import os
import signal
import sys
import time
from collections.abc import Sequence

from pagesight.app.systems.protocol import LearnedSystem, StudyPage, System, TrainingPage


class Moody(System):
    """Does what the page's text asks for."""

    name, version, deadline = "moody", "1", 2.0

    def extract(self, page: StudyPage) -> str:
        if "hang" in page.html:
            time.sleep(600)
        if "crash" in page.html:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "exit" in page.html:
            os._exit(3)
        if "raise" in page.html:
            raise ValueError("two\nlines")
        if "print" in page.html:
            print("noise")
            print("noise", file=sys.stderr)
        if "surrogate" in page.html:
            return "a\ud800b"
        if "deep" in page.html:
            return self.extract(page)
        return page.html.upper()


class NoStart(System):
    name, version = "no-start", "1"

    def __init__(self) -> None:
        if in_child():
            raise RuntimeError("no licence")

    def extract(self, page: StudyPage) -> str:
        return ""


class DiesAtStart(System):
    name, version = "dies", "1"

    def __init__(self) -> None:
        if in_child():
            os.kill(os.getpid(), signal.SIGKILL)

    def extract(self, page: StudyPage) -> str:
        return ""


class Pupil(LearnedSystem):
    """Learns how many pages there are."""

    name, version = "pupil", "1"

    def fit(self, pages: Sequence[TrainingPage]) -> bytes:
        if not pages:
            raise ValueError("nothing to learn from")
        return str(len(pages)).encode()

    def load(self, state: bytes) -> None:
        self.state = state

    def extract(self, page: StudyPage) -> str:
        return f"learned from {self.state.decode()}"


def in_child() -> bool:
    import multiprocessing

    return multiprocessing.parent_process() is not None
