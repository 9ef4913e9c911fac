"""The page that a training writes beside its model: what the model is, in words and charts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from shlex import quote as shell_quoted
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..model.calibration import Calibration
from ..render.errors import PagesightError
from ..render.files import write_whole
from ..train.calibrate import Bin, expected_error
from .study.wording import number_text

if TYPE_CHECKING:
    import altair as alt

# Each colour by day, and what it is where the reader's screen is dark.
_INK, _SOFT, _RULE, _PAPER = "#1d2329", "#5f6973", "#dde1e5", "#ffffff"
_BY_NIGHT = {_INK: "#e4e8ec", _SOFT: "#9aa5b0", _RULE: "#353c44", _PAPER: "#1d2126"}
_MEMBERS = {"#1f5fbf": "#6ea8ff", "#c2560c": "#f0964f", "#1e8449": "#4cc07a", "#8a3fb5": "#c68be8"}
_ACCENT = next(iter(_MEMBERS))
_FONT = 'system-ui, "Segoe UI", "Liberation Sans", sans-serif'
# Pixels: the sides of the charts; the area of the greatest dot.
_SQUARE, _PANEL, _AREA = 440, (390, 250), 800

# Whoever reads Markdown may take these for markup; an underscore is none inside a word.
_MARKUP = re.compile(r"[\\`*\[\]<>|~&#$]|(?<![^\W_])_|_(?![^\W_])")
_CAPITALS = {"f1": "F1", "ece": "ECE", "nll": "NLL", "rouge": "ROUGE", "lsum": "LSum"}

_ABOUT = """\
A model of pagesight that finds the main content of web pages. It reads a page as a sequence of
blocks: what each says, where it stands, what stands around it. To each block it gives the
probability that it is main content."""
_LIMITS = """\
- What main content is, it learned from the labels of one selection of pages. Where people there
  drew the line otherwise than you would, so does the model.
- Held-out pages that also chose the epoch or the calibration flatter it a little: rather trust
  the figures of a test part, and most of all those of your own pages.
- Data sets hold stored pages, often without their style sheets and pictures. Live pages look
  different; they, other languages and other kinds of pages may be labelled worse.
- Its probabilities are honest on average over pages like those of the calibration, not on each.
- It fits the features that it was trained on, and is refused where they are computed otherwise."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A member after an epoch, from 1: its training loss, and held-out F1 and NLL of the blocks."""

    epoch: int
    loss: float
    f1: float
    nll: float


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What a training knows of the model that it made.

    settings, figures: by their names in snake case, in the order in which they are shown.
    before, after: the held-out blocks before and after the calibration.
    history: the epochs of each member.
    command: what repeats the training.
    """

    name: str
    dataset: str
    split: str
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

    Raises PagesightError where the drawing libraries are not installed, and OSError.
    """
    try:
        charts = {"reliability": _svg(_reliability(facts)), "training": _svg(_training(facts))}
    except ImportError as error:
        reason = f"{error.name} is not installed: pip install 'pagesight[train]'"
        raise PagesightError(f"model card: {reason}") from error
    for kind, svg in charts.items():
        write_whole(path.with_suffix(f".{kind}.svg"), svg.encode())
    write_whole(path.with_suffix(".md"), _page(facts, path).encode("utf-8", "replace"))


def _page(facts: CardFacts, path: Path) -> str:
    origin = {"data set": facts.dataset, "split": facts.split, "recipe": facts.recipe}
    settings = {_words(key): value for key, value in facts.settings.items()}
    figures = [(_words(key), _figure(value)) for key, value in facts.figures.items()]
    parts = [
        f"# {_escaped(facts.name)}",
        _ABOUT,
        _fenced(f"pagesight extract --model {shell_quoted(path.name)} https://example.org/"),
        "## Figures",
        _table(("figure", "value"), figures),
        "## Training",
        _table(("setting", "value"), [*origin.items(), *settings.items()]),
        _image("Training loss and held-out F1 by epoch", path, "training"),
        "Each member at its best epoch, the one of the highest held-out F1:",
        _table(("member", "epochs", "best", "loss", "F1", "NLL"), _members(facts.history)),
        "## Calibration",
        _calibration_text(facts.calibration),
        _image("Reliability before and after calibration", path, "reliability"),
        _table(("held-out blocks", "before", "after"), _errors(facts)),
        "ECE, the expected calibration error, is the mean distance of what the blocks of a bin\n"
        "promise to what they hold (Naeini 2015).",
        "## Limits",
        _LIMITS,
        "## Once more\n\nThis trains it again:",
        _fenced(facts.command),
    ]
    return "\n\n".join(parts) + "\n"


def _members(history: Sequence[Sequence[Epoch]]) -> Iterable[Sequence[object]]:
    for number, epochs in enumerate(history, 1):
        if epochs:
            best = _best(epochs)
            yield number, len(epochs), best.epoch, *map(_figure, (best.loss, best.f1, best.nll))


def _best(epochs: Sequence[Epoch]) -> Epoch:
    return max(epochs, key=lambda epoch: epoch.f1 if isfinite(epoch.f1) else -1.0)


def _errors(facts: CardFacts) -> Iterable[Sequence[object]]:
    both = (facts.before, facts.after)
    gaps = [[abs(each.probability - each.content) for each in bins] for bins in both]
    yield "ECE", *(_figure(expected_error(bins)) for bins in both)
    yield "farthest bin", *(_figure(max(each, default=float("nan"))) for each in gaps)
    yield "blocks", *(sum(each.blocks for each in bins) for bins in both)


def _calibration_text(calibration: Calibration) -> str:
    if calibration == Calibration():
        return "The probabilities are those of the network and its chain, unchanged."
    verdict = "too sure of itself" if calibration.slope < 1 else "not sure enough of itself"
    return (
        f"Before it, the model was {verdict}. A line over the log odds sets that right (Platt\n"
        "1999): log odds after = "
        f"{calibration.slope:.3f} × log odds before {'−' if calibration.offset < 0 else '+'} "
        f"{abs(calibration.offset):.3f}. The order of the blocks stays."
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    lines += [[_escaped(_plain(cell)) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figure(value: object) -> object:
    return number_text(value) if isinstance(value, float) else value


def _plain(value: object) -> str:
    """A cell's text: yes, 12,345, 0.001, a list's items; – for nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return str(value if value is not None else "") or "–"


def _words(key: str) -> str:
    return " ".join(_CAPITALS.get(word, word) for word in key.split("_"))


def _escaped(text: str) -> str:
    """Any text on one line, to be read as it is."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def _fenced(code: str) -> str:
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}sh\n{code}\n{fence}"


def _image(says: str, path: Path, kind: str) -> str:
    return f"![{says}]({quote(os.fsencode(path.with_suffix(f'.{kind}.svg').name))})"


def _reliability(facts: CardFacts) -> alt.LayerChart:
    """Dots as large as their bins, and the diagonal on which they belong."""
    import altair as alt

    names = [f"{name}: ECE {ece}" for name, ece in zip(_TIMES, _eces(facts), strict=True)]
    rows = [
        asdict(each) | {"series": name, "says": _says(each)}
        for name, bins in zip(names, (facts.before, facts.after), strict=True)
        for each in bins
    ]
