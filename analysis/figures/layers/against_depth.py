"""The terms of the scores against depth, and the sources of the hidden states."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.formatting import join_names, percent, plural, ranges
from analysis.core.term_names import ADDED_TERMS, FOUR, SOURCES
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.layers.run import LAYERS, method_note, present
from analysis.figures.terms.corpus import over_texts
from analysis.figures.terms.measures import MEASURES, term_label
from analysis.figures.terms.term_marks import line_names, series_hues
from analysis.measurements.terms.result import Layers

HEIGHT = 300
MORE = 1.1
"""Times by which one value exceeds another at least to be called larger; below that they are called equal."""
REST = "others"
"""The name of the terms in which one side is neither word nor position, such as segment or bias."""


@figure("probe_depth", Parameters, live=LAYERS)
def probe_depth(params: Parameters, run: Layers) -> Figure:
    """The mean over heads of every term against depth, and what carries each source on."""
    terms = present(run)
    main = [term for term in (*FOUR, *ADDED_TERMS) if term in terms]
    mean = np.nanmean(run.values, axis=-1)
    rows = [
        (layer, term_label(term), float(mean[layer, run.terms.index(term)]))
        for term in main
        for layer in range(len(mean))
    ]
    others = [run.terms.index(term) for term in terms if term not in main]
    if others and run.measure == "share":
        rows += [(layer, "all others", float(mean[layer, others].sum())) for layer in range(len(mean))]
    frame = pd.DataFrame(rows, columns=["layer", "series", "value"]).assign(panel="scores")
    carried = pd.DataFrame(
        [
            (layer, source, float(run.carried[layer, index]), "states")
            for index, source in enumerate(SOURCES)
            if run.carried[:, index].any()
            for layer in range(len(run.carried))
        ],
        columns=["layer", "series", "value", "panel"],
    )
    subject = "each term" if run.measure == "share" else "the terms of word and position (and of a score bias)"
    rest = ""
    if others and run.measure == "share":
        rest = (
            f"; “{REST}” is the sum of the {plural(len(others), 'term')} in which one side is neither word nor position"
        )
    last = carried[carried.layer == carried.layer.max()].set_index("series").value
    text = ", ".join(f"{source} {value:.2f}" for source, value in last.items())
    of_rest = _of_rest([run.terms[index] for index in others])
    finding, sizes = _over_depth(frame, main, run.measure, of_rest)
    return Figure(
        title="Against depth",
        finding=finding,
        frame=lambda: pd.concat([frame, carried], ignore_index=True),
        caption=(
            f"{sizes} {_over_texts(run, main)}Of the scores: {MEASURES[run.measure]}, mean over heads, of {subject} "
            f"at each layer{rest}. Of the states: each source's part of what leaves a layer, ⟨source, whole⟩ / "
            f"⟨whole, whole⟩ over tokens, which sums to 1; after the last layer: {text}. "
            f"{readable(run.provenance.model)}, one text of {run.tokens} tokens. {method_note(run)}"
        ),
        alt=f"Lines over {len(mean)} layers. Parts of the last hidden states: {text}.",
        draw=lambda theme: [
            _draw(
                frame.replace({"series": {"all others": REST}}),
                [*(term_label(term) for term in main), REST],
                MEASURES[run.measure],
                theme,
                title="What the scores depend on, mean over heads",
                below=f"grey: terms with {of_rest}" if rest else "",
                share=run.measure == "share",
            ),
            _draw(
                carried,
                SOURCES,
                "part of the hidden states",
                theme,
                title="What the hidden states consist of, after each layer",
                below=_last_states(last),
                share=True,
            ),
        ],
        columns=2,
    )


def _last_states(parts: pd.Series) -> str:
    """The largest part of the hidden states after the last layer, and that of positions, if any was followed.

    >>> _last_states(pd.Series({"word": 0.9, "position": 0.06}))
    'after the last layer: 90 % word and 6 % position'
    """
    if parts.empty:
        return ""
    largest = str(parts.idxmax())
    named = [largest, "position"] if "position" in parts.index and largest != "position" else [largest]
    listed = join_names(f"{percent(float(parts[name]))} {name}" for name in named)
    return f"after the last layer: {listed}"


def _of_rest(terms: Sequence[str]) -> str:
    """The sources of these terms that are neither word nor position: `segment or bias`."""
    named = {source for term in terms for source in term.split("_to_")}
    return " or ".join(source for source in SOURCES if source in named and source not in ("word", "position"))


def _over_depth(frame: pd.DataFrame, terms: Sequence[str], measure: str, of_rest: str) -> tuple[str, str]:
    """The finding: the term that is the largest of those given at most layers; and a sentence on every layer.

    That names the largest term at each layer with its size, and where the others together are as large, with theirs.
    frame: layer, series and value, of the terms and, where they add up, of all others together. of_rest: the sources
    of the others.
    """
    labels = [term_label(term) for term in terms]
    lead = frame[frame.series.isin(labels)].pivot(index="layer", columns="series", values="value").dropna(how="all")
    if not len(lead) or lead.shape[1] < 2:
        return "", ""
    largest, sizes = lead.idxmax(axis=1), lead.max(axis=1)
    parts = []
    for label in dict.fromkeys(largest):
        layers = largest.index[largest == label]
        top = float(sizes[layers].max())
        size = percent(top) if measure == "share" else f"{top:.2f} nats"
        where = "every layer" if len(layers) == len(lead) > 1 else f"{'layers' if len(layers) > 1 else 'layer'} "
        where += "" if where == "every layer" else ranges(layers)
        parts.append(f"{label} at {where} ({'up to ' if len(layers) > 1 else ''}{size})")
    first, count = str(largest.mode()[0]), int((largest == largest.mode()[0]).sum())
    at = "every layer" if count == len(lead) else f"{count} of {len(lead)} layers"
    verb = "is the largest" if measure == "share" else "changes attention most"
    finding = f"In this text, {first} {verb} of the terms of word and position at {at}"
    text = f"Of the {lead.shape[1]} terms that are named, the largest is {join_names(parts)}"
    together = frame[frame.series == "all others"].set_index("layer").value.reindex(lead.index)
    above = lead.index[together > MORE * sizes]
    level = lead.index[(MORE * together > sizes) & (together <= MORE * sizes)]
    it = "it" if len(parts) == 1 else "the largest"
    said = []
    for place, layers in (("above", above), ("beside", level)):
        if len(layers):
            up_to = "up to " if len(layers) > 1 else ""
            size = percent(float(together[layers].max()))
            said.append(f"{place} {it} at {_layers(layers)} ({up_to}{size})")
    if said:
        text += f"; all terms with {of_rest} together, the grey line, lie {join_names(said)}"
    return finding, f"{text}."


def _layers(layers: Sequence[int] | pd.Index) -> str:
    """Layers in words: "layer 1", "layers 0 and 2"."""
    return f"{'layers' if len(layers) > 1 else 'layer'} {ranges(layers)}"


def _over_texts(run: Layers, terms: Sequence[str]) -> str:
    """A sentence on the largest term at each layer over our own texts, followed by a space; empty where none is known.

    Where some heads' shares are undefined, the mean is over the others, as for one text.
    """
    rows = over_texts(run.provenance.model, run.provenance.revision)
    rows = rows[rows.term.isin(terms)].dropna(subset=run.measure)
    if rows.empty or rows.term.nunique() < 2:
        return ""
    largest = rows.pivot_table(index="layer", columns="term", values=run.measure).idxmax(axis=1)
    parts = [
        f"{term_label(str(term))} at {_layers(layers)}"
        for term in dict.fromkeys(largest)
        if len(layers := largest.index[largest == term])
    ]
    return f"Over {rows.texts.max()} texts, mean over heads, the largest of them is {join_names(parts)}. "


def _draw(
    frame: pd.DataFrame,
    order: Sequence[str],
    label: str,
    theme: Theme,
    *,
    title: str,
    below: str,
    share: bool,
) -> Chart:
    """Lines over layers, one a series. below: under the title. share: whether the values are parts of a whole."""
    names = [name for name in order if name in set(frame.series)]
    low, high = min(0.0, float(frame.value.min())), max(0.0, float(frame.value.max()))
    form = ".0%" if share else alt.Undefined
    y = marks.number(alt.Y, "value", label, domain=(low, high), nice=True, padding=6, form=form)
    lines = marks.line_plot(
        frame, x=marks.categories(alt.X, "layer", "layer"), y=y, theme=theme, color=series_hues(names, theme),
        tooltip=("layer", ("series", "what"), ("value", "", ".4f")),
    )  # fmt: skip
    ends = line_names(frame, names, y, theme, height=HEIGHT)
    layers = marks.rule(theme, y=0), *lines, *ends
    under = [below or " "]  # Both panels begin at one height.
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=HEIGHT, title=title, below=under)
