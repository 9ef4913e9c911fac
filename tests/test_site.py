"""What repeats on the pages of a site: shares by hand, and what extraction makes of them."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Server
from hypothesis import given, settings
from hypothesis import strategies as st
from support import run

from pagesight import Extractor, Snapshot
from pagesight.app.systems.ours import Pagesight
from pagesight.app.systems.protocol import StudyPage
from pagesight.app.systems.registry import find, names
from pagesight.data.datasets import open_dataset
from pagesight.layout.page import Labels, Page, build_page
from pagesight.layout.site import LONG, MOST_ON_PAGE, WEIGHT, SiteTexts
from pagesight.model.calibration import log_odds
from pagesight.model.card import DEFAULT
from pagesight.model.predict import Model, doubted
from pagesight.render.errors import ModelError
from pagesight.render.static import parse

BY_PAPER = "web2text-531"
PROMOTION = (
    "Members of the museum's society come in free all year, get the printed journal four times a "
    "year, and are asked to the opening of every new room. Write to the desk at the door, or fill "
    "in the card that lies there, and the first year is on us: nobody has to pay or to cancel."
)
SUBJECTS = ("mill", "lighthouse", "ferry", "foundry")
HOSTILE = {
    "empty": "",
    "blank": "<p> &nbsp; <p>&#8203;",
    "one": "x",
    "a byte": "\x00\ud800<p>\x0b",
    "wide": "<p>Same line.</p>" * 5_000,
    "long": "<p>" + "word " * 100_000,
    "one run": "<p>" + "<b>x</b><i>y</i> " * 5_000,
}


def page_of(html: str) -> Page:
    return build_page(parse(html.encode("utf-8", "replace"), "utf-8"))


def shares(html: str, *site: str) -> list[float]:
    return SiteTexts.of(map(page_of, site)).shares(page_of(html)).tolist()


def article(subject: str) -> tuple[str, str]:
    return (
        f"The {subject} stands at the end of the quay, where the river is wide and the wind comes "
        "in from the sea. Three brothers built it who had learned the trade abroad, and it has "
        "been mended ever since.",
        f"Whoever visits the {subject} in the morning finds the keeper at work, for the days are "
        "short and there is always something to oil, to paint or to carry.",
    )


def source(subject: str) -> str:
    """A page of the museum: menu, article, a word from the society, footer."""
    body = "".join(f"<p>{text}</p>" for text in article(subject))
    return (
        f"<title>The {subject}</title><nav><ul><li><a href=/>Home</a><li><a href=/rooms>Rooms</a>"
        f"<li><a href=/tickets>Tickets</a></ul></nav><article><h1>The {subject}</h1>{body}"
        f"</article><p>{PROMOTION}</p><footer><p>Copyright Museum of the Coast</p></footer>"
    )


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor(render=False, allow_private=True) as made:
        yield made


# Shares.


def test_shares_by_hand() -> None:
    site = (
        "<nav>Menu</nav><p>One</p>",
        "<nav>MENU</nav><p>Seen 12 times</p><p>More</p>",
        "<nav> menu\n</nav><p>Seen 1,500  times</p><p>Rest</p>",
        "<div>Menu</div><p>Seen 7 times",
    )
    # three others: all have the menu, two "Seen 0 times", none "Rest"
    assert shares(site[0], *site) == [1, 0]
    assert shares(site[2], *site) == pytest.approx([1, 2 / 3, 0])
    # what is no page of the site has 4 others
    assert shares("<p>More<p>menu<p>Seen 3 times", *site) == [0.25, 1, 0.75]


def test_a_page_alone_and_a_site_of_none() -> None:
    assert shares("<p>a<p>b", "<p>a<p>b") == [0, 0]
    assert shares("<p>a<p>b") == [0, 0]
    assert shares("", "<p>a") == shares("", "") == []
    # pages without text are nobody
    assert shares("<p>a<p>b", "<p>a<p>b", "", "<p> ") == [0, 0]


def test_copies_are_one_page() -> None:
    first, second = "<p>Menu<p>First", "<p>Menu<p>Second"
    copy = "<div>MENU</div> <div>first</div>"
    # without the rule "First" would stand on another page
    assert shares(first, first, copy, second) == [1, 0]
    # and half of the others would have the menu of the third page
    assert shares(second, first, copy, second) == [1, 0]
    assert shares("<p>Menu<p>First<p>Third", first, copy, second) == [1, 0.5, 0]


def test_the_same_lines_in_another_order_are_another_page() -> None:
    assert shares("<p>a<p>b", "<p>a<p>b", "<p>b<p>a") == [1, 1]


def test_a_line_counts_as_a_whole() -> None:
    page = "<p>Read <a>more</a> about it<p>The <a>mill</a> is old"
    other = "<p>Read more <a>about</a> it<p>mill"
    # its leaves are Read, more, about it; The, mill, is old
    assert shares(page, other) == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(("times", "share"), [(1, 1), (MOST_ON_PAGE, 1), (MOST_ON_PAGE + 1, 0)])
def test_what_a_page_says_of_each_record_is_no_template(times: int, share: int) -> None:
    line = "<p>In stock</p>"
    assert shares(f"{line * times}<p>own", line) == [share] * times + [0]
    # how often the others have it does not matter
    assert shares(f"{line}<p>own", line * times) == [1, 0]


def test_long_lines_lose_more() -> None:
    short, long = "Home of mills", "word " * (LONG + 5)
    page, *others = (f"<p>{short}<p>{long}<p>{n}" for n in ("a", "b", "c"))
    site = SiteTexts.of(map(page_of, (page, others[0], f"<p>{short}<p>other")))
    # three words that both others have; more than LONG that one of two has; a word of its own
    wanted = [3 * WEIGHT, LONG * WEIGHT / 2, 0]
    np.testing.assert_allclose(site.against(page_of(page)), wanted, rtol=1e-6)
    # the words of a line are counted over its leaves
    cut = page_of(page.replace("of mills", "<b>of</b> mills"))
    np.testing.assert_allclose(site.against(cut)[:3], [3 * WEIGHT] * 3, rtol=1e-6)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=6))
def test_shares_are_those_of_plain_counting(site: list[list[str]]) -> None:
    pages = [page_of("".join(f"<p>{line}" for line in lines)) for lines in site]
    texts = SiteTexts.of(pages)
    for lines, page in zip(site, pages, strict=True):
        others = {tuple(other) for other in site if other and other != lines}
        wanted = [
            sum(line in other for other in others) / len(others)
            if others and lines.count(line) <= MOST_ON_PAGE
            else 0
            for line in lines
        ]
        found = texts.shares(page)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, np.array(wanted), rtol=1e-6)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name: str) -> None:
    page, other = page_of(HOSTILE[name]), page_of("<p>x<p>Same line.")
    start = time.process_time()
    site = SiteTexts.of([page, other, page])
    for found in (site.shares(page), site.against(page)):
        assert found.shape == (len(page),)
        assert found.dtype == np.float32
        assert np.isfinite(found).all()
    assert time.process_time() - start < 2


# Labels.


@pytest.fixture(scope="module", params=[DEFAULT, BY_PAPER])
def model(request: pytest.FixtureRequest) -> Model:
    return Model.load(request.param)


def test_nothing_on_other_pages_changes_nothing(model: Model) -> None:
    page = page_of(source("mill"))
    alone, among = model.label(page), model.label(page, site=np.zeros(len(page), np.float32))
    np.testing.assert_array_equal(alone.probability, among.probability)
    np.testing.assert_array_equal(alone.content, among.content)
    assert alone.reasons == among.reasons


def test_a_line_loses_its_log_odds(model: Model) -> None:
    page = page_of("<p>Whoever comes in the <b>morning</b> finds the keeper at work, all year.")
    assert len(page) == 3
    loss = np.array([0, 1.5, 2.5], np.float32)
    before, after = model.label(page), model.label(page, site=loss)
    assert after.reasons == (
        before.reasons[0],
        f"{before.reasons[1]}; its site −1.5",
        f"{before.reasons[2]}; its site −2.5",
    )
    odds = [log_odds(labels.probability) for labels in (before, after)]
    np.testing.assert_allclose(odds[0] - odds[1], loss, atol=0.05)
    assert model.label(page, reasons=False, site=loss).reasons == ("",) * 3


def test_labels_after_a_loss_by_hand() -> None:
    # log odds 0, log 3 and log 9 lose nothing, log 9 and log 9: 1/2, 1/(1 + 3) and 1/2
    labels = Labels(np.array([True] * 3), np.array([0.5, 0.75, 0.9], np.float32), ("a", "b", ""))
    loss = np.array([0, math.log(9), math.log(9)], np.float32)
    found = doubted(labels, loss, 0.5)
    np.testing.assert_allclose(found.probability, [0.5, 0.25, 0.5], rtol=1e-6)
    assert found.content.tolist() == [True, False, False]
    assert found.reasons == ("a", "b; its site −2.2", "")
    # a label never comes back, and one that must exceed less stays
    assert doubted(labels, loss, 0.2).content.all()
    none = replace(labels, content=np.zeros(3, bool))
    assert not doubted(none, loss, 0.2).content.any()


@given(
    st.lists(st.floats(0, 1, width=32), max_size=5),
    st.floats(0, 2.0**100, width=32),
    st.floats(0, 1),
)
def test_no_loss_raises_a_probability(before: list[float], loss: float, threshold: float) -> None:
    size = len(before)
    labels = Labels(np.ones(size, bool), np.array(before, np.float32), ("",) * size)
    found = doubted(labels, np.full(size, loss, np.float32), threshold)
    assert np.isfinite(found.probability).all()
    assert (found.probability <= np.maximum(labels.probability, 2e-6)).all()
    assert found.probability.dtype == np.float32


def test_labels_follow(model: Model) -> None:
    page = page_of(source("mill"))
    against = np.zeros(len(page), np.float32)
    at = page.text.index(PROMOTION)
    against[at] = 40
    labels = model.label(page, site=against)
    assert model.label(page).content[at]
    assert not labels.content[at]
    assert labels.probability[at] < 0.01
    others = np.arange(len(page)) != at
    np.testing.assert_array_equal(labels.content[others], model.label(page).content[others])


def test_no_text_no_labels(model: Model) -> None:
    assert len(model.label(page_of(""), site=np.zeros(0, np.float32)).content) == 0


# Documents.


def test_what_all_pages_have_is_dropped(extractor: Extractor) -> None:
    pages = [source(subject) for subject in SUBJECTS]
    assert all(PROMOTION in extractor.extract(page).text for page in pages)
    documents = list(extractor.extract_site(pages))
    for subject, document in zip(SUBJECTS, documents, strict=True):
        assert document.text == "\n\n".join((f"The {subject}", *article(subject)))


def test_one_page_is_as_by_itself(extractor: Extractor) -> None:
    page = source("mill")
    [among] = extractor.extract_site([page])
    assert json.dumps(among.to_dict()) == json.dumps(extractor.extract(page).to_dict())
    # copies tell nothing
    for among in extractor.extract_site([page, page]):
        assert among.text == extractor.extract(page).text
    assert list(extractor.extract_site([])) == []


def test_order_and_failures(extractor: Extractor, server: Server, tmp_path: Path) -> None:
    good = [server.add(f"/{subject}", source(subject)) for subject in SUBJECTS]
    lost = server.add("/lost", source("bridge"), status=404)
    missing = tmp_path / "missing.html"
    sources = [good[0], missing, good[1], lost, b"%PDF-1.7", *good[2:]]
    documents = list(extractor.extract_site(iter(sources)))
    said = [(document.status, document.error) for document in documents]
    assert said == [
        ("ok", None),
        ("error", f"{missing}: no such file"),
        ("ok", None),
        ("error", f"{lost}: HTTP 404 Not Found"),
        ("unsupported", "bytes: not a web page but a PDF"),
        ("ok", None),
        ("ok", None),
    ]
    titles = [document.title for document in documents if document.status == "ok"]
    assert titles == [f"The {subject}" for subject in SUBJECTS]
    assert not any(PROMOTION in document.text for document in documents)


def test_an_error_page_is_no_page_of_the_site(extractor: Extractor, server: Server) -> None:
    page = server.add("/mill", source("mill"))
    lost = server.add("/lost", source("bridge"), status=404)
    assert PROMOTION in next(extractor.extract_site([page, lost])).text


def at(host: str, subject: str) -> Snapshot:
    snapshot = parse(source(subject).encode(), "utf-8")
    return snapshot.with_meta(resolved_url=f"{host}/{subject}")


def test_hosts_are_sites(extractor: Extractor) -> None:
    hosts = ("https://a.example", "https://b.example", "https://A.example:8443", "http://[::1")
    pages = [at(host, subject) for host, subject in zip(hosts, SUBJECTS, strict=True)]
    kept = [PROMOTION in document.text for document in extractor.extract_site(pages)]
    # the first and the third have one host, the others are alone
    assert kept == [False, True, False, True]


@pytest.mark.parametrize("taken", [1, 9])
def test_nothing_is_left_behind(
    extractor: Extractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    documents = extractor.extract_site([source(subject) for subject in SUBJECTS])
    for _, _document in zip(range(taken), documents, strict=False):
        assert taken == 9 or len(list(tmp_path.glob("*/*"))) == len(SUBJECTS)
    documents.close()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "own.onnx").write_bytes(b"no model")
    (tmp_path / "own.json").write_text("{}")
    with (
        Extractor(render=False, model=str(tmp_path / "own.onnx")) as broken,
        pytest.raises(ModelError),
    ):
        list(broken.extract_site(["<p>x"]))


# The command line and the system of a study.


def test_the_command_line(tmp_path: Path) -> None:
    for subject in SUBJECTS:
        (tmp_path / f"{subject}.html").write_text(source(subject))
    alone = run("extract", str(tmp_path), "--no-render", "-f", "json")
    among = run("extract", str(tmp_path), "--no-render", "-f", "json", "--site")
    assert (alone.returncode, among.returncode, among.stderr) == (0, 0, "")
    assert alone.stdout.count(PROMOTION) > among.stdout.count(PROMOTION)
    records = [json.loads(line) for line in among.stdout.splitlines()]
    assert [record["title"] for record in records] == [f"The {s}" for s in sorted(SUBJECTS)]
    assert not any(PROMOTION in record["text"] for record in records)
    missing = run("extract", str(tmp_path / "mill.html"), "nowhere.html", "--no-render", "--site")
    assert missing.returncode == 1
    assert missing.stderr.startswith("pagesight: nowhere.html: error: no such file")
    assert PROMOTION in missing.stdout


def test_the_system_of_a_study(tmp_path: Path) -> None:
    assert names()[:2] == ("pagesight", "pagesight-site")
    (tmp_path / "a.html").write_text("<p>x")
    (tmp_path / "a.txt").write_text("x")
    dataset = open_dataset(str(tmp_path))
    system, plain = (find(name, dataset, "all").make() for name in names()[1::-1])
    assert isinstance(system, Pagesight)
    assert (system.name, system.siblings, system.needs_rendering) == ("pagesight-site", 4, False)
    assert plain.siblings == 0
    others = tuple(source(subject) for subject in SUBJECTS[1:])
    page = StudyPage("mill", "", source("mill"), others)
    assert PROMOTION not in system.extract(page)
    assert PROMOTION in plain.extract(replace(page, siblings=()))
    assert system.extract(replace(page, siblings=())) == plain.extract(replace(page, siblings=()))
