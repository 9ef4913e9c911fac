"""Tables for a terminal."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from .doctor import Check

if TYPE_CHECKING:
    from ..train.evaluate import Evaluation

# Published for the same splits (Vogels, Ganea, Eickhoff 2018, table 1).
_PAPER = {
    "cleaneval": ("0.84", "0.88", "0.85", "0.86"),
    "web2text": ("0.86", "0.87", "0.90", "0.88"),
}


def print_checks(checks: Sequence[Check]) -> None:
    """One row a check of `doctor`."""
    table = Table(box=None, show_header=False)
    for check in checks:
        mark = "[green]ok[/]" if check.ok else "[red]no[/]"
        table.add_row(mark, check.name, check.detail)
    Console().print(table)


def print_evaluations(evaluations: Sequence[Evaluation]) -> None:
    """One row a model, mean and deviation below several, and the paper's figures."""
    first = evaluations[0]
    title = f"{first.dataset}, {first.split}: {first.pages} test pages"
    table = Table(title=title, box=SIMPLE, padding=(0, 1, 0, 0))
    for column in ("model", "acc.", "prec.", "recall", "F1", "word F1", "ROUGE", "ECE"):
        table.add_column(column, justify="left" if column == "model" else "right", no_wrap=True)
    rows = [(*astuple(e.block), e.word_f1, e.rouge_lsum, e.ece) for e in evaluations]
    for evaluation, row in zip(evaluations, rows, strict=True):
        table.add_row(evaluation.model, *(f"{value:.4f}" for value in row))
    if len(rows) > 1:
        columns = list(zip(*rows, strict=True))
        table.add_row("mean", *(f"{statistics.fmean(column):.4f}" for column in columns))
        table.add_row("deviation", *(f"{statistics.stdev(column):.4f}" for column in columns))
    if first.dataset == "cleaneval" and first.split in _PAPER:
        table.add_row("the paper", *_PAPER[first.split], "", "", "")
    Console().print(table)
