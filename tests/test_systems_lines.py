"""The density methods: lines, thresholds, the RPROP network, boosted stumps."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.app.systems.boosting import ROUNDS, AdaBoost, line_features
from pagesight.app.systems.lines import (
    follow,
    labelled_lines,
    line_labels,
    page_balance,
    previous_labels,
    read_lines,
)
from pagesight.app.systems.protocol import LearnedSystem, StudyPage, System, TrainingPage
from pagesight.app.systems.rprop import RpropNetwork, cascade
from pagesight.app.systems.text_density import TextDensity
from pagesight.app.systems.threshold import Threshold

PROSE = "The river rises in the hills and runs through three towns before it meets the sea."
MENU = '<ul><li><a href="/">Home</a></li><li><a href="/news">News today</a></li></ul>'
SCRAPS = ["<p>", "<!--", "-->", "<a href='", ">", "word ", "<script>", "</script>", "<", "</"]
SCRAPS += ["\ud800", "\0", "&amp", '="']
SITES = "Alpine Boreal Coastal Desert Estuary Fjord".split()


def bools(digits: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([digit == "1" for digit in digits], np.bool_)


def page(html: str) -> StudyPage:
    return StudyPage("id", "https://example.org/", html)


def training_page(site: str) -> TrainingPage:
    """A menu, two paragraphs that are the gold, a footer."""
    paragraphs = [f"{site} weather. {PROSE} {site} again {number}." for number in range(2)]
    body = "".join(f"<p>{text}</p>\n" for text in paragraphs)
    footer = f'<div class="footer"><a href="/legal">{site} legal notice</a></div>'
    return TrainingPage(page(f"<body>{MENU}{body}{footer}</body>"), "\n".join(paragraphs))


TRAINING = [training_page(site) for site in SITES]


def fitted(system: LearnedSystem) -> LearnedSystem:
    system.load(system.fit(TRAINING))
    return system


def test_lines_own_the_source_up_to_their_end() -> None:
    # "<p>One</p>" gives up its end tag (4 bytes) to the next line
    lines = read_lines("<p>One</p><p>Two <b>and</b> more</p> ")
    assert lines.texts == ("One", "Two and more")
    # <p>One is 6; </p><p>Two <b>and</b> more is 4 + 3 + 4 + 3 + 3 + 4 + 5 = 26
    assert lines.html_bytes.tolist() == [6, 26]
    assert lines.text_bytes.tolist() == [3, 12]
    assert lines.densities.tolist() == [3 / 6, 12 / 26]


def test_bytes_are_those_of_utf_8() -> None:
    # ä is 2 bytes, as a character; &auml; 6 bytes of HTML
    lines = read_lines("<p>ä &auml;</p>")
    assert lines.texts == ("ä ä",)
    assert (lines.text_bytes[0], lines.html_bytes[0], lines.lengths[0]) == (5, 3 + 3 + 6, 3)


@pytest.mark.parametrize(
    "between",
    [
        "<!-- <p>no > text -->",
        "<script>if (a < b) '<p>no</p>'</script>",
        "<STYLE type='a>b'>p { color: red }</sTyLe >",
        "<![endif]>",
        "<![unknown[x]]>",
        "<?php no ?>",
        "<!-->",
        "</ >",
        "<img alt='a > b' src=x>",
    ],
)
def test_what_is_no_text_costs_the_line_that_follows(between: str) -> None:
    lines = read_lines(f"<p>one</p>{between}<p>two")
    assert lines.texts == ("one", "two")
    assert lines.html_bytes.tolist() == [6, 4 + len(between) + 6]


def test_inline_elements_and_line_ends() -> None:
    source = "<title>no</title>a<br>b<span>c</span>\n\td<td>e<DIV>f</DIV>g<hr/>h 2 < 3 & 4"
    assert read_lines(source).texts == ("a", "bc d", "e", "f", "g", "h 2 < 3 & 4")


def test_text_without_a_word_is_counted_to_the_next_line() -> None:
    lines = read_lines("<p>a</p><p>|</p><a href=x>b</a>")
    assert lines.texts == ("a", "b")
    assert lines.html_bytes.tolist() == [4, 8 + 4 + 4 + len("<a href=x>b") - 4]


def test_links_are_counted_where_they_begin() -> None:
    lines = read_lines('<p>a</p><a href="x"><p>b <a HREF=y>c</a> <a name=z>d</a></p>e')
    assert lines.texts == ("a", "b c d", "e")
    assert lines.links.tolist() == [0, 2, 0]


@given(st.lists(st.sampled_from(SCRAPS)))
def test_lines_are_told_from_any_source(parts: list[str]) -> None:
    source = "".join(parts)
    lines = read_lines(source)
    assert lines.html_bytes.sum() <= len(source.encode("utf-8", "replace"))
    assert all(" ".join(text.split()) == text != "" for text in lines.texts)
    assert (lines.densities > 0).all()


HOSTILE: dict[str, str] = {
    "empty": "",
    "blank": " \n\t",
    "plain": "just some words",
    "controls": "\0\x01<p>\x0b\x1b a \ufffe\ud800",
    "nested": "<div>" * 50_000 + "x",
    "long": "word " * 1_000_000,
    "many": "<p>word one</p>" * 50_000,
    "comments": "<!--" * 300_000,
    "tags": "<a " * 300_000,
    "quotes": "<a href='" * 200_000,
    "scripts": "<script>" * 100_000,
    "declarations": "<![" * 300_000,
    "ends": "</" * 300_000,
    "numbers": "&#" + "9" * 100_000 + "; &#" + "0" * 100_000 + "65;",
    "ampersands": "&" * 1_000_000 + "a",
    "equals": "<a " + "= " * 300_000,
}
MAKERS: list[Callable[[], System]] = [
    TextDensity,
    lambda: TextDensity(mean=True),
    Threshold,
    lambda: fitted(AdaBoost()),
    lambda: fitted(RpropNetwork(1)),
    lambda: fitted(RpropNetwork(2)),
    lambda: fitted(RpropNetwork(6)),
]


@pytest.mark.parametrize("make", MAKERS)
def test_no_page_stops_a_system(make: Callable[[], System]) -> None:
    system = make()
    for name, html in HOSTILE.items():
        start = time.process_time()
        assert isinstance(system.extract(page(html)), str)
        assert time.process_time() - start < 10, name


def test_text_density() -> None:
    # <p>dense1 is 9 bytes, <p class='a-name'></p>thin01 is 18 + 4 + 6
    html = "<p>dense1<p class='a-name'></p>thin01<p></p>"
    assert read_lines(html).densities.tolist() == [6 / 9, 6 / 28]
    assert TextDensity().extract(page(html)) == "dense1"
    # 3 of 6 bytes are a half, not more; 4 of 7 are more
    assert TextDensity().extract(page("<b>abc")) == ""
    assert TextDensity().extract(page("<b>abcd")) == "abcd"


def test_text_density_over_the_mean_of_the_page() -> None:
    # <p>a is 4 bytes, </p><p>bc 9: 1/4 is over the mean of 1/4 and 2/9, 2/9 is not
    html = "<p>a</p><p>bc</p>"
    assert read_lines(html).densities.tolist() == [1 / 4, 2 / 9]
    assert TextDensity().extract(page(html)) == ""
    assert TextDensity(mean=True).extract(page(html)) == "a"
    assert (TextDensity().name, TextDensity(mean=True).name) == (
        "text-density",
        "text-density-mean",
    )


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        # long, dense, without links
        (f"<p>{PROSE}</p>", PROSE),
        # 82 characters for 2 links are less than 60 for each
        (f"<p><a href=a>{PROSE[:40]}</a><a href=b>{PROSE[40:]}</a></p>", ""),
        # 82 bytes of text for 3 + 400 + 82 of HTML are less than .2
        (f"<!--{'x' * 393}--><p>{PROSE}</p>", ""),
        # too short to stand alone, but between two that do
        (f"<p>{PROSE}</p><p>Summer days</p><p>{PROSE}</p>", f"{PROSE}\nSummer days\n{PROSE}"),
        # on one side only
        (f"<p>{PROSE}</p><p>Summer days</p>", PROSE),
        # special parts, also between
        (f"<p>{PROSE}</p><p>Reply</p><p>{PROSE}</p>", f"{PROSE}\n{PROSE}"),
        (f"<p>{PROSE} Copyright 2007 by the authors</p>", ""),
        (f"<p>{PROSE} Copyright 2007. {PROSE * 3}</p>", f"{PROSE} Copyright 2007. {PROSE * 3}"),
    ],
)
def test_threshold(html: str, kept: str) -> None:
    assert Threshold().extract(page(html)) == kept


def test_threshold_reaches_sixteen_lines() -> None:
    def text(short: int) -> str:
        return f"<p>{PROSE}</p>" + "<p>summer</p>" * short + f"<p>{PROSE}</p>"

    # of 16 short lines each is at most 16 from both ends; of 17 the outer ones are 17 away
    assert Threshold().extract(page(text(16))).count("summer") == 16
    assert Threshold().extract(page(text(17))).count("summer") == 15


def test_labels() -> None:
    example = TRAINING[0]
    lines = read_lines(example.page.html)
    assert line_labels(lines, example.gold).tolist() == [False, False, True, True, False]
    # 3 lines of boilerplate for 2 of content
    assert page_balance(bools("00110")) == 3 / 2
    assert previous_labels(bools("10110")).tolist() == bools("01011").tolist()
    assert previous_labels(bools("")).tolist() == []


def test_pages_without_both_kinds_of_line_teach_nothing() -> None:
    alike = [TrainingPage(page(f"<p>{PROSE}</p>"), gold) for gold in (PROSE, "", "x")]
    empty = TrainingPage(page(""), PROSE)
    assert len(labelled_lines([*alike, empty, TRAINING[0]])) == 1
    for system in (AdaBoost(), RpropNetwork(1)):
        with pytest.raises(ValueError, match="no page with lines"):
            system.fit([*alike, empty])


def test_follow() -> None:
    # what is said after boilerplate, and after content: begins with boilerplate before it
    assert follow(bools("0100"), bools("1111")).tolist() == bools("0111").tolist()
    assert follow(bools("1010"), bools("0001")).tolist() == bools("1011").tolist()
    assert follow(bools(""), bools("")).tolist() == []


@pytest.mark.parametrize("make", [AdaBoost, lambda: RpropNetwork(3), lambda: RpropNetwork(6)])
def test_learned_systems(make: Callable[[], LearnedSystem]) -> None:
    state = make().fit(TRAINING)
    assert state == make().fit(TRAINING)
    with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays)
    system = make()
    system.load(state)
    unseen = training_page("Glacier")
    assert system.extract(unseen.page) == unseen.gold


@pytest.mark.parametrize(
    ("feature_set", "inputs"),
    [
        # (density, length, bytes) of 3 lines
        (1, [0, 3 / 6, 5 / 23, 0, 3, 5, 0, 6, 23]),
        # (density, 1 / length) of 5 lines
        (2, [0, 0, 3 / 6, 5 / 23, 0, 0, 0, 1 / 3, 1 / 5, 0]),
        # the page's 8 characters for 1 link, then (density, length / 5000)
        (3, [8, 0, 0, 3 / 6, 5 / 23, 0, 0, 0, 3 / 5000, 5 / 5000, 0]),
        (4, [8, 0, 0, 3 / 6, 5 / 23, 0, 0, 0, 3 / 5000, 5 / 5000, 0]),
        (5, [8, 0, 3 / 6, 5 / 23, 0, 3 / 5000, 5 / 5000]),
        (6, [8, 0, 3 / 6, 5 / 23, 0, 3 / 5000, 5 / 5000, 1]),
    ],
)
def test_feature_sets(feature_set: int, inputs: list[float]) -> None:
    # the second line is </p><p><a href=x>Three: 4 + 3 + 11 + 5 = 23
    lines = read_lines("<p>One</p><p><a  href=x>Three</a>")
    network = RpropNetwork(feature_set)
    assert network.features(lines, bools("11"))[0].tolist() == pytest.approx(inputs)


def test_long_lines_are_equally_long() -> None:
    lines = read_lines(f"<p>{'a' * 5000}<p>{'b' * 9000}")
    features = RpropNetwork(5).features(lines, bools("00"))
    assert features[0, -3:].tolist() == [0, 1, 1]


def test_lines_weigh_as_their_page_s_balance() -> None:
    # Two pages of 12 lines that look alike to set 1, save at the ends: 2 are content, then 10.
    # Of the 20 lines within, 12 are content. Weighted by 10/2 and 2/10 that is
    # (5 x 2 + .2 x 10) / (5 x 10 + .2 x 10) = .23: the network must say boilerplate.
    def example(name: str, kept: range) -> TrainingPage:
        texts = [" ".join(f"{name}{line:02}{word}" for word in "abcde") for line in range(12)]
        html = "".join(f"<p>{text}</p>" for text in texts)
        return TrainingPage(page(html), "\n".join(texts[line] for line in kept))

    examples = [example("x", range(5, 7)), example("y", range(1, 11))]
    network = RpropNetwork(1)
    network.load(network.fit(examples))
    lines = read_lines(examples[1].page.html)
    assert line_labels(lines, examples[1].gold).sum() == 10
    assert not network.own_labels(lines)[2:10].any()


def test_cascade() -> None:
    network = RpropNetwork(6)
    network.load(network.fit(TRAINING))
    result = cascade(TRAINING, network)
    assert result.true.f1 == result.own.f1 == 1
    # 5 lines a page: tenths 0, 2, 4, 6, 8; the third and fourth line are content
    assert result.own_tenths == result.true_tenths == (0, 0, 0, 0, 1, 0, 1, 0, 0, 0)


def test_cascade_of_errors() -> None:
    # A network that repeats the previous label, which is right on 4 of 5 lines when it is true,
    # and never begins by itself.
    network = RpropNetwork(6)
    inputs = 8
    only_previous = np.zeros((inputs, 10))
    only_previous[-1] = 1
    state = io.BytesIO()
    np.savez(
        state,
        mean=np.full(inputs, 0.5),
        scale=np.ones(inputs),
        hidden=only_previous,
        hidden_bias=np.zeros(10),
        output=np.ones(10),
        output_bias=np.array(-5.0),
    )
    network.load(state.getvalue())
    result = cascade(TRAINING[:1], network)
    # labels 00110: said 00011 after true labels, 00000 after its own
    assert (result.true.accuracy, result.true.precision, result.true.recall) == (3 / 5, 0.5, 0.5)
    assert (result.own.accuracy, result.own.recall) == (3 / 5, 0)
    assert result.true_tenths == (0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
    assert result.own_tenths == (0,) * 10
    assert network.extract(TRAINING[0].page) == ""


def test_networks_without_previous_labels_have_no_cascade() -> None:
    network = RpropNetwork(5)
    network.load(network.fit(TRAINING))
    result = cascade(TRAINING, network)
    assert (result.true, result.true_tenths) == (result.own, result.own_tenths)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_stumps_vote_as_those_of_scikit_learn(seed: int) -> None:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    generator = np.random.default_rng(seed)
    examples = []
    for _ in range(2):
        kept = generator.permutation([False, True, *generator.integers(2, size=10).astype(bool)])
        texts = [
            " ".join(f"w{word}" for word in generator.integers(10**6, size=size))
            for size in generator.integers(4, 9, size=len(kept))
        ]
        html = "".join(f"<p>{'<a href=x></a>' * generator.integers(3)}{text}" for text in texts)
        gold = "\n".join(text for text, keep in zip(texts, kept, strict=True) if keep)
        examples.append(TrainingPage(page(html), gold))
    pairs = labelled_lines(examples)
    features = np.concatenate([line_features(a, previous_labels(b)) for a, b in pairs])
    labels = np.concatenate([labels for _, labels in pairs])
    stump = DecisionTreeClassifier(max_depth=1)
    model = AdaBoostClassifier(stump, n_estimators=ROUNDS, random_state=0).fit(features, labels)
    system = AdaBoost()
    system.load(system.fit(examples))
    own = np.concatenate([system.labels(a, previous_labels(b)) for a, b in pairs])
    assert own.tolist() == model.predict(features).tolist()
