"""The cosine of two texts as a sum over pairs of tokens."""

import numpy as np
import pandas as pd

from analysis.core.errors import LinkError
from analysis.core.formatting import fixed, signed
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, Parameters, figure
from analysis.figures.heatmap import heatmap, outlined
from analysis.figures.similarity.run import SIMILARITY_RUN, method_note
from analysis.measurements.similarity.result import GROUPS, Similarity


class TokenPairParameters(Parameters):
    """query, key: a token of the first text and one of the second; STRONGEST: the pair that contributes most."""

    query: int = STRONGEST
    key: int = STRONGEST


def selected_pair(params: TokenPairParameters, result: Similarity) -> tuple[int, int]:
    """The pair that a link asks for; STRONGEST: of those left, the one that contributes most.

    Raises LinkError for a token that the texts do not have.
    """
    pairs = result.pairs()
    chosen: list[list[int]] = []
    for name, index, count in zip(("query", "key"), (params.query, params.key), pairs.shape, strict=True):
        if index != STRONGEST and not 0 <= index < count:
            raise LinkError(f"The link says {name}={index}; the tokens of this text are 0 to {count - 1}.")
        chosen.append(list(range(count)) if index == STRONGEST else [index])
    part = pairs[np.ix_(*chosen)]
    row, column = np.unravel_index(int(part.argmax()), part.shape)
    return chosen[0][int(row)], chosen[1][int(column)]


@figure("similarity_pairs", TokenPairParameters, live=SIMILARITY_RUN)
def similarity_pairs(params: TokenPairParameters, result: Similarity) -> Figure:
    """The part of every pair of tokens, with one pair outlined and explained."""
    pairs = result.pairs()
    row, column = selected_pair(params, result)
    first, second = ([token.text for token in tokens] for tokens in (result.first, result.second))
    rank = int((pairs > pairs[row, column]).sum()) + 1
    parts = result.by_pair[:, row, column]
    listing = ", ".join(f"{name} {signed(float(value), 3)}" for name, value in zip(GROUPS, parts, strict=True))
    top = np.unravel_index(int(pairs.argmax()), pairs.shape)

    def frame() -> pd.DataFrame:
        i, j = (grid.ravel() for grid in np.indices(pairs.shape))
        names = np.asarray(first, dtype=object)[i], np.asarray(second, dtype=object)[j]
        cells = pd.DataFrame({"query": i, "key": j, "token_of_first": names[0], "token_of_second": names[1]})
        by_group = {name.replace(" ", "_"): result.by_pair[index].ravel() for index, name in enumerate(GROUPS)}
        return cells.assign(value=pairs.ravel(), **by_group)

    return Figure(
        title="The cosine as a sum over pairs of tokens",
        finding=(
            f"“{first[top[0]]}” with “{second[top[1]]}” adds most: {fixed(float(pairs[top]), 3)} of the cosine of "
            f"{fixed(result.cosine, 3)}"
        ),
        frame=frame,
        caption=(
            f"Outlined: “{first[row]}” with “{second[column]}”, {signed(float(pairs[row, column]), 3)}, "
            f"number {rank} of {pairs.size} pairs ({listing}). Rows are tokens of the first text, columns "
            "those of the second; a cell is the product of the final states over the two tokens, and all cells add "
            f"up to the cosine. {method_note(result)}"
        ),
        alt=f"Heat map of {pairs.shape[0]} by {pairs.shape[1]} tokens; the largest is {first[top[0]]} with "
        f"{second[top[1]]}.",
        draw=lambda theme: [_draw(pairs, first, second, (row, column), theme)],
    )


def _draw(values: np.ndarray, rows: list[str], columns: list[str], pair: tuple[int, int], theme: Theme) -> Chart:
    """The map, and the outline of one of its cells."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    chart = heatmap(
        values, rows, columns, domain=(low, high or 1.0), row_title="first text", column_title="second text",
        value_title="part of the cosine", diverging=True, form=".3f", side=max(320, min(620, 34 * len(columns))),
        height=max(240, min(620, 30 * len(rows))), theme=theme,
    )  # fmt: skip
    return outlined(chart, *pair, theme)
