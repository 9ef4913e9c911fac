"""The report of a study, opened in a real browser; what it ranks; its comparison of texts."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from playwright.sync_api import Browser, Locator, sync_playwright
from playwright.sync_api import Page as Tab

from pagesight.app.study.labels import Box, Point, place_labels
from pagesight.app.study.ranking import letter_groups, ranked, top_group
from pagesight.app.study.report import write_report
from pagesight.app.study.result import Figure, PageView, Pair, StudyResult, SystemResult
from pagesight.app.study.wording import interval_text, memory_text, number_text, time_text
from pagesight.render.browser import find_browser

HOSTILE = "</script><!--<script><img src=https://evil.example/x onerror=boom()>\u2028{{data}}\ud800"
# In rank order by F1; their other figures are in other orders.
F1 = {"alpha": 0.9, "beta": 0.88, "gamma": 0.8, "odd <b>\"&' ü": 0.7, "epsilon": 0.5, "zeta": 0.1}
NAMES = tuple(F1)
RECALL = dict(zip(NAMES, (0.2, 0.4, 0.6, 0.5, 0.3, 0.1), strict=True))
SECONDS = dict(zip(NAMES, (2.0, 0.004, 0.03, None, 0.5, 0.0), strict=True))
TYPES = {"article": 4, "forum": 3, HOSTILE: 1}
BOXES = ((0.0, 0.0, 200.0, 40.0), (0.0, 40.0, 100.0, 100.0))


def around(mean: float, half: float = 0.03) -> Figure:
    return Figure(mean, mean - half, mean + half)


def system(name: str) -> SystemResult:
    figures = {"recall": around(RECALL[name]), "F1": around(F1[name])}
    by_type = {kind: {"F1": around(F1[name], 0.08)} for kind in TYPES}
    memory = None if name == "beta" else 10**6 * (1 + NAMES.index(name))
    failures = {"p1": f"TimeoutError {HOSTILE}"} if name == "gamma" else {}
    return SystemResult(name, "1.0", figures, by_type, SECONDS[name], memory, failures)


def pair(first: str, second: str) -> Pair:
    """Told apart where the means are more than .05 apart."""
    return Pair("F1", first, second, around(F1[first] - F1[second], 0.05))


PAIRS = tuple(pair(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :])
# Given in another order than the rank's.
STUDY = StudyResult(
    "Made-up", "test", "rendered", 8, TYPES, "F1", tuple(map(system, reversed(NAMES))), PAIRS
)


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (100, 100), "white").save(buffer, "JPEG")
    return buffer.getvalue()


def view(number: int, **changes: object) -> PageView:
    """A page of two blocks; systems at even places in NAMES keep the first, others both."""
    kept = {name: (True, place % 2 == 1) for place, name in enumerate(NAMES)}
    page = PageView(
        id=f"p{number}",
        url=f"https://site.example/{number}",
        page_type=list(TYPES)[number % 3],
        gold="The cat sat\n\non the mat",
        outputs={name: f"The dog sat on the mat with {name}" for name in NAMES},
        scores={name: F1[name] for name in NAMES},
        blocks=(f"Block A{number}", "Block B"),
        boxes=BOXES,
        kept=kept,
        gold_kept=(False, True),
        picture=picture(),
        scale=0.5,
    )
    return replace(page, **changes)  # type: ignore[arg-type]


def views() -> list[PageView]:
    hostile = dict.fromkeys(NAMES, f"The cat {HOSTILE}")
    pages = [view(i) for i in range(8)]
    pages[2] = view(2, id=HOSTILE, url=HOSTILE, blocks=(HOSTILE, "b"), outputs=hostile)
    pages[3] = view(3, boxes=None, picture=b"")
    return pages


@dataclass
class Opened:
    """A report in the browser, and what it asked for or complained of."""

    tab: Tab
    events: list[str]

    def strange(self) -> list[str]:
        """All but the file itself and its pictures, that are inside it."""
        pictures = "data:image/jpeg;base64,"
        return [e for e in self.events if e != self.tab.url and not e.startswith(pictures)]

    def names(self) -> list[str]:
        return self.tab.locator("#figures tbody th span").all_inner_texts()

    def head(self, text: str) -> Locator:
        return self.tab.locator("#figures thead th").filter(
            has=self.tab.get_by_role("button", name=text)
        )

    def column(self, name: str, part: str = "text") -> Locator:
        """The cell of a system, or of "gold", in the page shown."""
        place = -1 if name == "gold" else NAMES.index(name)
        which = {"text": ".cell.text", "blocks": ".cell:not(.text)"}[part]
        return self.tab.locator(f"{which}[data-column='{place}']")

    def entries(self) -> list[str]:
        return self.tab.locator("#list strong").all_inner_texts()

    def current(self) -> str:
        return self.tab.locator("#page h3").inner_text()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path)
        yield launched
        launched.close()


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(STUDY, views(), path)
    return path


@pytest.fixture
def open_report(browser: Browser, written: Path, tmp_path: Path) -> Iterator[Open]:
    """Open the report of STUDY or of a study with pages, 1280 pixels wide."""
    tabs: list[Tab] = []

    def open_(result: StudyResult | None = None, pages: Sequence[PageView] = ()) -> Opened:
        path = written if result is None else tmp_path / "report.html"
        if result is not None:
            write_report(result, pages, path)
        tab, events = browser.new_page(viewport={"width": 1280, "height": 800}), list[str]()
        tabs.append(tab)
        tab.on("request", lambda request: events.append(request.url))
        tab.on("requestfailed", lambda request: events.append(f"failed: {request.failure}"))
        tab.on("pageerror", lambda error: events.append(str(error)))
        tab.on("console", lambda message: events.append(message.text))
        tab.goto(path.as_uri())
        if result is None or pages:
            tab.locator("#page h3").wait_for()
        return Opened(tab, events)

    yield open_
    for tab in tabs:
        tab.close()


def test_nothing_is_loaded_and_nothing_runs(open_report: Open) -> None:
    opened = open_report()
    for _ in range(7):
        opened.tab.keyboard.press("ArrowRight")
        opened.tab.locator(".cell.text .note").last.wait_for()
    assert opened.current() == "p7"
    assert opened.strange() == []
    assert opened.events.count(opened.tab.url) == 1


def test_the_policy_forbids_what_a_page_might_smuggle_in(open_report: Open) -> None:
    opened = open_report()
    opened.tab.evaluate(
        """() => { document.body.insertAdjacentHTML('beforeend',
          '<img src=https://evil.example/x onerror="document.title = 1">') }"""
    )
    opened.tab.wait_for_timeout(200)
    assert opened.tab.title() == "Made-up · pagesight"
    assert "failed: csp" in opened.events
    assert any("inline event handler" in event for event in opened.events)


def test_head(open_report: Open) -> None:
    opened = open_report()
    head = opened.tab.locator("header").inner_text()
    for text in ("Made-up", "test", "rendered", "8", "article 4", "forum 3"):
        assert text in head
    assert "alpha has the highest F1: .900 (.870–.930)." in head
    assert "It cannot be told apart from beta." in head


def test_the_table_is_sorted_by_any_column(open_report: Open) -> None:
    opened = open_report()
    assert opened.names() == list(NAMES)
    assert opened.head("F1").get_attribute("aria-sort") == "descending"

    by_recall = sorted(NAMES, key=lambda name: -RECALL[name])
    opened.head("recall").locator("button").click()
    assert opened.names() == by_recall
    assert opened.head("F1").get_attribute("aria-sort") == "none"
    opened.head("recall").locator("button").click()
    assert opened.names() == by_recall[::-1]
    assert opened.head("recall").get_attribute("aria-sort") == "ascending"

    timed = sorted((n for n in NAMES if SECONDS[n] is not None), key=lambda n: SECONDS[n] or 0)
    untimed = [name for name in NAMES if SECONDS[name] is None]
    opened.head("Time").locator("button").focus()
    opened.tab.keyboard.press("Enter")
    assert opened.names() == timed + untimed
    opened.tab.keyboard.press("Enter")
    assert opened.names() == timed[::-1] + untimed

    opened.head("System").locator("button").click()
    assert opened.names() == sorted(NAMES)


def test_the_table_shows_figures_intervals_and_groups(open_report: Open) -> None:
    opened = open_report()
    rows = opened.tab.locator("#figures tbody tr")
    assert rows.nth(0).locator("td").all_inner_texts()[1].startswith(".900 .870–.930")
    assert rows.nth(2).locator("td").all_inner_texts()[-3:] == ["1", "30 ms", "3 MB"]
    assert rows.nth(1).locator("td").last.inner_text() == "–"
    groups = [row.locator(".letter").all_inner_texts() for row in rows.all()]
    assert groups == [["a"], ["a"], ["b"], ["c"], ["d"], ["e"]]
    assert opened.tab.locator("tr.top").count() == 2
    # alpha's F1 whisker: the column goes from .1 - .03 to .9 + .03, so .87 is at .80 / .86.
    whisker = rows.nth(0).locator(".whisker").nth(0)
    line, mean = (whisker.locator(f"> {tag}").bounding_box() for tag in "ib")
    whole = whisker.bounding_box()
    assert whole is not None
    assert line is not None
    assert mean is not None
    assert (line["x"] - whole["x"]) / whole["width"] == pytest.approx(0.80 / 0.86, abs=0.01)
    assert line["x"] + line["width"] == pytest.approx(whole["x"] + whole["width"], abs=0.5)
    assert line["x"] < mean["x"] < line["x"] + line["width"]


def test_charts(open_report: Open) -> None:
    opened = open_report()
    titles = opened.tab.locator("figcaption strong").all_inner_texts()
    assert titles == ["F1 and time", "F1 by page type", "Differences in F1"]
    tips = opened.tab.locator("figure title").all_text_contents()
    assert "alpha: .900 (.870–.930), 2 s" in tips
    assert "gamma, forum: .800 (.720–.880)" in tips
    assert "alpha − beta: +.020 (−.030 to +.070), not told apart" in tips
    assert "beta − alpha: −.020 (−.070 to +.030), not told apart" in tips
    assert "zeta − alpha: −.800 (−.850 to −.750)" in tips
    fills = {
        mark.get_attribute("aria-label"): mark.get_attribute("fill")
        for mark in opened.tab.locator("figure [aria-label*=' − ']").all()
    }
    assert fills["zeta − alpha: −.800 (−.850 to −.750)"] == "var(--bad)"
    assert fills["alpha − zeta: +.800 (+.750 to +.850)"] == "var(--good)"
    assert fills["beta − alpha: −.020 (−.070 to +.030), not told apart"] == "var(--soft)"


def test_blocks_are_tinted_where_they_are(open_report: Open) -> None:
    opened = open_report()
    for name, classes in (
        ("gold", ["dropped", "kept"]),
        ("alpha", ["kept", "dropped"]),
        ("beta", ["kept", "kept"]),
    ):
        stage = opened.column(name, "blocks").locator(".stage")
        blocks = stage.locator(".block")
        blocks.last.wait_for()
        assert [(b.get_attribute("class") or "").split()[1] for b in blocks.all()] == classes
        whole, second = stage.bounding_box(), blocks.nth(1).bounding_box()
        assert whole is not None
        assert second is not None
        # The picture is 100 pixels wide and .5 pixels a CSS pixel: a page 200 wide, as block 0.
        assert second["width"] / whole["width"] == pytest.approx(100 / 200, abs=0.01)
        assert (second["y"] - whole["y"]) / whole["height"] == pytest.approx(40 / 200, abs=0.01)
        assert stage.locator("img").evaluate("image => image.naturalWidth") == 100


def test_blocks_without_places_are_listed(open_report: Open) -> None:
    opened = open_report(STUDY, [view(3, boxes=None, picture=b"")])
    blocks = opened.column("alpha", "blocks").locator("p")
    assert blocks.all_inner_texts() == ["Block A3", "Block B"]
    assert [b.get_attribute("class") for b in blocks.all()] == ["block kept", "block dropped"]


def test_boxes_without_a_picture_or_with_a_damaged_one(open_report: Open) -> None:
    for data in (b"", b"\xff\xd8\xffgarbage"):
        opened = open_report(STUDY, [view(0, picture=data)])
        blocks = opened.column("gold", "blocks").locator(".block")
        blocks.last.wait_for()
        assert blocks.count() == 2


def test_the_words_that_differ_are_marked(open_report: Open) -> None:
    opened = open_report()
    text = opened.column("alpha")
    assert text.locator("del").all_inner_texts() == ["cat "]
    assert text.locator("ins").all_inner_texts() == ["dog ", "with alpha"]
    assert text.locator(".note").inner_text() == "1 words missing, 3 extra"
    assert opened.column("gold").inner_text() == "The cat sat\n\non the mat"
    opened.tab.locator("#base").select_option(label="beta")
    assert opened.column("alpha").locator("del").all_inner_texts() == ["beta"]
    assert opened.column("alpha").locator("ins").all_inner_texts() == ["alpha"]


def test_systems_are_chosen(open_report: Open) -> None:
    opened = open_report()
    assert opened.tab.locator(".cell.text").count() == 3
    opened.tab.locator("#chosen").get_by_label("beta").uncheck()
    opened.tab.locator("#chosen").get_by_label("odd").check()
    assert opened.column("beta").count() == 0
    assert f"with {NAMES[3]}" in opened.column(NAMES[3]).inner_text()
    opened.tab.locator("#chosen").get_by_label("gamma").check()
    opened.tab.keyboard.press("ArrowRight")
    assert opened.current() == "p1"
    assert "Failed: TimeoutError </script>" in opened.column("gamma").inner_text()


def test_pages_are_filtered(open_report: Open) -> None:
    opened = open_report(STUDY, [view(i) for i in range(8)])
    assert opened.entries() == [f"p{i}" for i in range(8)]
    opened.tab.locator("#type").select_option("forum")
    assert opened.entries() == ["p1", "p4", "p7"]
    assert opened.current() == "p1"
    opened.tab.locator("#search").fill("block a7")
    assert opened.entries() == ["p7"]
    assert opened.current() == "p7"
    assert "1 of 8 pages" in opened.tab.locator("#count").inner_text()
    opened.tab.locator("#search").fill("block a2")
    assert opened.entries() == []
    assert "No page matches" in opened.tab.locator("#page").inner_text()
    opened.tab.locator("#type").select_option("")
    assert opened.entries() == ["p2"]


def test_arrow_keys(open_report: Open) -> None:
    opened = open_report(STUDY, [view(i) for i in range(3)])
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        opened.tab.keyboard.press(key)
        seen.append(opened.current())
    assert seen == ["p1", "p2", "p2", "p1"]
    opened.tab.locator("#list button").first.click()
    opened.tab.keyboard.press("ArrowDown")
    opened.tab.keyboard.press("ArrowDown")
    assert opened.current() == "p2"
    assert opened.tab.locator("#list [aria-current]").inner_text().startswith("p2")
    opened.tab.locator("#search").focus()
    opened.tab.keyboard.press("ArrowLeft")
    assert opened.current() == "p2"


def test_hostile_texts_are_shown_as_they_are(open_report: Open) -> None:
    opened = open_report(STUDY, [views()[2]])
    shown = HOSTILE.replace("\ud800", "?")
    assert opened.tab.locator("#page h3").text_content() == shown
    assert (opened.column("alpha").locator("ins").last.text_content() or "") in shown
    assert opened.tab.locator("#page img").count() == 3
    opened.tab.wait_for_timeout(100)
    assert opened.strange() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_laptop(open_report: Open, scheme: str) -> None:
    opened = open_report(STUDY, [views()[2]])
    opened.tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    assert opened.tab.evaluate("document.documentElement.scrollWidth") == 1280
    ink, ground = opened.tab.evaluate(
        "['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name])"
    )
    light = [int(colour.strip("rgb()").split(",")[0]) > 128 for colour in (ink, ground)]
    assert light == ([False, True] if scheme == "light" else [True, False])
    name = opened.tab.locator("figure svg text").first
    assert name.evaluate("text => getComputedStyle(text).fill") == ink


def test_without_gold(open_report: Open) -> None:
    agreement = tuple(tuple(1.0 if i == j else 0.5 for j in range(6)) for i in range(6))
    bare = tuple(replace(s, figures={}, by_type={}) for s in map(system, NAMES))
    study = replace(STUDY, systems=bare, pairs=(), agreement=agreement, types={})
    opened = open_report(study, [view(0, gold=None, gold_kept=(), page_type="")])
    assert opened.tab.locator("figcaption strong").all_inner_texts() == ["Agreement"]
    assert "alpha and zeta: .500" in opened.tab.locator("figure title").all_text_contents()
    assert opened.tab.locator("tr.top, .letter").count() == 0
    assert opened.names() == list(NAMES)
    assert opened.tab.locator(".cell.text").count() == 2
    assert opened.column("beta").locator("del").all_inner_texts() == ["alpha"]
    assert opened.column("beta").locator("ins").all_inner_texts() == ["beta"]
    assert opened.strange() == []


def test_one_system_and_no_view(open_report: Open) -> None:
    study = replace(STUDY, systems=(system("alpha"),), pairs=())
    opened = open_report(study, [])
    assert opened.names() == ["alpha"]
    assert opened.tab.locator("#pages").count() == 0
    assert "Differences in F1" not in opened.tab.locator("main").inner_text()
    assert opened.strange() == []


def test_figures_that_are_no_numbers(open_report: Open) -> None:
    nan = float("nan")
    none = replace(system("beta"), figures={"F1": Figure(nan, nan, nan)}, by_type={})
    study = replace(STUDY, systems=(none, system("alpha")), pairs=())
    page = view(0, scores={"alpha": nan})
    opened = open_report(study, [page])
    assert opened.names() == ["alpha", "beta"]
    assert opened.tab.locator("tbody tr").nth(1).locator("td").first.inner_text() == "–"
    assert opened.strange() == []


def test_the_same_study_gives_the_same_bytes(written: Path, tmp_path: Path) -> None:
    write_report(STUDY, views(), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == written.read_bytes()


def longest_common(first: list[str], second: list[str]) -> int:
    lengths = [0] * (len(second) + 1)
    for a in first:
        before = list(lengths)
        for j, b in enumerate(second):
            lengths[j + 1] = before[j] + 1 if a == b else max(before[j + 1], lengths[j])
    return lengths[-1]


def joined(runs: list[list[str]], *kinds: str) -> list[str]:
    return " ".join(text for kind, text in runs if kind in kinds).split()


def test_texts_are_compared_by_the_longest_common_words(open_report: Open) -> None:
    tab, draw = open_report().tab, random.Random(0)
    for _ in range(60):
        first, second = (
            [draw.choice("abcd") for _ in range(draw.choice([0, 1, 5, 31, 32, 33, 70, 200]))]
            for _ in "12"
        )
        runs = tab.evaluate("pair => diffTexts(...pair)", [" ".join(first), " ".join(second)])
        assert joined(runs, "same", "missing") == first
        assert joined(runs, "same", "extra") == second
        assert len(joined(runs, "same")) == longest_common(first, second)


def test_words_of_scripts_without_spaces(open_report: Open) -> None:
    runs = open_report().tab.evaluate("diffTexts('東京都 a', '東都 a')")
    assert runs == [["same", "東"], ["missing", "京"], ["same", "都 a"]]


def test_punctuation_is_no_difference(open_report: Open) -> None:
    runs = open_report().tab.evaluate("diffTexts(\"It isn't. *\", 'It isn’t! It +')")
    assert runs == [["same", "It isn’t! "], ["missing", "*"], ["extra", "It +"]]


def test_long_texts_are_compared_in_time(open_report: Open) -> None:
    tab = open_report().tab
    # Nothing in common at the ends, so that nothing is cut off there.
    lines = [" ".join(f"w{i}x{j}" for j in range(20)) for i in range(2000)]
    first = "\n".join(["start", *lines, "end"])
    second = "\n".join(["begin", *(line.replace("x7 ", "y7 ") for line in lines[::2]), "stop"])
    milliseconds, runs = tab.evaluate(
        """([a, b]) => { const start = performance.now(), runs = diffTexts(a, b)
          return [performance.now() - start, runs] }""",
        [first, second],
    )
    assert milliseconds < 10_000
    assert joined(runs, "same", "missing") == first.split()
    assert joined(runs, "same", "extra") == second.split()


def test_a_page_that_is_far_too_large(open_report: Open) -> None:
    words = {name: f"{name} word " * 200_000 for name in NAMES}
    flags = (True,) * 50_000
    huge = view(
        0,
        gold="other words " * 200_000,
        outputs=words,
        blocks=("block",) * 50_000,
        boxes=BOXES[:1] * 50_000,
        kept=dict.fromkeys(NAMES, flags),
        gold_kept=flags,
    )
    opened = open_report(STUDY, [huge, view(1)])
    opened.tab.locator(".cell.text .note").last.wait_for()
    opened.tab.keyboard.press("ArrowRight")
    assert opened.current() == "p1"


def test_groups_of_systems_that_cannot_be_told_apart() -> None:
    # a - b and b - c are not told apart, a - c is; d is apart from all, and given the wrong way.
    means = {"a": 0.9, "b": 0.88, "c": 0.86, "d": 0.5}
    systems = tuple(
        SystemResult(name, "1", {"F1": around(mean)}, {}, None, None)
        for name, mean in reversed(means.items())
    )
    pairs = tuple(
        Pair("F1", second, first, around(means[second] - means[first]))
        for first in means
        for second in means
        if first < second
    )
    study = StudyResult("x", "all", "raw", 5, {}, "F1", systems, pairs)
    assert [s.name for s in ranked(study)] == list(means)
    assert letter_groups(study) == {"a": (0,), "b": (0, 1), "c": (1,), "d": (2,)}
    assert top_group(study) == ("a", "b")
    assert letter_groups(replace(study, main="recall")) == {}


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.data())
def test_groups_say_what_the_pairs_say(means: list[float], data: st.DataObject) -> None:
    names = [f"s{i}" for i in range(len(means))]
    systems = tuple(
        SystemResult(name, "1", {"F1": around(mean)}, {}, None, None)
        for name, mean in zip(names, means, strict=True)
    )
    apart = {(a, b): data.draw(st.booleans()) for i, a in enumerate(names) for b in names[i + 1 :]}
    pairs = tuple(
        Pair("F1", a, b, Figure(0.1, 0.05 if told else -0.05, 0.2))
        for (a, b), told in apart.items()
    )
    groups = letter_groups(StudyResult("x", "all", "raw", 5, {}, "F1", systems, pairs))
    assert all(groups[name] for name in names)
    for (a, b), told in apart.items():
        assert bool(set(groups[a]) & set(groups[b])) is not told


def test_names_in_a_chart_do_not_cover_each_other() -> None:
    points = [(f"system {i}", Point(200 + i % 3, 100 + 3 * i)) for i in range(6)]
    labels = place_labels(points, [], 600, 400)
    boxes = [
        Box(x, label.y - 6, x + 60, label.y + 6)
        for label in labels
        for x in [label.x if label.align == "left" else label.x - 60]
    ]
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.meets(b)]
    mark = Box(205, 90, 300, 110)
    assert place_labels([("name", Point(200, 100))], [mark], 600, 400)[0].align == "right"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8464, ".846"), (1, "1.000"), (-0.0117, "−.012"), (-0.0001, ".000"), (12.5, "12.500")],
)
def test_numbers(value: float, text: str) -> None:
    assert number_text(value) == text


def test_wording() -> None:
    assert number_text(0.03, sign=True) == "+.030"
    assert number_text(float("inf")) == "–"
    assert interval_text(Figure(0, -0.1, 0.25), sign=True) == "−.100 to +.250"
    assert [time_text(s) for s in (0.0, 0.01234, 0.9996, 61)] == ["0 ms", "12.3 ms", "1 s", "61 s"]
    assert memory_text(1_234_567_890) == "1,235 MB"
