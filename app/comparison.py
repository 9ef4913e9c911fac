"""What the command `compare` does: a study, its table, its JSON file and its report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from errno import EISDIR
from math import isfinite
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..render.files import write_whole
from .study.compare import Finding, compare
from .study.ranking import ranked, top_group
from .study.result import Figure, StudyResult, SystemResult
from .study.study import Request
from .study.wording import interval_text, number_text, time_text

REPORT = "index.html"


def compare_command(
    request: Request,
    metrics: Sequence[str],
    retrieval: bool,
    json_file: Path | None,
    report: Path | None,
) -> StudyResult:
    """Make a study, print its table, write what is asked for. Raises PagesightError, OSError."""
    _check_writable(json_file, report)
    finding = compare(request, metrics, retrieval)
    _print_left_out(finding)
    print_study(finding.result)
    if json_file is not None:
        text = json.dumps(as_json(finding.result), indent=1) + "\n"
        write_whole(json_file, text.encode())
    if report is not None:
        from .study.report import write_report

        write_report(finding.result, finding.views(), report / REPORT)
    return finding.result


def as_json(result: StudyResult) -> dict[str, Any]:
    """A study's result as its JSON file has it."""
    head = ("dataset", "split", "input", "pages", "without_gold", "types", "main")
    return {
        **{key: getattr(result, key) for key in head},
        "systems": {system.name: _system(system) for system in result.systems},
        "differences": [
            {
                **{"metric": pair.metric, "first": pair.first, "second": pair.second},
                **({"page_type": pair.page_type} if pair.page_type else {}),
                **_figure(pair.difference),
            }
            for pair in result.pairs
        ],
        **({"agreement": result.agreement} if result.agreement else {}),
    }


def print_study(result: StudyResult) -> None:
    """One row a system, the best first; a star marks those that cannot be told from the best."""
    pages = f"{result.pages} page" + "s" * (result.pages != 1)
    title = f"{result.dataset}, {result.split}: {pages}, {result.input} input"
    caption = "wall times of the extraction alone"
    if result.pairs:
        caption = f"* the best, and what cannot be told apart from it; {caption}"
    elif not result.agreement:
        caption = f"too few pages to tell systems apart; {caption}"
    table = Table(title=title, caption=caption, box=SIMPLE, padding=(0, 1, 0, 0))
    metrics = list(result.systems[0].figures)
    table.add_column("")
    table.add_column("system", no_wrap=True, overflow="fold")
    table.add_column(_title(metrics[0]), justify="right", no_wrap=True)
    for metric in metrics[1:]:
        table.add_column(_title(metric), justify="right")
    table.add_column("a page", justify="right", no_wrap=True)
    table.add_column("failed", justify="right")
    best = top_group(result)
    for system in ranked(result):
        first, *rest = (system.figures[metric] for metric in metrics)
        table.add_row(
            "*" if system.name in best else "",
            escape(system.name),
            _with_interval(first),
            *(number_text(figure.mean) for figure in rest),
            "" if system.seconds is None else time_text(system.seconds),
            str(system.errors or ""),
        )
    # A file or a pipe has no width to fit into.
    console = Console()
    Console(width=None if console.is_terminal else 200).print(table)


def _system(system: SystemResult) -> dict[str, Any]:
    return {
        **_figures(system.figures),
        "seconds_per_page": system.seconds,
        "errors": system.errors,
        "version": system.version,
        "peak_bytes": system.memory,
        "failures": system.failures,
        "by_type": {kind: _figures(figures) for kind, figures in system.by_type.items()},
    }


def _figures(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {metric: _figure(figure) for metric, figure in figures.items()}


def _figure(figure: Figure) -> dict[str, float | None]:
    """A figure of no page is null."""
    return {key: value if isfinite(value) else None for key, value in asdict(figure).items()}


def _check_writable(json_file: Path | None, report: Path | None) -> None:
    """Raises OSError now, and not after hours."""
    if report is not None:
        report.mkdir(parents=True, exist_ok=True)
    for path in (json_file, report and report / REPORT):
        if path is not None:
            if path.is_dir():
                raise IsADirectoryError(EISDIR, "is a folder", str(path))
            with NamedTemporaryFile(dir=path.parent):
                pass


def _print_left_out(finding: Finding) -> None:
    study, result = finding.study, finding.result
    if result.without_gold:
        typer.echo(f"pagesight: {result.without_gold} pages without gold are left out", err=True)
    for id, why in study.not_rendered.items():
        typer.echo(f"pagesight: {id}: not rendered: {why}", err=True)
    for id, cut in study.cut.items():
        typer.echo(f"pagesight: {id}: rendered in part: {', '.join(cut)}", err=True)


def _with_interval(figure: Figure) -> str:
    return f"{number_text(figure.mean)} ({interval_text(figure)})"


def _title(metric: str) -> str:
    return metric.replace("_", " ")
