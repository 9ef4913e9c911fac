"""Get a browser: the one that is there, else a download, else the system's package."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ..render.browser import PATH_VARIABLE, BrowserKeeper, find_browser
from ..render.errors import BrowserError

Say = Callable[[str], None]

_SHELL = "chromium-headless-shell"  # by this name playwright and Debian know it
_PACKAGES = (_SHELL, "chromium")
_LIBRARY = "libatomic1"
_FONTS = ("fonts-liberation", "fonts-wqy-zenhei")
_SECONDS = 1800.0
_ADVICE = (
    "Install Chromium or Google Chrome with the system's package manager "
    f"(as root on Debian, `pagesight setup` does), or set {PATH_VARIABLE} to the path of one"
)


def setup(say: Say = print) -> Path:
    """Make sure that there is a browser that starts; its path.

    say: told in one line which browser it is, and beforehand of whatever takes long.
    Raises BrowserError, with what to do, where none can be had or the configured one is broken.
    """
    _mend_driver(say)
    failures = []
    for way, get in _WAYS.items():
        try:
            path = get(say)
            build, _ = try_browser()
        except BrowserError as error:
            if os.environ.get(PATH_VARIABLE):
                raise
            failures.append(f"{way}: {error}")
        else:
            _add_fonts(say)
            say(f"browser: {path} ({build}, {way})")
            return path
    raise BrowserError(f"no browser could be had ({'; '.join(failures)}). {_ADVICE}")


def try_browser() -> tuple[str, bool]:
    """Start the browser that is found: its build, and whether it is sandboxed.

    Raises BrowserError.
    """
    return asyncio.run(_launch())


async def _launch() -> tuple[str, bool]:
    keeper = BrowserKeeper()
    try:
        async with keeper.lease() as chromium:
            return chromium.version, chromium.sandboxed
    finally:
        await keeper.close()


def _mend_driver(say: Say) -> None:
    """Playwright brings a program that needs one library more than a bare Debian has."""
    failure = _playwright("--version")
    if failure and _has_apt():
        say("installing a library with apt-get")
        _apt_install(_LIBRARY)
        failure = _playwright("--version")
    if failure:
        raise BrowserError(f"playwright does not run ({failure}): is {_LIBRARY} installed?")


def _find(_: Say) -> Path:
    path = find_browser()
    if path is None:
        raise BrowserError("there is none")
    return path


def _download(say: Say) -> Path:
    say("no browser that starts is here: downloading Chromium")
    # A host that does not answer is asked five times; the default is half a minute each.
    failure = _playwright("install", _SHELL, PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT="5000")
    if failure:
        raise BrowserError(failure)
    path = _find(say)
    if _has_apt() and not _starts():
        say("installing the libraries that it needs")
        _playwright("install-deps", _SHELL)
    return path


def _starts() -> bool:
    try:
        try_browser()
    except BrowserError:
        return False
    return True


def _install(say: Say) -> Path:
    if not _has_apt():
        raise BrowserError("needs root, and apt-get")
    say("installing Chromium with apt-get")
    failures = []
    for package in _PACKAGES:
        failure = _apt_install(package)
        if not failure:
            return _find(say)
        failures.append(failure)
    raise BrowserError(", ".join(failures))


def _add_fonts(say: Say) -> None:
    """Fonts are worth a try, not a failure: only pages in Chinese, Japanese, Korean need them."""
    if _has_apt() and not _draws_chinese():
        say("installing fonts with apt-get")
        _apt_install(*_FONTS)


def _draws_chinese() -> bool:
    lister = shutil.which("fc-list")
    return lister is not None and bool(_run([lister, ":lang=zh", "file"]).stdout.strip())


def _has_apt() -> bool:
    return os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def _apt_install(*packages: str) -> str:
    """Install packages; why that failed, empty where it did not."""
    # Without package lists, or with old ones, the first try fails at once.
    if not _apt_get("install", *packages):
        return ""
    _apt_get("update")
    return _apt_get("install", *packages)


def _apt_get(*arguments: str) -> str:
    options = ["-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120"]
    done = _run(["apt-get", *options, *arguments], DEBIAN_FRONTEND="noninteractive")
    return _reason(done.stdout) if done.returncode else ""


def _playwright(*arguments: str, **environment: str) -> str:
    """Run playwright's command; why it failed, empty where it did not."""
    done = _run([sys.executable, "-m", "playwright", *arguments], **environment)
    return _reason(done.stdout) if done.returncode else ""


def _run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            env={**environment, **os.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BrowserError(f"{command[0]} took more than {_SECONDS:.0f} seconds") from error


def _reason(output: str) -> str:
    """The line of a command's output that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.partition(": ")[2] for line in lines if line.startswith(("E: ", "Error: "))]
    return next(iter(errors or lines[-1:]), "no reason given")


_WAYS: dict[str, Callable[[Say], Path]] = {
    "found on this machine": _find,
    "downloaded": _download,
    "installed by apt-get": _install,
}
