"""Which browser is taken, how one is got, and what the doctor says of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pagesight.app.doctor import run_checks
from pagesight.app.setup import setup, try_browser
from pagesight.render.browser import find_browser
from pagesight.render.errors import BrowserError

NEED_BROWSER = ("browser", "rendering", "fonts")


@pytest.fixture
def real_browser() -> Path:
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium on this machine")
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no browser, no apt-get and no network; the one folder of its PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "downloads"))
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", "http://127.0.0.1:9")
    monkeypatch.delenv("PAGESIGHT_BROWSER", raising=False)
    return folder


def program(path: Path, script: str = "exit 1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_nothing_is_found_on_a_bare_machine(bare: Path) -> None:
    assert find_browser() is None


def test_a_headless_shell_goes_before_a_download_before_a_full_browser(
    bare: Path, tmp_path: Path
) -> None:
    full = program(bare / "chromium")
    assert find_browser() == full
    shell = "chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell"
    download = program(tmp_path / "downloads" / shell)
    assert find_browser() == download
    packaged = program(bare / "chromium-headless-shell")
    assert find_browser() == packaged


def test_the_configured_browser_goes_before_all(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bare / "chromium-headless-shell")
    own = program(tmp_path / "own browser")
    monkeypatch.setenv("PAGESIGHT_BROWSER", str(own))
    assert find_browser() == own


def test_a_configured_browser_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGESIGHT_BROWSER", str(tmp_path / "nothing"))
    with pytest.raises(BrowserError, match="no such file"):
        find_browser()
    with pytest.raises(BrowserError, match="no such file"):
        setup()


def test_a_configured_browser_must_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGESIGHT_BROWSER", str(program(tmp_path / "broken")))
    with pytest.raises(BrowserError, match="broken: does not start"):
        setup()


def test_setup_takes_the_browser_that_is_there(real_browser: Path) -> None:
    said: list[str] = []
    assert setup(said.append) == real_browser
    build, _ = try_browser()
    assert said[-1].startswith(f"browser: {real_browser} ({build}, ")


def test_setup_says_what_was_tried_and_what_to_do(bare: Path) -> None:
    with pytest.raises(BrowserError) as failure:
        setup(lambda _: None)
    message = str(failure.value)
    assert "\n" not in message
    for part in ("there is none", "downloaded: ", "apt-get: needs root", "PAGESIGHT_BROWSER"):
        assert part in message


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is for root")
def test_setup_goes_from_a_failed_download_on_to_apt(
    real_browser: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")  # the test above waits for one
    log, target = bare / "log", bare / "chromium"
    link = f'exec /bin/ln -s "{real_browser}" "{target}"'
    script = f"""echo "$@" >> "{log}"
        case "$*" in
            *"install chromium-headless-shell") echo "E: Unable to locate package"; exit 100;;
            *"install chromium") {link};;
        esac"""
    program(bare / "apt-get", script)
    said: list[str] = []
    assert setup(said.append) == target
    assert "installed by apt-get" in said[-1]
    assert "install fonts-liberation" in log.read_text()


def test_doctor_finds_this_machine_well(real_browser: Path) -> None:
    checks = run_checks()
    assert [check.name for check in checks if check.name in NEED_BROWSER] == [*NEED_BROWSER]
    assert not [check for check in checks if not check.ok]
    assert not [check for check in checks if "\n" in check.detail]


def test_doctor_names_all_that_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGESIGHT_BROWSER", str(program(tmp_path / "broken")))
    monkeypatch.setenv("PAGESIGHT_CACHE", str(tmp_path / "broken"))
    broken = {check.name: check.detail for check in run_checks() if not check.ok}
    assert list(broken) == [*NEED_BROWSER, "cache"]
    assert all("does not start" in broken[name] for name in NEED_BROWSER)


def test_doctor_sees_that_chinese_is_not_drawn(
    real_browser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FONTCONFIG_FILE", str(latin_fonts_only(tmp_path)))
    checks = {check.name: check.ok for check in run_checks()}
    assert checks["rendering"]
    assert not checks["fonts"]


def latin_fonts_only(folder: Path) -> Path:
    """A configuration of fontconfig with one font, which has no ideographs."""
    lister = shutil.which("fc-list")
    if lister is None:
        pytest.skip("no fontconfig on this machine")
    latin, chinese = (font_files(lister, f":lang={language}") for language in ("en", "zh"))
    if not latin - chinese:
        pytest.skip("no Latin font on this machine")
    (folder / "fonts").mkdir()
    shutil.copy(min(latin - chinese), folder / "fonts")
    configuration = folder / "fonts.conf"
    configuration.write_text(
        f"<?xml version='1.0'?><fontconfig><dir>{folder}/fonts</dir>"
        f"<cachedir>{folder}/cache</cachedir></fontconfig>"
    )
    return configuration


def font_files(lister: str, pattern: str) -> set[str]:
    command = [lister, "--format", "%{file}\n", pattern]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
