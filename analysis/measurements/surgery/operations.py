"""Operations on a sentence encoder: changes of its tables, and terms taken out of its scores."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from analysis.measurements.surgery import tables
from analysis.measurements.surgery.tables import Tables

Directions = Float[Tensor, "E K"]
CROSS = "word_to_position+position_to_word"
OTHERS = "word_to_word+word_to_position+position_to_word"
RANKS = (1, 2, 3, 5, 8, 14, 20, 32, 40, 64)
"""Directions that positions are given in the separated sums; 14 is the effective rank of MiniLM's table."""
CONTROLS = (5, 14, 40)
"""The ranks at which random subspaces are tried too; at the second, words alone are kept out of them as well."""
READ_CONTROLS = (3, 5, 8, 10)
"""Words alone are kept out of as many random directions: what separating along the positions that texts read costs more
than that."""
DRAWS = 20


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing done. rank: directions, where it has any. draw: which random draw it is.

    change: of the tables; None: the tables stay. terms: an intervention as `drop_terms` takes it; "": none.
    """

    name: str
    description: str
    rank: int | None = None
    draw: int | None = None
    change: Callable[[Tables], Tables] | None = None
    terms: str = ""


def operations(
    *, ranks: tuple[int, ...] = RANKS, controls: tuple[int, ...] = CONTROLS, draws: int = DRAWS, read: int | None = None
) -> list[Operation]:
    """Everything that is done, the intact model first. read: the rows of positions that the task's texts read."""
    items = [
        Operation(name="intact", description="nothing"),
        Operation(name="mean_position", description="every position its mean", change=tables.mean_position),
        Operation(name="no_position", description="every position zero", change=tables.no_position),
        Operation(name="sinusoidal", description="sinusoids as strong as the table", change=tables.sinusoidal),
    ]
    items += [
        Operation(
            name="permuted",
            description="rows of the position table in another order",
            draw=seed,
            change=lambda of, seed=seed: tables.permuted(of, seed),
        )
        for seed in range(5)
    ]
    out, inside, as_they_are = "words kept out of", "positions kept inside", "positions as they are"
    first, random = "the positions' first directions", "random directions"
    seeds = range(draws)
    items += [_apart("separated", f"{out} {first}, {inside}", tables.separated, rank) for rank in ranks]
    items += [_apart("words_kept_out", f"{out} {first}, {as_they_are}", tables.words_kept_out, rank) for rank in ranks]
    items += [
        _apart("separated_at_random", f"{out} {random}, {inside}", tables.separated, rank, seed)
        for rank in controls
        for seed in seeds
    ]
    items += [
        _apart("words_kept_out_at_random", f"{out} {random}, {as_they_are}", tables.words_kept_out, rank, seed)
        for rank in (*controls[1:2], *READ_CONTROLS)
        for seed in seeds
    ]
    along = f"{out} the first directions of the positions that texts read, {inside}"
    items += [_apart("separated_along_read", along, tables.separated, rank, read=read) for rank in ranks]
    items += [
        Operation(name="no_cross_layer_0", description="both cross terms dropped at layer 0", terms=f"{CROSS}/0"),
        Operation(name="no_cross", description="both cross terms dropped at every layer", terms=CROSS),
        Operation(
            name="position_only", description="of the four terms position to position alone, every layer", terms=OTHERS
        ),
        Operation(
            name="word_only",
            description="of the four terms word to word alone, every layer",
            terms=f"{CROSS}+position_to_position",
        ),
    ]
    return items


def _apart(
    name: str,
    description: str,
    change: Callable[[Tables, Directions], Tables],
    rank: int,
    seed: int | None = None,
    read: int | None = None,
) -> Operation:
    """Words kept out of the positions' first directions or, where there is a seed, of random ones.

    read: the first rows of the position table, whose directions count; None for all.
    """

    def changed(of: Tables) -> Tables:
        if seed is None:
            return change(of, tables.directions(of.positions[:read], rank))
        return change(of, tables.random_directions(of.words.shape[1], rank, seed))

    return Operation(name=name, description=description, rank=rank, draw=seed, change=changed)
