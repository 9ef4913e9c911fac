"""What several test modules use."""

from __future__ import annotations

import os
import subprocess
import sys


def run(
    *arguments: str, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `pagesight` as a user does, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "pagesight", *arguments],
        input=stdin,
        capture_output=True,
        env=os.environ | environment,
        timeout=400,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
