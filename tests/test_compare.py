"""The command `compare`, as people use it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import run

from pagesight.app.comparison import as_json
from pagesight.app.study.compare import compare
from pagesight.app.study.study import Request
from pagesight.data.datasets import open_dataset
from pagesight.render.browser import find_browser
from pagesight.render.errors import StudyError
from pagesight.train.metrics import rouge_lsum, word_f1

PARAGRAPH = "The {} stands at the end of the street, and nobody knows who built it or why. "
MENU = "<ul class=menu>" + "".join(f"<li><a href=/{i}>Entry {i}</a>" for i in range(9)) + "</ul>"
THINGS = ("mill", "tower", "bridge", "well", "gate", "barn")
OWN = ("--systems", "all-text,bte,crunch")


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six pages of one's own with gold; outputs go into a store of their own."""
    monkeypatch.setenv("PAGESIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PAGESIGHT_DATA", raising=False)
    root = tmp_path / "pages"
    root.mkdir()
    for number, thing in enumerate(THINGS):
        text = PARAGRAPH.format(thing) * (number + 2)
        html = f"<title>{thing}</title>{MENU}<h1>The {thing}</h1><p>{text}</p>"
        (root / f"{thing}.html").write_text(f"{html}<div>Copyright {number}</div>")
        (root / f"{thing}.txt").write_text(f"The {thing}\n{text}\n")
    return root


def figures(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def request(root: Path, *systems: str, **more: Any) -> Request:
    return Request(str(root), None, "all", systems, **more)


def test_a_study_of_ones_own_pages(study: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "out.json", tmp_path / "report"
    done = run(
        "compare", "--dataset", str(study), *OWN, "--json", str(out), "--report", str(report)
    )
    assert done.returncode == 0, done.stderr
    assert "6 pages, raw input" in done.stdout
    found = figures(out)
    assert found["pages"] == 6
    assert list(found["systems"]) == ["all-text", "bte", "crunch"]
    for system in found["systems"].values():
        for metric in ("word_f1", "rouge_lsum"):
            assert system[metric]["low"] <= system[metric]["mean"] <= system[metric]["high"]
        assert system["errors"] == 0
        assert 0 < system["seconds_per_page"] < 5
    html = (report / "index.html").read_text()
    assert all(name in html for name in ("all-text", "bte", "crunch"))


def test_the_figures_are_those_of_the_metrics(study: Path) -> None:
    finding = compare(request(study, "all-text", "bte"))
    dataset = open_dataset(str(study))
    gold = {id: dataset.load(id).gold or "" for id in dataset.ids()}
    for system, run_ in zip(finding.result.systems, finding.runs, strict=True):
        for metric, of in (("word_f1", word_f1), ("rouge_lsum", rouge_lsum)):
            scores = [of(run_.text(id), text) for id, text in gold.items()]
            assert system.figures[metric].mean == pytest.approx(sum(scores) / 6)
    assert finding.result.pairs == ()  # six pages tell nothing apart


def test_differences_are_of_the_same_pages(study: Path) -> None:
    for number in range(20):
        text = PARAGRAPH.format("lane") * (number + 2)
        (study / f"lane{number}.html").write_text(f"{MENU}<p>{text}</p>")
        (study / f"lane{number}.txt").write_text(text)
    result = compare(request(study, "all-text", "bte")).result
    (pair,) = [pair for pair in result.pairs if pair.metric == "word_f1"]
    first, second = (system.figures["word_f1"].mean for system in result.systems)
    assert pair.difference.mean == pytest.approx(first - second)
    # The menu is what all-text has too much, on every page.
    assert pair.difference.high < 0
    assert pair.told_apart


def test_a_second_run_takes_what_is_there_and_says_the_same(study: Path, tmp_path: Path) -> None:
    files = [tmp_path / "1.json", tmp_path / "2.json"]
    for path in files:
        run("compare", "--dataset", str(study), *OWN, "--json", str(path))
    assert files[0].read_bytes() == files[1].read_bytes()  # times too: nothing ran again


def test_an_interrupted_run_goes_on_to_the_same_result(study: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.json", tmp_path / "cut.json"
    command = ("compare", "--dataset", str(study), "--systems", "all-text,bte,cetd,crunch")
    run(*command, "--json", str(whole), PAGESIGHT_CACHE=str(tmp_path / "other"))
    for how in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen(
            [sys.executable, "-m", "pagesight", *command, "--json", str(cut)],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(("all-text: 3", "bte: 3")):
                break
        process.send_signal(how)
        assert process.wait(20) in (130, -signal.SIGINT, -signal.SIGKILL)
        process.stderr.close()
        assert not cut.exists()
    run(*command, "--json", str(cut))
    assert without_costs(figures(cut)) == without_costs(figures(whole))


def without_costs(study: dict[str, Any]) -> dict[str, Any]:
    for system in study["systems"].values():
        del system["seconds_per_page"], system["peak_bytes"]
    return study


@pytest.mark.parametrize("moment", ["all-text: 1", "crunch: 6", "scoring: 1"])
def test_no_process_outlives_a_killed_study(study: Path, moment: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pagesight", "compare", "--dataset", str(study), *OWN],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert process.stderr is not None
    assert any(line.startswith(moment) for line in process.stderr)
    children = {
        int(p.parent.name) for p in Path("/proc").glob("[0-9]*/stat") if child_of(p) == process.pid
    }
    assert children
    process.kill()
    process.wait()
    process.stderr.close()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in children):
        time.sleep(0.1)
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def test_an_interrupt_from_the_keyboard_says_nothing(study: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pagesight", "compare", "--dataset", str(study), *OWN],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        start_new_session=True,
    )
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("bte: 2"):
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of the group
    assert process.wait(20) == 130
    process.stderr.close()
    assert "Traceback" not in "".join(said)


def child_of(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_without_gold_systems_are_compared_with_each_other(study: Path, tmp_path: Path) -> None:
    for path in study.glob("*.txt"):
        path.unlink()
    out, report = tmp_path / "out.json", tmp_path / "report"
    done = run(
        "compare", "--dataset", str(study), *OWN, "--json", str(out), "--report", str(report)
    )
    assert done.returncode == 0, done.stderr
    found = figures(out)
    table = found["agreement"]
    assert [table[i][i] for i in range(3)] == [1, 1, 1]
    finding = compare(request(study, "all-text", "bte", "crunch"))
    first, _, third = finding.runs
    expected = sum(word_f1(first.text(id), third.text(id)) for id in THINGS) / 6
    assert table[0][2] == table[2][0] == pytest.approx(expected)
    views = finding.views()
    means = [sum(view.scores.values()) for view in views]
    assert means == sorted(means)  # disagreements first
    assert views[0].gold is None
    assert "agreement" in (report / "index.html").read_text()


def test_pages_without_gold_are_left_out_beside_others(study: Path) -> None:
    (study / "mill.txt").unlink()
    done = run("compare", "--dataset", str(study), "--systems", "bte")
    assert "5 pages, raw input" in done.stdout
    assert "too few pages to tell systems apart" in done.stdout
    assert "1 pages without gold are left out" in done.stderr


def test_a_failure_on_a_page_without_content_is_no_success(study: Path, tmp_path: Path) -> None:
    for path in study.glob("*.txt"):
        path.write_text("")
    (tmp_path / "none.json").write_text("{}")
    (tmp_path / "empty.json").write_text(json.dumps(dict.fromkeys(THINGS, "")))
    systems = [f"recorded:{tmp_path / name}.json" for name in ("none", "empty")]
    failed, right = compare(request(study, *systems)).result.systems
    assert (failed.figures["word_f1"].mean, failed.errors) == (0, 6)
    assert (right.figures["word_f1"].mean, right.errors) == (1, 0)


def test_recorded_outputs_are_a_system(study: Path, tmp_path: Path) -> None:
    outputs = {thing: f"The {thing}" for thing in THINGS[:4]}
    (tmp_path / "mine.json").write_text(json.dumps(outputs))
    name = f"recorded:{tmp_path / 'mine.json'}"
    (system,) = compare(request(study, name)).result.systems
    assert system.seconds is None
    assert system.failures == dict.fromkeys(
        ("gate", "barn")[:0] or THINGS[4:], "no output is recorded"
    )
    texts = [outputs.get(thing, "") for thing in THINGS]
    gold = [(study / f"{thing}.txt").read_text() for thing in THINGS]
    expected = sum(map(word_f1, texts, gold)) / 6
    assert system.figures["word_f1"].mean == pytest.approx(expected)


def test_learned_systems_learn_from_other_pages(study: Path) -> None:
    with pytest.raises(StudyError, match="choose --split random"):
        compare(request(study, "adaboost", learn_from=f"{study}:random"))
    ids = open_dataset(str(study)).ids("random", "test")
    if not ids:
        (study / "extra0.html").write_text("<p>x")
    other = study.parent / "others"
    study.rename(other)
    study.mkdir()
    (study / "a.html").write_text(f"{MENU}<p>{PARAGRAPH * 3}</p>")
    (study / "a.txt").write_text(PARAGRAPH * 3)
    result = compare(request(study, "adaboost", learn_from=f"{other}:random")).result
    assert " from folder:random " in result.systems[0].version
    assert result.systems[0].errors == 0


def test_retrieval_finds_what_was_kept(study: Path, tmp_path: Path) -> None:
    texts = {thing: (study / f"{thing}.txt").read_text() for thing in THINGS}
    for name, outputs in (("all", texts), ("none", dict.fromkeys(texts, "nothing"))):
        (tmp_path / f"{name}.json").write_text(json.dumps(outputs))
    out = tmp_path / "out.json"
    systems = ",".join(f"recorded:{tmp_path / name}.json" for name in ("all", "none"))
    done = run(
        *("compare", "--dataset", str(study), "--systems", systems, "--retrieval"),
        *("--json", str(out)),
    )
    assert done.returncode == 0, done.stderr
    kept, lost, raw = figures(out)["systems"].values()
    assert kept["bm25_mrr"]["mean"] == kept["ql_mrr"]["mean"] == 1
    assert lost["bm25_mrr"]["mean"] == pytest.approx(1 / 6)
    assert raw["bm25_recall10"]["mean"] == 1


@pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine")
def test_the_input_may_be_the_rendered_page(study: Path) -> None:
    for path in study.glob("*.*"):
        path.unlink()
    words = PARAGRAPH.format("shell") * 3
    script = f"document.body.innerHTML = '<article><h1>A shell</h1><p>{words}</p></article>'"
    (study / "shell.html").write_text(f"<title>shell</title><body><script>{script}</script>")
    (study / "shell.txt").write_text(f"A shell\n{words}")
    systems = ("bte", "pagesight", "pagesight-rendered")
    raw = compare(request(study, *systems)).result
    rendered = compare(request(study, *systems, input="rendered")).result
    assert [round(s.figures["word_f1"].mean, 2) for s in raw.systems] == [0, 0, 1]
    # A title is metadata to the web model: two of the words.
    scores = [s.figures["word_f1"].mean for s in rendered.systems]
    assert scores == pytest.approx([1, 1, 1], abs=0.02)
    views = compare(request(study, *systems)).views()
    assert views[0].picture
    assert views[0].boxes is not None


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--systems", "nonsense"), 1, "nonsense: no such system; there are pagesight, "),
        (("--learn-from", "cleaneval", "--systems", "adaboost"), 1, "with : between"),
        (("--json", "no-such-folder/x.json"), 1, "No such file or directory"),
        (("--json", "."), 1, "is a folder"),
        (("--systems", "recorded:[/x].json"), 1, "[/x].json: no such file"),
        (("--metrics", "without_share"), 1, "without_share is the better the lower"),
        (("--systems", " , "), 2, "--systems: name one at least"),
        (("--input", "cooked"), 2, "--input cooked: there are raw, rendered"),
        (("--metrics", "word_f1,speed"), 1, "no metric 'speed'; there are word_f1"),
        (
            ("--split", "random", "--limit", "1", "--systems", "pagesight:nowhere"),
            1,
            "no such model",
        ),
        (("--systems", "recorded:nowhere.json"), 1, "nowhere.json: no such file"),
        (("--systems", "adaboost"), 1, "cleaneval: say where the data lie"),
        (("--workers", "0"), 2, "--workers"),
    ],
)
def test_bad_requests_are_one_line(
    study: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = run("compare", "--dataset", str(study), *arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_models_are_not_tested_on_what_they_know(data_root: Path) -> None:
    for system in ("pagesight", "pagesight:cleaneval-56", "web2text"):
        with pytest.raises(StudyError, match="was trained on pages of cleaneval"):
            compare(Request("cleaneval", data_root, "all", (system,)))
    with pytest.raises(StudyError, match="choose --split cleaneval"):
        compare(Request("cleaneval", data_root, "web2text", ("pagesight:cleaneval-56",)))
    chosen = Request("cleaneval", data_root, "cleaneval", ("pagesight",), limit=1)
    assert compare(chosen).result.pages == 1


@pytest.fixture
def data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAGESIGHT_CACHE", str(tmp_path / "cache"))
    root = Path(os.environ.get("PAGESIGHT_DATA", Path(__file__).parents[2] / "shared/data"))
    if not (root / "cleaneval/orig").exists():
        pytest.skip(f"no CleanEval in {root}: set PAGESIGHT_DATA")
    return root


def test_wcxb_has_figures_by_type_and_all_its_pages(data_root: Path) -> None:
    result = compare(Request("wcxb", data_root, "all", ("all-text",), limit=40)).result
    assert result.pages == 40
    assert sum(result.types.values()) == 40
    (system,) = result.systems
    assert set(system.by_type) == {kind for kind, count in result.types.items() if count >= 5}
    found = as_json(result)["systems"]["all-text"]
    assert set(found) > {"word_f1", "with_share", "without_share", "by_type", "errors"}
    # A page without gold text, but with snippets, counts for these alone.
    records = [open_dataset("wcxb", data_root).load(id) for id in ("4802", "0001")]
    assert records[0].gold is None
    assert records[0].with_snippets
