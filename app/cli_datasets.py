"""The commands that work on data sets: what each takes; the work is in the modules beside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

DatasetName = Annotated[str, typer.Option(help="cleaneval, wcxb, aeb, or a folder of your own.")]
Data = Annotated[Path | None, typer.Option(help="Where the data set lies; else PAGESIGHT_DATA.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first pages.")]
FROM_STORE = "Use the renderings that `prepare` stored."


def prepare(
    dataset: DatasetName,
    data: Data = None,
    split: Annotated[str, typer.Option(help="A split of the data set, or all.")] = "all",
    limit: Limit = None,
    tabs: Annotated[int, typer.Option(min=1, help="Pages rendered at a time.")] = 2,
) -> None:
    """Render a data set into the store; call it again to go on."""
    from .training import Selection, prepare_command

    tally = prepare_command(Selection(dataset, data, split, limit), tabs)
    for id, cut in tally.partial.items():
        typer.echo(f"pagesight: {id}: partial: {', '.join(cut)}", err=True)
    for error in tally.failures.values():
        typer.echo(f"pagesight: {error}", err=True)
    typer.echo(", ".join(f"{count} {what}" for what, count in sorted(tally.done.items())))
    raise typer.Exit(1 if tally.failures else 0)


def train(
    dataset: DatasetName,
    output: Annotated[Path, typer.Option("-o", "--output", help="The .onnx file to write.")],
    split: Annotated[
        str, typer.Option(help="The split whose training pages to use, or all.")
    ] = "all",
    data: Data = None,
    policy: Annotated[
        str, typer.Option(help="A name for what these pages call main content.")
    ] = "own",
    also: Annotated[
        list[str] | None,
        typer.Option(help="POLICY=DATASET:SPLIT, more pages for a policy, or for another."),
    ] = None,
    start: Annotated[str, typer.Option("--from", help="A model to go on from, such as web.")] = "",
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="How many models; the best is kept.")] = 1,
    epochs: Annotated[int | None, typer.Option(min=1, help="Passes over the pages.")] = None,
    members: Annotated[
        int | None, typer.Option(min=2, help="Networks that are averaged, each held out a part.")
    ] = None,
    chain: Annotated[
        str, typer.Option(help="joint, or separate: blocks and edges each for themselves.")
    ] = "separate",
    pairwise_weight: Annotated[
        float | None, typer.Option(help="Lambda of the chain; else the recipe's.")
    ] = None,
    vision: Annotated[bool, typer.Option(help="Learn to look at the pages' pictures.")] = True,
    render: Annotated[bool, typer.Option(help=FROM_STORE)] = True,
    recipe: Annotated[
        str, typer.Option(help="pagesight, or web2text: the paper's features and training.")
    ] = "pagesight",
    steps: Annotated[int, typer.Option(min=1, help="Training steps of web2text.")] = 5_000,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    log: Annotated[Path | None, typer.Option(help="Folder for TensorBoard.")] = None,
) -> None:
    """Train a model on a data set; call it again after an interrupt to go on."""
    from ..model.card import RECIPES
    from ..train.settings import CHAINS, FitSettings
    from .fitting import TrainRequest, train_command
    from .training import Selection

    if recipe not in RECIPES:
        usage(f"--recipe {recipe}: there are {', '.join(RECIPES)}")
    if chain not in CHAINS:
        usage(f"--chain {chain}: there are {', '.join(CHAINS)}")
    usual = FitSettings()
    settings = FitSettings(
        seed=seed,
        epochs=epochs or usual.epochs,
        members=members or usual.members,
        sight=usual.sight if vision else 0,
        chain=chain,
        pairwise_weight=RECIPES[recipe].pairwise_weight
        if pairwise_weight is None
        else pairwise_weight,
        device=device,
    )
    pages = [(policy, Selection(dataset, data, split))]
    for text in also or []:
        name, _, rest = text.partition("=")
        other, _, part = rest.rpartition(":")
        if not (name and other and part):
            usage(f"--also {text}: POLICY=DATASET:SPLIT is asked for")
        pages.append((name, Selection(other, data, part)))
    if recipe == "web2text" and (also or start):
        usage("--recipe web2text: the paper's training takes no --also and no --from")
    request = TrainRequest(pages, output, settings, start, seeds, render, recipe, steps, log)
    for card in train_command(request):
        typer.echo(f"{card.name}: {card.figures}")


def evaluate(
    dataset: DatasetName,
    split: Annotated[str, typer.Option(help="The split whose test pages to use, or all.")] = "all",
    data: Data = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Models to score; else the one of this split.")
    ] = None,
    policy: Annotated[str, typer.Option(help="Of the models; else their first.")] = "",
    render: Annotated[bool, typer.Option(help=FROM_STORE)] = False,
    vision: Annotated[bool, typer.Option("--vision", help="Let their pictures count.")] = False,
    limit: Limit = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="File to write.")] = None,
) -> None:
    """Score a model on the test pages of a split."""
    import json

    from .report import print_evaluations
    from .training import Selection, evaluate_command, summary

    if vision and not render:
        usage("--vision: only renderings have pictures; give --render too")
    chosen = Selection(dataset, data, split, limit)
    evaluations = evaluate_command(chosen, model or [], policy, render, vision)
    if json_file is not None:
        json_file.write_text(json.dumps(summary(evaluations), indent=2) + "\n")
    print_evaluations(evaluations)


def compare(
    dataset: DatasetName,
    data: Data = None,
    split: Annotated[
        str, typer.Option(help="The split whose test pages to use, or all; else the usual one.")
    ] = "",
    systems: Annotated[
        str,
        typer.Option(help="Names with commas between; all for every one. A wrong one lists all."),
    ] = "pagesight,trafilatura,readability-lxml,justext,resiliparse",
    metrics: Annotated[
        str, typer.Option(help="Names with commas between; the first ranks. Else the data set's.")
    ] = "",
    limit: Limit = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes for each system.")] = 1,
    input: Annotated[
        str, typer.Option(help="What systems that read HTML are given: raw or rendered.")
    ] = "raw",
    learn_from: Annotated[
        str, typer.Option(help="DATASET:SPLIT to train systems on that learn; else this split.")
    ] = "",
    retrieval: Annotated[
        bool, typer.Option("--retrieval", help="Also index the texts and search them.")
    ] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="File to write.")] = None,
    report: Annotated[Path | None, typer.Option(help="Folder for the HTML report.")] = None,
) -> None:
    """Compare systems on the same pages; call it again after an interrupt to go on."""
    from .comparison import compare_command
    from .study.study import INPUTS, Request
    from .systems.registry import expand

    if input not in INPUTS:
        usage(f"--input {input}: there are {', '.join(INPUTS)}")
    names = tuple(expand(systems))
    if not names:
        usage("--systems: name one at least")
    if retrieval and "all-text" not in names:
        names += ("all-text",)
    chosen = tuple(part.strip() for part in metrics.split(",") if part.strip())
    request = Request(dataset, data, split, names, limit, workers, input, learn_from)
    compare_command(request, chosen, retrieval, json_file, report)


DATASET_COMMANDS = (prepare, train, evaluate, compare)


def usage(message: str) -> NoReturn:
    """End with exit code 2."""
    typer.echo(f"pagesight: {message}", err=True)
    raise typer.Exit(2)
