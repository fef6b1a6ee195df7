"""Keys of a config.json that are about rotations and that nobody reads, held against what the model does.

transformers drops what it does not know, and what stands beside a key that it prefers. A key is read where another
value of it changes anything else of the config that is made of the file, or a frequency; one that is not read is named,
and held against what was measured of the running model.
"""

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import CONFIG_MAPPING

from analysis.core.errors import ModelError
from analysis.measurements.positions.conformance import CLOSE, LayerTurns, expected_turns
from analysis.models.load import with_infinities

ABOUT = re.compile(
    r"rope|rotary|rotat|theta|ntk|yarn|xpos|position_embedding|positional|mscale|base_freq|freq_base|neox_style"
    r"|position_interpolation|original_max_position"
)
"""Names of keys that are about rotations."""
HOLDERS = ("rope_parameters", "rope_scaling", "rotary_scaling", "rope_config")
"""Keys that hold others."""
PARTS = ("text_config", "language_config", "llm_config", "thinker_config")
"""Keys under which the config of a text model stands in that of a larger one."""
NONE_NAMES = ("alibi", "nope", "none", "learned", "absolute", "sinusoidal", "relative_key", "relative_key_query")


@dataclass(frozen=True)
class UnreadKey:
    """A key of config.json that changes nothing. contradiction: what the model does instead; empty where it agrees, or
    where the meaning of the key is not known. agrees: whether the model does what it says."""

    key: str
    value: object
    contradiction: str = ""
    agrees: bool = False

    @property
    def sentence(self) -> str:
        """The sentence that a reader is told."""
        name = f"config.json says {self.key}: {_shown(self.value)}, which is not read"
        if self.contradiction:
            return f"{name}, and {self.contradiction}"
        return f"{name}; the model does what it says" if self.agrees else f"{name}; its meaning is not known here"


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def unread_keys(raw: Mapping[str, Any], turns: Sequence[LayerTurns], tokens: int) -> list[UnreadKey]:
    """Every key about rotations that is not read, in the order of the file.

    raw: config.json as it stands. turns: what the running model does. tokens: of the text that it was measured on.
    """
    outcome = _outcome(raw, turns, tokens)
    if outcome is None:
        return []
    found = []
    for path, value in _rotary_leaves(raw):
        if value is None or _of_no_layer(path, outcome) or _is_read(raw, path, value, outcome, turns, tokens):
            continue
        contradiction, agrees = _held_against(path[-1], value, turns, outcome.expected)
        if agrees and path[-1] == "type":  # the older name of rope_type, which transformers itself saves beside it
            continue
        found.append(UnreadKey(".".join(path), value, contradiction, agrees))
    return found


@dataclass(frozen=True)
class _Outcome:
    """The config that is made of a config.json, and what it says of each layer."""

    fields: Mapping[str, Any]
    expected: Sequence[LayerTurns]


def expected_of_file(raw: Mapping[str, Any], turns: Sequence[LayerTurns], tokens: int) -> Sequence[LayerTurns]:
    """Gives what the config that is made of a config.json says of every layer; nothing where it says nothing."""
    outcome = _outcome(raw, turns, tokens)
    return [] if outcome is None else outcome.expected


def _outcome(raw: Mapping[str, Any], turns: Sequence[LayerTurns], tokens: int) -> _Outcome | None:
    values = {key: with_infinities(value) for key, value in raw.items() if "implementation" not in key}
    config = CONFIG_MAPPING[str(raw["model_type"])].from_dict(copy.deepcopy(values))
    try:
        expected = expected_turns(config, [turn.width for turn in turns], tokens)
    except ModelError:  # it says nothing of rotations where they are read from
        expected = []
    return _Outcome(config.to_dict(), expected)


def _rotary_leaves(raw: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value whose key, or a key above it, is about rotations."""
    for key, value in raw.items():
        here = (*path, key)
        inside = any(ABOUT.search(part.lower()) for part in here)
        if isinstance(value, Mapping):
            if inside or key in PARTS:
                yield from _rotary_leaves(value, here)
        elif inside:
            yield here, value


def _of_no_layer(path: tuple[str, ...], outcome: _Outcome) -> bool:
    """Tells a value for a kind of layers that this model has none of."""
    holder = next((index for index, key in enumerate(path) if key in HOLDERS), None)
    if holder is None:
        return False
    kinds = next((fields.get("layer_types") for fields in _holders(outcome.fields) if fields.get("layer_types")), None)
    return len(path) > holder + 2 and path[holder + 1] not in (kinds or ())


def _holders(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield fields
    for key in PARTS:
        if isinstance(fields.get(key), Mapping):
            yield fields[key]


def _is_read(
    raw: Mapping[str, Any],
    path: tuple[str, ...],
    value: Any,
    outcome: _Outcome,
    turns: Sequence[LayerTurns],
    tokens: int,
) -> bool:
    """Tells whether another value of a key, or its absence, changes anything else."""
    for other in _other_values(value):
        changed = copy.deepcopy(dict(raw))
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        if other is ...:
            del holder[path[-1]]
        else:
            holder[path[-1]] = other
        try:
            after = _outcome(changed, turns, tokens)
        except Exception:  # noqa: BLE001  the library complains of a value because it reads it
            return True
        assert after is not None
        if _numbers(after.expected) != _numbers(outcome.expected):
            return True
        if _without(after.fields, path) != _without(outcome.fields, path):
            return True
    return _named_in_code(raw, path)


def _other_values(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value * 2 + 1
        yield value / 2
    elif isinstance(value, str):
        yield "none of these"
    elif isinstance(value, list):
        yield [1 - x if x in (0, 1) else x * 2 for x in value] if all(isinstance(x, int | float) for x in value) else []
    yield ...


def _numbers(expected: Sequence[LayerTurns]) -> list[tuple[object, ...]]:
    return [(turn.ordered, turn.size, turn.width, turn.dims, turn.base) for turn in expected]


def _without(fields: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a config but for one leaf, wherever a key of that name stands."""
    leaf = path[-1]

    def cleaned(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: cleaned(inner) for key, inner in value.items() if key != leaf}
        return value

    return cleaned(fields)


def _named_in_code(raw: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Tells whether the architecture's own code asks its config for a key by name, where it stands among its fields."""
    key = path[-1]
    if any(part in HOLDERS for part in path[:-1]):
        return key not in MEANINGS_IN_HOLDERS
    config_class = CONFIG_MAPPING[str(raw["model_type"])]
    subs: Mapping[str, type] = getattr(config_class, "sub_configs", {})
    sub = {name: kind for name, kind in subs.items() if name in path}
    return any(key in getattr(kind, "__dataclass_fields__", {}) for kind in (config_class, *sub.values()))


MEANINGS_IN_HOLDERS = ("rope_theta", "factor", "type", "rope_type", "base", "theta", "alpha")
"""Keys of rope_parameters that say a number or a kind by themselves; others belong to kinds that read them."""


def _held_against(
    key: str, value: Any, turns: Sequence[LayerTurns], expected: Sequence[LayerTurns]
) -> tuple[str, bool]:
    """Gives what the model does instead of what a key says, and whether it does what it says."""
    turning = [turn for turn in turns if turn.dims]
    for pattern, kinds, judge in MEANINGS:
        if re.search(pattern, key.lower()) and isinstance(value, kinds):
            said = judge(value, turning, turns, expected)
            return (said or "", said == "")
    return "", False


Judge = Callable[[Any, Sequence[LayerTurns], Sequence[LayerTurns], Sequence[LayerTurns]], str | None]
"""A function that gives what the model does instead; empty where it does what is said, None where nobody can tell."""


def _base(
    value: Any, turning: Sequence[LayerTurns], _turns: Sequence[LayerTurns], expected: Sequence[LayerTurns]
) -> str:
    bases = {turn.base for turn in expected if turn.base is not None}
    if any(abs(base - value) <= CLOSE * base for base in bases) or not turning:
        return ""
    return f"the model turns at base {' and '.join(f'{base:,.0f}' for base in sorted(bases)) or 'unknown'}"


def _share(value: Any, turning: Sequence[LayerTurns], *_: object) -> str:
    shares = {turn.dims / turn.width for turn in turning}
    wanted = value / 100 if value > 1 else value
    if any(abs(turn.dims - int(turn.width * wanted)) <= 1 for turn in turning) or not turning:
        return ""
    return f"the model turns {' and '.join(f'{share:.3g}' for share in sorted(shares))} of each head"


def _dims(value: Any, turning: Sequence[LayerTurns], *_: object) -> str:
    dims = {turn.dims for turn in turning}
    if value in dims or not turning:
        return ""
    return f"the model turns {' and '.join(map(str, sorted(dims)))} dimensions of each head"


def _neighbours(value: Any, turning: Sequence[LayerTurns], *_: object) -> str | None:
    layouts = {turn.queries.layout for turn in turning if turn.queries is not None}
    if layouts - {"halves", "neighbours"} or not layouts:
        return None
    wanted = "neighbours" if value else "halves"
    return "" if layouts == {wanted} else f"the model turns pairs of {' and '.join(sorted(layouts))}"


def _halves(value: Any, turning: Sequence[LayerTurns], *rest: Any) -> str | None:
    return _neighbours(not value, turning, *rest)


def _factor(
    value: Any, turning: Sequence[LayerTurns], _turns: Sequence[LayerTurns], expected: Sequence[LayerTurns]
) -> str:
    """A factor is applied where frequencies are those of the config's own scaling; under an unread key, nowhere."""
    if value == 1 or not turning:
        return ""
    applied = [
        slow / fast
        for turn, said in zip(turning, [turn for turn in expected if turn.dims], strict=False)
        for slow, fast in zip(
            (said.unscaled or ())[:1] + (said.unscaled or ())[-1:],
            turn.frequencies[:1] + said.frequencies[-1:],
            strict=False,
        )
    ]
    if any(abs(factor - value) <= CLOSE * value for factor in applied):
        return ""
    return f"the model does not turn {value:g} times as slowly"


def _kind(
    value: Any, turning: Sequence[LayerTurns], _turns: Sequence[LayerTurns], expected: Sequence[LayerTurns]
) -> str:
    scaled = any(
        turn.size != 1
        or (
            turn.unscaled and any(abs(a - b) > CLOSE * b for a, b in zip(turn.frequencies, turn.unscaled, strict=False))
        )
        for turn in expected
    )
    if value in ("default", "rope", "none"):
        return "the model's rotations are scaled" if scaled else ""
    return "" if scaled else f"the model turns without a scaling of kind {value!r}"


def _size(value: Any, turning: Sequence[LayerTurns], *_: object) -> str:
    sizes = {round(turn.size, 6) for turn in turning}
    if any(abs(size - value) <= CLOSE * value for size in sizes) or not turning:
        return ""
    return f"the model multiplies queries and keys by {' and '.join(f'{size:.4g}' for size in sorted(sizes))}"


def _used(value: Any, turning: Sequence[LayerTurns], *_: object) -> str:
    if value == bool(turning):
        return ""
    return "the model turns its queries and keys" if turning else "the model turns nothing"


def _named_kind(value: Any, turning: Sequence[LayerTurns], *_: object) -> str | None:
    name = value.lower()
    if name in NONE_NAMES:
        return "the model turns its queries and keys" if turning else ""
    return _used(True, turning) if "rope" in name or "rotary" in name else None


def _layers(value: Any, _turning: Sequence[LayerTurns], turns: Sequence[LayerTurns], *_: object) -> str | None:
    """Compares a list of one number a layer, in which 1 marks a layer that rotates, with the model."""
    if len(value) != len(turns) or not all(x in (0, 1) for x in value):
        return None
    wrong = [layer for layer, turn in enumerate(turns) if turn.width and bool(turn.dims) != bool(value[layer])]
    if not wrong:
        return ""
    return f"the model {'turns' if turns[wrong[0]].dims else 'does not turn'} layer {wrong[0]}"


def _interval(value: Any, _turning: Sequence[LayerTurns], turns: Sequence[LayerTurns], *_: object) -> str | None:
    if value <= 0:
        return None
    return _layers([int((layer + 1) % value != 0) for layer in range(len(turns))], (), turns)


NUMBER = (int, float)
MEANINGS: tuple[tuple[str, Any, Judge], ...] = (
    (r"interleav", bool, _neighbours),
    (r"neox_style|rotary_half|rope_half", bool, _halves),
    (r"no_?rope_layers?$|nope_layers?$|rope_layers$", list, _layers),
    (r"(no_?rope|nope)_layer_interval|nope_interval", int, _interval),
    (r"^(use_)?(rope|rotary)(_embeddings?|_emb|_position_embeddings?)?$|^use_(rope|rotary)", bool, _used),
    (r"position_embedding_type|positional_embedding|position_encoding", str, _named_kind),
    (r"^(rope_|scaling_)?type$|rope_scaling_type|scaling_type", str, _kind),
    (r"use_dynamic_ntk|use_ntk|use_yarn", bool, lambda value, *rest: _kind("dynamic", *rest) if value else ""),
    (r"pct|percent|partial|fraction", NUMBER, _share),
    (r"rotary_n?dims?$|rope_dims?$|rotary_emb_dim|rope_head_dim|rotary_dimension", int, _dims),
    (r"scaling_factor|rope_factor|^factor$|rope_ratio|position_interpolation|rotary_scale|rope_scale|ntk_factor|^alpha$",
     NUMBER, _factor),
    (r"attention_factor|mscale", NUMBER, _size),
    (r"theta|base", NUMBER, _base),
)  # fmt: skip
"""A key's name, the kind of its value, and how it is held against the model: the first that fits."""
