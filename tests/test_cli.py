"""The command line as a user runs it: a process, its output, its exit code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Server
from support import run

SAMPLES = Path(__file__).parent.parent / "data" / "samples"
ARTICLE = str(SAMPLES / "article.html")


def test_text_markdown_html_and_json() -> None:
    text = run("extract", ARTICLE, "--no-render")
    assert (text.returncode, text.stderr) == (0, "")
    # The title is metadata; what the page says begins below it.
    assert text.stdout.startswith("Water does not flow uphill, and yet")
    markdown = run("extract", ARTICLE, "--no-render", "-f", "markdown")
    assert markdown.stdout.startswith("Water does not flow uphill, and yet")
    assert "\n## The chamber\n" in markdown.stdout
    html = run("extract", ARTICLE, "--no-render", "-f", "html")
    assert "<h2>The chamber</h2>" in html.stdout
    record = json.loads(run("extract", ARTICLE, "--no-render", "-f", "json").stdout)
    assert record["status"] == "ok"
    assert record["text"] == text.stdout.removesuffix("\n")
    block = record["blocks"][0]
    keys = {"id", "text", "label", "probability", "role", "bbox", "xpath", "frame", "reason"}
    assert set(block) == keys


def test_rendered_json_has_boxes() -> None:
    record = json.loads(run("extract", ARTICLE, "-f", "json").stdout)
    assert record["status"] == "ok"
    heading = next(b for b in record["blocks"] if b["text"] == "How a canal lock lifts a boat")
    left, top, width, height = heading["bbox"]
    assert width > 100
    assert 0 <= left < 1280
    assert 0 <= top < 800
    assert height > 10


def test_snapshot_gives_byte_for_byte_the_same(tmp_path: Path) -> None:
    saved = str(tmp_path / "x.snapshot")
    assert run("render", ARTICLE, "-o", saved).returncode == 0
    for form in ("text", "json"):
        # No browser is needed any more.
        again = run("extract", saved, "-f", form, PAGESIGHT_BROWSER="/nowhere")
        assert again.returncode == 0
        assert again.stdout == run("extract", ARTICLE, "-f", form).stdout


def test_standard_input_and_output_file(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    done = run("extract", "-", "--no-render", "-o", str(target), stdin=Path(ARTICLE).read_bytes())
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_text().startswith("Water does not flow uphill")


def test_folders_and_lists(tmp_path: Path) -> None:
    for name in ("b.html", "a.htm", "notes.txt"):
        (tmp_path / name).write_text(Path(ARTICLE).read_text())
    done = run("extract", str(tmp_path), "--no-render", "-f", "json")
    urls = [json.loads(line)["url"] for line in done.stdout.splitlines()]
    assert urls == [str(tmp_path / "a.htm"), str(tmp_path / "b.html")]
    (tmp_path / "list").write_text(f"{tmp_path / 'b.html'}\n\n{tmp_path / 'gone.html'}\n")
    done = run("extract", "-i", str(tmp_path / "list"), "--no-render", "-f", "json")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["status"] for record in records] == ["ok", "error"]
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "gone.html" in done.stderr
    assert run("extract", "--input-dir", str(tmp_path), "--no-render").stdout.count("==>") == 2


def test_with_metadata() -> None:
    done = run("extract", ARTICLE, "--no-render", "--with-metadata")
    assert done.stdout.startswith('---\ntitle: "How a canal lock lifts a boat"\n')


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("extract",), 2, "nothing to extract"),
        (("extract", "x", "--format", "docx"), 2, "docx"),
        (("extract", "x", "--precision", "--recall"), 2, "exclude"),
        (("extract", ARTICLE, "--no-render", "--policy", "all"), 1, "no policy 'all'"),
        (("train", "--dataset", "x", "-o", "z.onnx", "--also", "y"), 2, "--also y: POLICY="),
        (("train", "--dataset", "x", "-o", "z.onnx", "--also", "=y:z"), 2, "--also =y:z: POLICY="),
        (("train", "--dataset", "x", "-o", "z.onnx", "--also", "a=y"), 2, "--also a=y: POLICY="),
        (("extract", "x", "--nonsense"), 2, "nonsense"),
        (("extract", "x", "--timeout", "0"), 2, "timeout"),
        (("explain", "x", "-o", "x.gif"), 2, ".png"),
        (("extract", "missing.html"), 1, "no such file"),
        (("extract", "https://no-such-host.invalid/"), 1, "no such host"),
        (("extract", "-"), 1, "no content"),
        (("extract", "-", "--no-render", "--model", "none.onnx"), 1, "no such model"),
        (("render", "missing.html", "-o", "x.snapshot"), 1, "no such file"),
        (("render", ARTICLE, "-o", "/no/such/folder/x.snapshot"), 1, "No such file"),
        (("evaluate", "--dataset", "nothing"), 1, "nothing"),
        (("evaluate", "--dataset", "wcxb", "--data", "/no/such"), 1, "/no/such"),
        (("train", "--dataset", "x", "--split", "y", "-o", "z.onnx"), 1, "x"),
        (
            ("train", "--dataset", "x", "--split", "y", "-o", "z.onnx", "--device", "abacus"),
            1,
            "abacus",
        ),
    ],
)
def test_bad_input(arguments: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.html", b"", "empty"),
        ("paper.html", b"%PDF-1.7", "unsupported"),
        ("binary.html", bytes(range(256)), "unsupported"),
        ("damaged.snapshot", b"PK\x03\x04 no zip", "damaged"),
        ("damaged.html.gz", b"\x1f\x8b\x08\x00 no gzip", "damaged"),
    ],
)
def test_bad_files(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    done = run("extract", str(tmp_path / name), "--no-render")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_interrupt_ends_it_quietly(server: Server) -> None:
    url = server.add("/slow", "<p>late", delay=15)
    command = [sys.executable, "-m", "pagesight", "extract", url, "--allow-private"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while not server.requests and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors


def test_explain_writes_a_page_and_a_picture(tmp_path: Path) -> None:
    for name in ("x.html", "x.png"):
        assert run("explain", ARTICLE, "-o", str(tmp_path / name)).returncode == 0
    assert "How a canal lock lifts a boat" in (tmp_path / "x.html").read_text()
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_version() -> None:
    assert run("--version").stdout.startswith("pagesight 0.")
