"""What systems gave for pages, kept at once: a study that was interrupted goes on."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from ...render.errors import StudyError
from ...render.store import cache_folder

_TABLES = """
CREATE TABLE IF NOT EXISTS outputs (
    system TEXT, version TEXT, page TEXT, text TEXT, seconds REAL, memory INTEGER, error TEXT,
    PRIMARY KEY (system, version, page)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, columns TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS states (
    system TEXT, version TEXT, state BLOB, PRIMARY KEY (system, version)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Output:
    """What a system gave for one page.

    seconds: wall time of the extraction alone. memory: peak of the system's process so far, in
    bytes. error: why there is no text, "" where the system came to an end.
    """

    text: str
    seconds: float
    memory: int
    error: str = ""


class Outputs:
    """The store of outputs, by system, version and a digest of what the system was given.

    Safe in threads and between processes: each output is written in a transaction of its own.
    All of it raises StudyError where the file cannot be read or written.
    """

    def __init__(self, root: Path | None = None) -> None:
        path = (root or cache_folder()) / "outputs.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, timeout=60, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_TABLES)
        except sqlite3.Error as error:
            broken = isinstance(error, sqlite3.OperationalError)
            advice = "" if broken else "; remove the file to begin anew"
            raise StudyError(f"{path}: {error}{advice}") from error
        self._path = path

    def get(self, system: str, version: str, page: str) -> Output | None:
        """An output, None where there is none yet."""
        row = self._fetch(
            "SELECT text, seconds, memory, error FROM outputs "
            "WHERE system = ? AND version = ? AND page = ?",
            (system, version, page),
        )
        return Output(*row) if row else None

    def put(self, system: str, version: str, page: str, output: Output) -> None:
        """Keep an output."""
        self._write(
            "INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?)",
            (system, version, page, *astuple(output)),
        )

    def state(self, system: str, version: str, learn: Callable[[], bytes]) -> bytes:
        """What a system has learned; it learns if it has not yet."""
        query = "SELECT state FROM states WHERE system = ? AND version = ?"
        row = self._fetch(query, (system, version))
        if row is not None:
            return bytes(row[0])
        state = learn()
        self._write("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", (system, version, state))
        return state

    def scores(self, key: str) -> tuple[float, ...] | None:
        """Scores that were kept, None where there are none yet."""
        row = self._fetch("SELECT columns FROM scores WHERE key = ?", (key,))
        return tuple(map(float, row[0].split())) if row else None

    def keep_scores(self, key: str, columns: tuple[float, ...]) -> None:
        """Keep the columns of a page."""
        text = " ".join(map(repr, columns))
        self._write("INSERT OR REPLACE INTO scores VALUES (?, ?)", (key, text))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _fetch(self, query: str, values: tuple[object, ...]) -> tuple[Any, ...] | None:
        try:
            with self._lock:
                row: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        except sqlite3.Error as error:
            raise StudyError(f"{self._path}: {error}") from error
        return row

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            with self._lock, self._connection:
                self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise StudyError(f"{self._path}: {error}") from error
