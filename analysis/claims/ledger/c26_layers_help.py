"""C26: adding layers helps to separate word and position."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    NEUTRAL,
    SUPPORTED,
    Claim,
    Evidence,
    QueryResults,
    Row,
    Rows,
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.multiple_testing import p_greater, significant_after_holm
from analysis.claims.spaces import ABOVE, evidence, geometry, standing
from analysis.core.formatting import percent, plural, signed

RANK = 20
TARGETS = ("word", "position")
CEILING = 0.99
"""Of accuracy: what is read as well from the sum cannot be read better from deeper layers."""
QUERIES = {
    "by_layer": "SELECT d.model, d.corpus, d.layer, d.target, d.decoder, d.measure, d.value, d.low, d.high, d.chance, "
    "d.tokens FROM newest_decoding d JOIN measured_models m USING (model) "
    "WHERE m.adds_positions AND ((d.target = 'position' AND d.measure = 'exact') "
    "OR (d.target = 'word' AND d.measure = 'top1')) AND isfinite(d.value) AND isfinite(d.low) AND d.high IS NOT "
    "NULL "
    "ORDER BY d.model, d.target, d.decoder, d.layer",
    "overlap_by_layer": geometry(f"g.measure = 'subspace_overlap' AND g.subject = 'states' AND g.along = {RANK}"),
}


def best(rows: Rows, model: str) -> dict[int, dict[str, Row]]:
    """Layer -> target -> its reading by the better decoder."""
    entries: dict[int, dict[str, Row]] = {}
    for row in rows:
        if row["model"] == model:
            at = entries.setdefault(int(row["layer"]), {})
            if row["target"] not in at or row["value"] > at[row["target"]]["value"]:
                at[row["target"]] = row
    return {layer: at for layer, at in entries.items() if set(TARGETS) <= at.keys()}


def effect_of_depth(by_layer: dict[int, dict[str, Row]]) -> str:
    """helps: some deeper layer reads both better than the sum; hurts: every deeper one reads one of them worse.

    A layer helps where both do, so its p-value is the larger; layers are corrected for, since any may. It hurts where
    either is read worse, which is corrected for; layers are not, since all must. What the sum itself gives at the
    ceiling is left out of both; no room: that is word and position.
    """
    first, deeper = by_layer[0], [at for layer, at in by_layer.items() if layer > 0]
    judged = [target for target in TARGETS if first[target]["value"] < CEILING]
    if not judged:
        return "no room"
    if any(significant_after_holm([max(p_greater(at[t], first[t]) for t in judged) for at in deeper])):
        return "helps"
    if all(any(significant_after_holm([p_greater(first[t], at[t]) for t in judged])) for at in deeper):
        return "hurts"
    return "neither"


def _mixes(rows: Rows, model: str) -> bool | None:
    """Whether the deepest subspaces overlap more than random ones and no less than the first; None: not stored."""
    own = sorted(
        (row for row in rows if row["model"] == model and row["layer"] is not None), key=lambda row: row["layer"]
    )
    if len(own) < 2 or standing(own[-1]) is None:
        return None
    return standing(own[-1]) == ABOVE and own[-1]["value"] >= own[0]["value"]


def judge(results: QueryResults) -> Verdict:
    """Readings from the sum against readings from every deeper layer."""
    models = dict.fromkeys(row["model"] for row in results["by_layer"])
    layers = {model: one for model in models if len(one := best(results["by_layer"], model)) > 1 and 0 in one}
    rows = [
        evidence(
            row,
            "overlap_by_layer",
            f"Overlap of the rank-{RANK} subspaces of word and position in states",
            {},
            unit="mean squared cosine",
        )
        for row in results["overlap_by_layer"]
    ]
    texts, drops = {}, {}
    for model, by_layer in layers.items():
        texts[model] = effect_of_depth(by_layer)
        last = max(by_layer)
        for target in TARGETS:
            deeper = [layer for layer in by_layer if layer]
            top, start = max(deeper, key=lambda n: by_layer[n][target]["value"]), by_layer[0][target]
            gains = dict(
                zip(
                    deeper, significant_after_holm([p_greater(by_layer[n][target], start) for n in deeper]), strict=True
                )
            )
            losses = dict(
                zip(
                    deeper, significant_after_holm([p_greater(start, by_layer[n][target]) for n in deeper]), strict=True
                )
            )
            for layer in dict.fromkeys((0, top, last)):
                row = by_layer[layer][target]
                side = FOR if gains.get(layer) else AGAINST if losses.get(layer) else NEUTRAL
                rows.append(
                    Evidence(
                        side=side,
                        description=f"Held-out accuracy of the {target}, better of the decoders, states entering layer "
                        f"{layer}",
                        value=row["value"],
                        low=row["low"],
                        high=row["high"],
                        unit="accuracy",
                        query="by_layer",
                        source=model,
                        view=views.depth("decoding", models=(model,)),
                    )
                )
            drops[model, target] = by_layer[last][target]["value"] - by_layer[0][target]["value"]
    if not layers:
        return unmeasured(
            "word and position decoded layer by layer", "python -m analysis decode --texts TEXT --corpus NAME", rows
        )
    judged = [model for model, kind in texts.items() if kind != "no room"]
    kinds = [texts[model] for model in judged]
    mixing = [_mixes(results["overlap_by_layer"], model) for model in judged]
    if not kinds:
        word = INCONCLUSIVE
    elif set(kinds) == {"helps"}:
        word = SUPPORTED if len(kinds) > 1 else INCONCLUSIVE
    elif set(kinds) == {"neither"} or (set(kinds) == {"hurts"} and (None in mixing or len(kinds) == 1)):
        word = INCONCLUSIVE
    elif set(kinds) == {"hurts"} and all(mixing):
        word = CONTRADICTED
    else:
        word = MIXED
    parting = (
        " How far their subspaces part with depth is not measured for all of them, and forgetting is not mixing."
        if None in mixing
        else f" After the last layer their subspaces overlap more than random ones, and no less than at the input, in "
        f"{sum(map(bool, mixing))} of them."
    )
    tried = sum(len(layers[model]) - 1 for model in judged)
    (model, target), drop = min(drops.items(), key=lambda one: one[1])
    return Verdict(
        word=word,
        sentence=f"Of {plural(len(kinds), 'model')} with room to improve (what the sum gives at {percent(CEILING)} or "
        "better is not judged), word and position are both read better from some deeper layer "
        f"({tried} tried in all, corrected for) than from the sum in {kinds.count('helps')}, and one of them worse "
        f"from every deeper layer in {kinds.count('hurts')}. "
        f"Most is lost of {target} in {model}: from {percent(layers[model][0][target]['value'], 1)} at the input to "
        f"{percent(layers[model][max(layers[model])][target]['value'], 1)} after the last layer.{parting}",
        effect=drop,
        unit="accuracy",
        measured=f"change from the sum to the last layer, {target} in {model} (most lost; {signed(drop)})",
        threshold=0.0,
        models=tuple(layers),
        samples=max(int(row["tokens"] or 0) for row in results["by_layer"]),
        sample_unit="token",
        evidence=tuple(rows),
    )


register(
    Claim(
        id="C26",
        title="Layers help to separate the two",
        question="apart",
        statement="Stacking layers, with their non-linearities, helps to tell word and position apart.",
        documents=("002",),
        asks="Held-out accuracy of word and of position read from the states entering each layer, of models that add; "
        "the overlap of their subspaces in these states.",
        rule="Layers help in a model if from some deeper layer both word and position are read better than from the "
        "sum itself, after Holm's correction over its layers (one-sided, 2.5 %, read off the 95 % intervals); they "
        "hurt if from every deeper layer one of the two is read worse, corrected over the two. Supported if they help "
        "in every model, of two at least. Contradicted if they hurt in every one, of two at least, and the subspaces "
        "of word and position overlap no less in the deepest states than in the first and more than random ones: a "
        "position that is forgotten is read worse too, without being mixed up with the word. Inconclusive while that "
        "overlap is not measured, with one model, or if they do neither in any; mixed otherwise. What is read from the "
        f"sum with {percent(CEILING)} or better has no room to improve, so there the other is judged alone; a model "
        "where both are is not judged.",
        queries=QUERIES,
        judge=judge,
        views=(views.depth("decoding"), views.depth("basis"), views.geometry("subspaces")),
        changed=(
            f"2026-11-21: What is read from the sum with {percent(CEILING)} or better is not asked to improve, since "
            "it cannot. Subspaces count as mixed only if they overlap more than random ones.",
            "2026-11-22: Holm's correction over the layers of a model where any may help, in place of intervals that "
            "lie apart: the more layers are tried, the likelier one is better by chance. Neither help nor harm in any "
            "model is inconclusive, where it had been mixed: nothing then speaks for either.",
        ),
    )
)
