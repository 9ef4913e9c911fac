"""A study as one HTML file: its table, its charts, and pages with what each system made of them.

The file opens offline, loads nothing, and runs no script but its own: its Content-Security-Policy
names that one by its hash. The pages' texts travel compressed in an inert script element, and reach
the view as text only.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from .charts import draw_charts
from .ranking import main_pairs, ranked
from .result import PageView, StudyResult
from .table import metric_names, summary, table_rows

# More of a text nobody reads, and the browser would be busy with it.
_MOST_CHARACTERS = 250_000
_MOST_BLOCKS = 3_000
# Enough to see which block it is.
_MOST_BLOCK_CHARACTERS = 400
_SCRIPTS = ("report-diff.js", "report-pages.js", "report.js")


def write_report(result: StudyResult, views: Sequence[PageView], path: Path) -> None:
    """Write a study's report, with the given pages to look at in the given order.

    The same study gives the same bytes. Raises OSError where the file cannot be written.
    """
    script = "".join(map(_read, _SCRIPTS))
    html = _template().render(
        result=result,
        summary=summary(result),
        metrics=metric_names(result),
        rows=table_rows(result),
        charts=[(chart.title, chart.note, Markup(chart.svg)) for chart in draw_charts(result)],
        paired=bool(main_pairs(result)),
        pages=len(views),
        data=_packed(_data(result, views)),
        pictures=[base64.b64encode(view.picture).decode() for view in views],
        style=Markup(_read("report.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    # Half of a surrogate pair, as a recorded output may hold, has no bytes in UTF-8.
    path.write_bytes(html.encode("utf-8", "replace"))


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _template() -> Any:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_read("report.html"))


def _packed(data: Mapping[str, Any]) -> str:
    """JSON, compressed, in characters that mean nothing to HTML."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), mtime=0)).decode()


def _data(result: StudyResult, views: Sequence[PageView]) -> dict[str, Any]:
    """What `report-pages.js` reads; lists that are by system are in rank order."""
    systems = ranked(result)
    failures = [system.failures for system in systems]
    names = [system.name for system in systems]
    return {
        "main": result.main,
        "systems": names,
        "pages": [_page(view, names, failures) for view in views],
    }


def _page(
    view: PageView, names: Sequence[str], failures: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    return {
        "id": view.id,
        "url": view.url,
        "type": view.page_type,
        "gold": None if view.gold is None else _cut(view.gold, _MOST_CHARACTERS),
        "outputs": [_cut(view.outputs.get(name, ""), _MOST_CHARACTERS) for name in names],
        "failures": [why.get(view.id, "") for why in failures],
        "scores": [_score(view.scores.get(name)) for name in names],
        "blocks": [_cut(text, _MOST_BLOCK_CHARACTERS) for text in view.blocks[:_MOST_BLOCKS]],
        "boxes": _boxes(view),
        "goldKept": _digits(view.gold_kept),
        "kept": [_digits(view.kept.get(name, ())) for name in names],
        "scale": view.scale,
    }


def _boxes(view: PageView) -> list[list[int]] | None:
    if view.boxes is None:
        return None
    return [[round(side) for side in box] for box in view.boxes[:_MOST_BLOCKS]]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + " …"


def _digits(flags: Sequence[bool]) -> str:
    return "".join("01"[flag] for flag in flags)


def _score(value: float | None) -> float | None:
    return round(value, 3) if value is not None and isfinite(value) else None
