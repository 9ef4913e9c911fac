"""What makes trained members a model: calibration, figures, and the cards beside it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..layout.features import EDGE
from ..model.card import RECIPES, Card, Policy
from ..model.predict import Model
from .model_card import CardFacts, write_page
from .training import Parts

if TYPE_CHECKING:
    from ..train.judge import Judgement
    from ..train.member import Trained

PartsOfPolicies: TypeAlias = dict[str, Parts]


def finish(
    card: Card, path: Path, parts: PartsOfPolicies, trained: Sequence[Trained]
) -> tuple[Card, CardFacts]:
    """Calibrate on what each member held out, score on the validation pages, write the cards."""
    from ..train.calibrate import reliability
    from ..train.judge import together

    held_out = together([one.held_out for one in trained])
    policies, figures = {}, dict(card.figures)
    for number, (name, policy) in enumerate(card.policies.items()):
        own = held_out.of_policy(number)
        policies[name] = _calibrated(policy, own)
        key = "held_out_" if number == 0 else f"{name}_held_out_"
        figures |= {f"{key}f1": round(own.f1, 4), f"{key}page_f1": round(own.page_f1, 4)}
    if held_out.kind_accuracy:
        figures["held_out_page_type_accuracy"] = round(held_out.kind_accuracy, 4)
    card = replace(card, policies=policies, figures=figures)
    card = replace(card, figures=card.figures | validation_figures(card, path, parts))
    card.write(path.with_suffix(".json"))
    calibration = policies[card.policy()].calibration
    told, gold = held_out.of_policy(0).blocks()
    facts = CardFacts(
        name=card.name,
        policies={name: _taught_by(one) for name, one in policies.items()},
        recipe=card.recipe,
        settings=_origin(card, parts) | card.settings,
        figures=card.figures,
        calibration=calibration,
        before=reliability(told, gold),
        after=reliability(calibration.apply(told), gold),
        history=tuple(one.history for one in trained),
        command=shlex.join(["pagesight", *sys.argv[1:]]),
    )
    write_page(facts, path)
    return card, facts


def _taught_by(policy: Policy) -> str:
    return ", ".join(f"{dataset} ({split})" for dataset, split in policy.sources)


def _calibrated(policy: Policy, held_out: Judgement) -> Policy:
    from ..train.calibrate import fit_calibration

    calibration = fit_calibration(*held_out.blocks())
    honest = replace(
        held_out, probability=calibration.apply(held_out.probability).astype("float64")
    )
    precision, recall = honest.thresholds()
    return replace(
        policy,
        slope=calibration.slope,
        precision=round(precision, 4),
        recall=round(recall, 4),
    )


def _origin(card: Card, parts: PartsOfPolicies) -> dict[str, Any]:
    """What the weights fit: the features, and the browser builds that laid the pages out."""
    snapshots = [
        example.page.snapshot
        for each in parts.values()
        for examples in each.values()
        for example in examples
    ]
    return {
        "block_features": f"{RECIPES[card.recipe].block_set.name} {card.block_digest}",
        "edge_features": f"{EDGE.name} {card.edge_digest}",
        "browser": sorted({snapshot.meta.browser for snapshot in snapshots} - {""}),
    }


def validation_figures(card: Card, path: Path, parts: PartsOfPolicies) -> dict[str, Any]:
    """What the model says of its first policy's validation pages, in all their forms."""
    from ..train.evaluate import evaluate

    first = parts[card.policy()]
    training = {
        f"{name}/{example.record.id}" for name, each in parts.items() for example in each["train"]
    }
    counted = {"training_pages": len(training)}
    if not first["validation"]:
        return counted
    found = evaluate(Model(card, path.read_bytes()), *card.home, first["validation"])
    return counted | {
        "validation_pages": len({example.record.id for example in first["validation"]}),
        "validation_f1": round(found.block.f1, 4),
        "validation_word_f1": round(found.word_f1, 4),
        "validation_ece": round(found.ece, 4),
    }
