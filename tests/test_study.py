"""Studies: systems in processes of their own, outputs that are kept, pages as systems see them."""

from __future__ import annotations

import gzip
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from misbehaving import Moody, Pupil

from pagesight.app.study.outputs import Output, Outputs
from pagesight.app.study.pages import Pages
from pagesight.app.study.runner import Runner
from pagesight.app.study.worker import Worker, learn
from pagesight.app.systems.dom import parse_html, write_html
from pagesight.app.systems.ours import AllText
from pagesight.app.systems.protocol import StudyPage, TrainingPage
from pagesight.app.systems.registry import Spec, expand, find, names
from pagesight.data.datasets import open_dataset
from pagesight.render.errors import StudyError
from pagesight.render.static import parse

MOODY = Spec("moody", "misbehaving", "Moody", {})
ARTICLE = "<title>t</title><h1>Head</h1><p>A text of some words.</p>"


def page(html: str, id: str = "p") -> StudyPage:
    return StudyPage(id, "", html)


@pytest.fixture
def moody() -> Iterator[Worker]:
    worker = Worker(MOODY, None, Moody.deadline)
    yield worker
    worker.close()


@pytest.fixture
def outputs(tmp_path: Path) -> Iterator[Outputs]:
    store = Outputs(tmp_path / "cache")
    yield store
    store.close()


def folder(root: Path, **sources: str) -> Path:
    root.mkdir()
    for name, source in sources.items():
        (root / f"{name}.html").write_text(source)
    return root


def test_a_system_answers_with_its_text_its_time_and_its_memory(moody: Worker) -> None:
    output = moody.extract(page("fine"))
    assert (output.text, output.error) == ("FINE", "")
    assert 0 < output.seconds < 1
    assert 10e6 < output.memory < 4e9


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("hang", "no answer within 2 s"),
        ("crash", "its process died of SIGSEGV"),
        ("exit", "it gave up"),
        ("raise", "ValueError: two lines"),
        ("deep", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_what_goes_wrong_costs_one_page(moody: Worker, trouble: str, said: str) -> None:
    failed = moody.extract(page(trouble))
    assert failed.text == ""
    assert failed.error.startswith(said)
    assert failed.seconds < 30
    assert moody.extract(page("fine")).text == "FINE"


def test_systems_that_print_disturb_nobody(
    moody: Worker, capfd: pytest.CaptureFixture[str]
) -> None:
    assert moody.extract(page("print")).text == "PRINT"
    assert capfd.readouterr() == ("", "")


def test_text_that_utf8_cannot_write_is_kept_without_it(moody: Worker) -> None:
    assert moody.extract(page("surrogate")).text == "a?b"


@pytest.mark.parametrize(
    ("maker", "said"),
    [("NoStart", "RuntimeError: no licence"), ("DiesAtStart", "its process died of SIGKILL")],
)
def test_a_system_that_does_not_start_is_an_error(maker: str, said: str) -> None:
    with pytest.raises(StudyError, match=f"odd: {said}"):
        Worker(Spec("odd", "misbehaving", maker, {}), None, 5)


def test_a_closed_worker_leaves_no_process(moody: Worker) -> None:
    moody.extract(page("fine"))
    process = moody._process
    moody.close()
    assert process.exitcode == -signal.SIGKILL


def test_learning_happens_elsewhere_and_its_errors_are_told() -> None:
    spec = Spec("pupil", "misbehaving", "Pupil", {})
    assert learn(spec, [TrainingPage(page("a"), "a")] * 3) == b"3"
    with pytest.raises(StudyError, match="pupil: ValueError: nothing to learn from"):
        learn(spec, [])
    worker = Worker(spec, b"3", Pupil.deadline)
    assert worker.extract(page("x")).text == "learned from 3"
    worker.close()


def test_outputs_are_kept_by_system_version_and_page(outputs: Outputs) -> None:
    outputs.put("a", "1", "p", Output("text", 0.5, 7, "why"))
    assert outputs.get("a", "1", "p") == Output("text", 0.5, 7, "why")
    assert outputs.get("a", "2", "p") is None
    assert outputs.get("b", "1", "p") is None
    assert outputs.get("a", "1", "q") is None


def test_what_was_learned_is_learned_once(outputs: Outputs) -> None:
    assert outputs.state("a", "1", lambda: b"first") == b"first"
    assert outputs.state("a", "1", lambda: b"second") == b"first"
    assert outputs.state("a", "2", lambda: b"second") == b"second"


def test_a_damaged_store_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "outputs.sqlite").write_bytes(b"no database, this" * 100)
    with pytest.raises(StudyError, match=r"outputs\.sqlite: .*; remove the file to begin anew"):
        Outputs(tmp_path)


def run_moody(root: Path, outputs: Outputs, workers: int = 1) -> dict[str, Output]:
    pages = Pages(*_opened(root))
    return dict(Runner(pages, outputs, workers).run(MOODY, Moody(), None))


def _opened(root: Path):
    dataset = open_dataset(str(root))
    return dataset, dataset.ids()


@pytest.mark.parametrize("workers", [1, 3])
def test_every_page_has_an_output(tmp_path: Path, outputs: Outputs, workers: int) -> None:
    sources = {f"p{i}": f"text {i}" for i in range(8)} | {"bad": "crash", "worse": "raise"}
    found = run_moody(folder(tmp_path / "pages", **sources), outputs, workers)
    assert {id: output.text for id, output in found.items()} == {
        **{f"p{i}": f"TEXT {i}" for i in range(8)},
        "bad": "",
        "worse": "",
    }
    assert {id for id, output in found.items() if output.error} == {"bad", "worse"}


def test_what_is_in_the_store_is_not_run_again(tmp_path: Path, outputs: Outputs) -> None:
    root = folder(tmp_path / "pages", a="one", b="two")
    first = run_moody(root, outputs)
    (root / "b.html").write_text("three")
    second = run_moody(root, outputs)
    assert second["a"] == first["a"]  # its time as well
    assert second["b"].text == "THREE"


def test_an_abandoned_run_keeps_what_is_done(tmp_path: Path, outputs: Outputs) -> None:
    root = folder(tmp_path / "pages", a="one", b="two", c="three", d="four", e="hang")
    dataset, ids = _opened(root)
    running = Runner(Pages(dataset, ids), outputs).run(MOODY, Moody(), None)
    done = dict(next(running) for _ in range(3))
    running.close()
    assert all(outputs_of(outputs, dataset, id) == output for id, output in done.items())
    # The page that was stopped is no failed page.
    assert outputs_of(outputs, dataset, "e") is None


def outputs_of(outputs: Outputs, dataset, id: str) -> Output | None:
    _, digest = Pages(dataset, dataset.ids()).load(id, Moody())
    return outputs.get("moody", "1", digest)


def test_siblings_are_pages_of_the_same_site(tmp_path: Path) -> None:
    root = tmp_path / "wcxb"
    (root / "dev/html").mkdir(parents=True)
    (root / "dev/ground-truth").mkdir()
    hosts = {"1": "a.example.com", "2": "other.org", "3": "www.example.com", "4": "example.com"}
    import json

    files = {i: {"split": "dev", "domain": h, "page_type": "article"} for i, h in hosts.items()}
    (root / "metadata.json").write_text(json.dumps({"files": files}))
    for id, host in hosts.items():
        (root / f"dev/html/{id}.html.gz").write_bytes(gzip.compress(f"page {id}".encode()))
        truth = {"title": "", "author": None, "publish_date": None, "with": [], "without": []}
        published = {"url": f"https://{host}/", "ground_truth": truth}
        (root / f"dev/ground-truth/{id}.json").write_text(json.dumps(published))
    pages = Pages(*_opened(root))
    system = Moody()
    assert pages.load("1", system)[0].siblings == ()
    system.siblings = 4
    assert pages.load("1", system)[0].siblings == ("page 3", "page 4")
    assert pages.load("3", system)[0].siblings == ("page 4", "page 1")
    assert pages.load("2", system)[0].siblings == ()
    system.siblings = 1
    assert pages.load("1", system)[0].siblings == ("page 3",)


def test_a_rendering_is_written_out_as_the_page_that_it_shows() -> None:
    source = (
        "<!doctype html><html><head><title>T</title><script>if (1 < 2) {}</script></head>"
        '<body class="a b"><p id="x" @click="y">One &lt;two&gt; &amp; <b>three</b><br>four</p>'
        "<template shadowrootmode=open><i>no host</i></template><custom-tag>five</custom-tag>"
    )
    written = write_html(parse(source.encode(), "utf-8"))
    assert write_html(parse(written.encode(), "utf-8")) == written
    tree = parse_html(written)
    assert "".join(tree.find("body/p").itertext()) == "One <two> & threefour"
    assert tree.find("body").get("class") == "a b"
    assert tree.find("head/script").text == "if (1 < 2) {}"


def test_a_tree_of_any_page_can_be_had() -> None:
    assert parse_html("").tag == "html"
    assert "".join(parse_html("plain \x01 text").itertext()) == "plain  text"
    deep = parse_html("<div>" * 5_000 + "x")
    assert sum(1 for _ in deep.iter("div")) == 5_000


def test_all_text_is_everything_that_can_be_read() -> None:
    html = "<title>t</title><nav>Home <a>About</a></nav><p>Text.<script>x</script></p>"
    assert AllText().extract(page(html)) == "Home About\nText."


def test_systems_are_found_by_name() -> None:
    dataset = open_dataset(str(Path(__file__).parents[1] / "data/samples"))
    assert find("bte", dataset, "all").make().name == "bte"
    assert len(names()) > 40
    assert next(expand("bte, all,bte")) == "bte"
    assert sorted(expand("bte,all")) == sorted(names())
    with pytest.raises(StudyError, match=r"nonsense: no such system; there are pagesight, "):
        find("nonsense", dataset, "all")


@pytest.mark.parametrize("name", names())
def test_every_system_can_be_made(name: str) -> None:
    dataset = open_dataset(str(Path(__file__).parents[1] / "data/samples"))
    system = find(name, dataset, "all").make()
    assert system.name == name
    assert system.version
