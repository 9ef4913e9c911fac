"""The page that a training writes beside its model: what the model is, in words and charts."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote as shell_quoted
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..model.calibration import Calibration
from ..render.errors import PagesightError
from ..render.files import write_whole
from ..train.calibrate import Bin, expected_error
from ..train.settings import Epoch
from .study.wording import number_text

if TYPE_CHECKING:
    import altair as alt

# Each colour by day, and what it is on a dark screen. Members take theirs in turn.
_INK, _SOFT, _RULE, _PAPER = "#1d2329", "#5f6973", "#dde1e5", "#ffffff"
_MEMBERS = "#1f5fbf #c2560c #1e8449 #8a3fb5 #0c7f94 #b3236b".split()
_NIGHT = "#e4e8ec #9aa5b0 #353c44 #1d2126 #6ea8ff #f0964f #4cc07a #c68be8 #45bfd4 #f07ab0".split()
_BY_NIGHT = dict(zip((_INK, _SOFT, _RULE, _PAPER, *_MEMBERS), _NIGHT, strict=True))
_FONT = 'text { font-family: system-ui, "Segoe UI", "Liberation Sans", sans-serif }'
# Pixels: the sides of the charts, the areas of the smallest and of the greatest dot.
_SQUARE, _PANEL, _AREAS = 430, (400, 240), (12, 560)
_TEXT = {"labelColor": _INK, "labelFontSize": 12}
_TEXT |= {"titleColor": _SOFT, "titleFontSize": 13, "titleFontWeight": "normal"}
_LINES = {"gridColor": _RULE, "domainColor": _RULE, "tickColor": _RULE}
_SYMBOLS = {"fillColor": _PAPER, "padding": 6, "symbolStrokeWidth": 0, "symbolOpacity": 1}
_CONFIG = {
    "font": "sans-serif",
    "axis": {**_TEXT, **_LINES, "titlePadding": 10, "labelFlush": False},
    "legend": {**_TEXT, **_SYMBOLS},
    "view": {"stroke": None},
}

# Whoever reads Markdown may take these for markup; an underscore is none inside a word.
_MARKUP = re.compile(r"[\\`*\[\]<>|~&#$]|(?<![^\W_])_|_(?![^\W_])")
_CAPITALS = {"f1": "F1", "ece": "ECE", "nll": "NLL", "rouge": "ROUGE", "lsum": "LSum"}

_ABOUT = """\
A model of pagesight that finds the main content of web pages. It reads a page as a sequence of
blocks: what each says, where it stands, what stands around it. To each block it gives the
probability that it is main content."""
_READING = """\
On the dashed line a probability is kept like a promise; above it more is content than promised,
below it less. ECE, the expected calibration error, is the mean distance from the line (Naeini et
al. 2015)."""
_LIMITS = """\
- It learned what main content is from the labels of one selection of pages. Where people there
  drew the line otherwise than you would, so does the model.
- Held-out pages that also chose the epoch or the calibration flatter it a little. Rather trust
  the figures of a test part, and most of all those of your own pages.
- Data sets hold stored pages, often without their style sheets and pictures. Live pages look
  different; they, other languages and other kinds of pages may be labelled worse.
- Its probabilities are honest on average over pages like the held-out ones, not on each page."""


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What a training knows of the model that it made.

    policies: what counts as main content, and the data set and split that taught it.
    settings, figures: by their names in snake case, in the order in which they are shown.
    before, after: the held-out blocks before and after the calibration.
    history: the epochs of each member.
    command: what repeats the training.
    """

    name: str
    policies: Mapping[str, str]
    recipe: str
    settings: Mapping[str, Any]
    figures: Mapping[str, float | int | str | bool]
    calibration: Calibration
    before: tuple[Bin, ...]
    after: tuple[Bin, ...]
    history: tuple[tuple[Epoch, ...], ...]
    command: str


def write_page(facts: CardFacts, path: Path) -> None:
    """Write NAME.md, NAME.reliability.svg and NAME.training.svg beside a model, NAME.onnx.

    There is no chart of a training without epochs. Raises PagesightError where the drawing
    libraries are not installed, and OSError.
    """
    try:
        charts = {"reliability": _svg(_reliability(facts))}
        if any(facts.history):
            charts["training"] = _svg(_training(facts.history))
    except ImportError as error:
        reason = f"{error.name} is not installed: pip install 'pagesight[train]'"
        raise PagesightError(f"model card: {reason}") from error
    for kind, svg in charts.items():
        write_whole(path.with_suffix(f".{kind}.svg"), svg.encode())
    write_whole(path.with_suffix(".md"), _page(facts, path).encode("utf-8", "replace"))


def _page(facts: CardFacts, path: Path) -> str:
    origin = {f"policy {name}": taught for name, taught in facts.policies.items()}
    origin["recipe"] = facts.recipe
    settings = {_words(key): value for key, value in facts.settings.items()}
    figures = [(_words(key), _figure(value)) for key, value in facts.figures.items()]
    parts = [
        f"# {_escaped(facts.name)}",
        _ABOUT,
        _fenced(f"pagesight extract --model {shell_quoted(path.name)} https://example.org/"),
        "## Figures",
        _table(("figure", "value"), figures, "---:"),
        "## Training",
        _table(("setting", "value"), [*origin.items(), *settings.items()], "---"),
        *(_history_parts(facts.history, path) if any(facts.history) else ()),
        "## Calibration",
        _calibration_text(facts.calibration),
        _image("Reliability diagram, before and after calibration", path, "reliability"),
        _READING,
        _table(("held-out blocks", "before", "after"), _errors(facts), "---:"),
        "## Limits",
        _LIMITS,
        "## The same training again",
        _fenced(facts.command),
    ]
    return "\n\n".join(parts) + "\n"


def _history_parts(history: Sequence[Sequence[Epoch]], path: Path) -> Iterable[str]:
    yield _image("Training loss and held-out F1 of each member by epoch", path, "training")
    yield "Members are kept as they end. The dots are their epochs of the highest held-out F1:"
    rows = []
    for number, epochs in enumerate(history, 1):
        if epochs:
            best = _best(epochs)
            reached = map(number_text, (best.loss, best.f1, best.nll))
            rows.append((number, len(epochs), best.epoch, *reached))
    yield _table(("member", "epochs", "best epoch", "loss", "F1", "NLL"), rows, "---:")


def _best(epochs: Sequence[Epoch]) -> Epoch:
    """The last of the best."""
    return max(reversed(epochs), key=lambda epoch: epoch.f1 if math.isfinite(epoch.f1) else -1.0)


def _errors(facts: CardFacts) -> Iterable[Sequence[object]]:
    both = (facts.before, facts.after)
    gaps = [[abs(each.probability - each.content) for each in bins] for bins in both]
    yield "ECE", *(number_text(expected_error(bins)) for bins in both)
    yield "farthest dot", *(number_text(max(each, default=math.nan)) for each in gaps)
    yield "blocks", *(sum(each.blocks for each in bins) for bins in both)


def _calibration_text(calibration: Calibration) -> str:
    slope = calibration.slope
    if slope == 1:
        return "The probabilities are left as the model gives them."
    sure = "surer of itself than it should" if slope < 1 else "less sure of itself than it could"
    return (
        f"Uncalibrated, the model is {sure} be. A factor for its log odds\n"
        "corrects it, and leaves the labels as they are (Guo et al. 2017):\n\n"
        f"> calibrated log odds = {slope:.3f} × log odds"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], align: str) -> str:
    lines = [head, ["---", *[align] * (len(head) - 1)]]
    lines += [[_escaped(_plain(cell)) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figure(value: object) -> object:
    """A measured number as reports and charts print it: .921; anything else as it is."""
    return number_text(value) if isinstance(value, float) else value


def _plain(value: object) -> str:
    """A cell's text: yes, 12,345, 0.0003, a list's items; – for nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        value = [f"{_words(str(key))} {_plain(inner)}" for key, inner in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "–"
    text = f"{value:,}" if isinstance(value, int) else str("" if value is None else value)
    return text.strip() or "–"


def _words(key: str) -> str:
    return " ".join(_CAPITALS.get(word, word) for word in key.split("_"))


def _escaped(text: str) -> str:
    """Any text on one line, to be read as it is."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def _fenced(code: str) -> str:
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", code))])
    return f"{fence}sh\n{code}\n{fence}"


def _image(says: str, path: Path, kind: str) -> str:
    return f"![{says}]({quote(os.fsencode(path.with_suffix(f'.{kind}.svg').name))})"


def _reliability(facts: CardFacts) -> alt.LayerChart:
    """Dots, the larger the more blocks are in their bin, and the line on which they belong."""
    import altair as alt

    both = {"before": facts.before, "after": facts.after}
    names = {time: f"{time}, ECE {number_text(expected_error(both[time]))}" for time in both}
    rows = [
        {
            **asdict(each),
            "series": names[time],
            "says": f"{time}: {number_text(each.probability)} promised, "
            f"{number_text(each.content)} content, {each.blocks:,} blocks",
        }
        for time, bins in both.items()
        for each in bins
    ]
    most = max((each.blocks for bins in both.values() for each in bins), default=1)
    tens = [10**power for power in range(9) if 10**power <= most]
    share = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    order = alt.Scale(domain=list(names.values()), range=[_SOFT, _MEMBERS[0]])
    size = alt.Size("blocks:Q").scale(type="sqrt", domain=[0, most], range=_AREAS)
    size = size.legend(orient="bottom-right", values=tens[-3:], format=",d", symbolFillColor=_SOFT)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("probability:Q", title="probability that is promised", axis=share),
        y=alt.Y("content:Q", title="share that is content", axis=share),
        color=alt.Color("series:N", title=None).scale(order).legend(orient="top-left"),
    )
    ends = alt.Chart(alt.InlineData(values=[{"at": 0}, {"at": 1}])).encode(x="at:Q", y="at:Q")
    dots = base.mark_circle(opacity=0.85, stroke=_PAPER).encode(size=size, description="says:N")
    layers = [
        ends.mark_line(aria=False, color=_SOFT, strokeDash=[4, 4], strokeWidth=1),
        base.mark_line(aria=False, strokeWidth=1.5, opacity=0.5),
        dots,
    ]
    return alt.LayerChart(layer=layers).properties(width=_SQUARE, height=_SQUARE)


def _training(history: Sequence[Sequence[Epoch]]) -> alt.HConcatChart:
    """Loss and F1 by epoch, a line for each member, with a dot at its best epoch."""
    import altair as alt

    members = [f"member {number}" for number in range(1, len(history) + 1)]
    rows = [
        {
            **asdict(each),
            "member": member,
            "best": each == _best(epochs),
            "says": f"{member}, epoch {each.epoch}: loss {number_text(each.loss)}, "
            f"F1 {number_text(each.f1)}",
        }
        for member, epochs in zip(members, history, strict=True)
        for each in epochs
    ]
    colours = [_MEMBERS[number % len(_MEMBERS)] for number in range(len(members))]
    colour = alt.Color("member:N", title=None).scale(domain=members, range=colours)
    x = alt.X("epoch:Q").scale(zero=False, nice=False)
    base = alt.Chart(alt.InlineData(values=rows), width=_PANEL[0], height=_PANEL[1]).encode(
        x=x.axis(format="d", tickMinStep=1, grid=False), color=colour.legend(orient="top")
    )
    panels = []
    for field, title in (("loss", "training loss"), ("f1", "held-out F1")):
        drawn = base.encode(y=alt.Y(f"{field}:Q", title=title).scale(zero=False).axis(tickCount=6))
        dots = drawn.transform_filter("datum.best").mark_circle(size=90, opacity=1, stroke=_PAPER)
        line = drawn.mark_line(strokeWidth=1.75).encode(description="member:N")
        panels.append(alt.LayerChart(layer=[line, dots.encode(description="says:N")]))
    return alt.HConcatChart(hconcat=panels, spacing=36)


def _svg(chart: alt.LayerChart | alt.HConcatChart) -> str:
    """A picture that stands alone, with colours for light and dark screens."""
    import vl_convert

    # JSON knows no NaN: a loss that is none is a gap in its line.
    spec = json.loads(json.dumps(chart.to_dict()), parse_constant=lambda _: None)
    spec |= {"background": _PAPER, "padding": 16, "config": _CONFIG}
    rules = "".join(
        f'[{part}="{day}"] {{ {part}: {night} }} '
        for day, night in _BY_NIGHT.items()
        for part in ("fill", "stroke")
    )
    style = f"<style>{_FONT} @media (prefers-color-scheme: dark) {{ {rules}}}</style>"
    head, bracket, rest = vl_convert.vegalite_to_svg(spec).partition(">")
    return head + bracket + style + rest
