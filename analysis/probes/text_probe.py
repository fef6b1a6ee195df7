"""Probes: a text run through a model now, or one saved before. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from analysis.core.arguments import one_of
from analysis.core.errors import LinkError
from analysis.core.provenance import model_options
from analysis.links import Value, Values
from analysis.measurements.terms.result import Curves, Decomposition, Layers, Patterns, Provenance
from analysis.probes import saved_probes
from analysis.probes.model_request import ModelRequest, ResultT

if TYPE_CHECKING:
    from analysis.models.load import Loaded


LONG = 128
"""Tokens from which a text is long: it is drawn in parts, and what takes long to compute is computed on demand."""
SIDES = ("first", "second", "together")
"""The text of a pair that the model reads: one of the two by itself, or both as one input."""


def read_side(values: Values) -> Values:
    """The values of a link with the text that its `side` names in the place of its pair. Raises LinkError.

    A link without this field gives a model both texts as one input.
    """
    side = values.get("side", "together")
    if side not in SIDES:
        raise LinkError(f"The link says side={side!r}; expected one of: {', '.join(SIDES)}.")
    if side == "together" or not values.get("pair"):
        return values
    return {**values, "text": values["pair" if side == "second" else "text"], "pair": "", "side": "together"}


@dataclass(frozen=True, kw_only=True)
class TextRequest(ModelRequest[ResultT]):
    """A request for a result of a model on a text. pair: the second text of a pair. truncate: cuts long texts."""

    text: str
    pair: str | None = None
    truncate: bool = False

    @classmethod
    def of(cls, values: Values, **arguments: Any) -> Self:
        """The request that the values of a link make. Raises LinkError for a side that no pair has."""
        return super().of(read_side(values), **arguments)


@dataclass(frozen=True, kw_only=True)
class TermsRequest(TextRequest[Decomposition]):
    """The terms of one layer."""

    layer: int = 0
    method: str = "frozen"
    freeze: str = "activation"

    def run(self, loaded: Loaded | None = None) -> Decomposition:
        """Decomposes the text. Raises ModelError, TextError, and NoResults where method mean has no stored basis."""
        from analysis.measurements.terms.run import decompose

        return decompose(loaded or self.load(), self)


@dataclass(frozen=True, kw_only=True)
class LayersRequest(TextRequest[Layers]):
    """The terms of every layer, by one measure: share or effect."""

    measure: Annotated[str, one_of(("share", "effect"))] = "share"
    freeze: str = "activation"

    def run(self, loaded: Loaded | None = None) -> Layers:
        """Every layer of the text. Raises ModelError and TextError."""
        from analysis.measurements.terms.layers import layers

        return layers(loaded or self.load(), self)


@dataclass(frozen=True, kw_only=True)
class CurvesRequest(TextRequest[Curves]):
    """The mean score of every head at each distance."""

    freeze: str = "activation"

    def run(self, loaded: Loaded | None = None) -> Curves:
        """Every head of the text. Raises ModelError and TextError."""
        from analysis.measurements.terms.curves import curves

        return curves(loaded or self.load(), self)


@dataclass(frozen=True, kw_only=True)
class PatternsRequest(TextRequest[Patterns]):
    """The attention patterns of a model, of whatever architecture; one run serves every layer."""

    terms: ClassVar[bool] = False

    def run(self, loaded: Loaded | None = None) -> Patterns:
        """Every layer's pattern. Raises ModelError and TextError."""
        from analysis.measurements.terms.layers import text_patterns

        return text_patterns(loaded or self.load(), self)


def text_command(verb: str, about: Provenance, *options: str) -> str:
    """The command that runs the model of a result on its text again. options: what else it says, where not empty."""
    parts = [f"python -m analysis {verb}", model_options(about.model, about.revision), f"--text {quote(about.text)}"]
    if about.text_pair:
        parts.append(f"--pair {quote(about.text_pair)}")
    if about.truncated_from:
        parts.append("--truncate")
    return " ".join([*parts, *filter(None, options)])


def command(decomposition: Decomposition) -> str:
    """The command that makes a decomposition again."""
    method = "--method mean" if decomposition.method == "mean" else ""
    layer = f"--layer {decomposition.layer} --json"
    return text_command("probe", decomposition.provenance, _freeze_option(decomposition.freeze), method, layer)


def layers_command(run: Layers) -> str:
    """The command that measures every layer again."""
    return text_command("probe", run.provenance, _freeze_option(run.freeze), f"--layers --measure {run.measure}")


def curves_command(run: Curves) -> str:
    """The command that measures every head against distance again."""
    return text_command("probe", run.provenance, _freeze_option(run.freeze), "--distances")


def _freeze_option(freeze: str) -> str:
    return f"--freeze {freeze}" if freeze else ""


def compute_measures(result: object) -> None:
    """Computes what every page shows of a decomposition, which keeps it. Does nothing to other results.

    Effects of a long text are computed when they are asked for: its first maps should not wait for them.
    """
    if isinstance(result, Decomposition):
        result.shares()
        if len(result.token_info) <= LONG:
            result.effects()


def save(decomposition: Decomposition, title: str = "", *, name: str | None = None) -> str:
    """Keeps a probe and returns its id, with which a link finds it."""
    return saved_probes.write(decomposition, command(decomposition), title, name=name)


def obtain(params: Values) -> Decomposition:
    """The decomposition a link asks for: the saved probe it names, else its text run now."""
    if params.get("probe"):
        return saved_probes.read(str(params["probe"]))
    if "text" not in params:
        raise LinkError("The link names no saved probe, which this page's maps need. Pick one there and copy its link.")
    return TermsRequest.obtain(params)


def obtain_layers(params: Values) -> Layers:
    """Every layer of the text that a link asks for, run now."""
    _refuse_saved(params, "every layer")
    return LayersRequest.obtain(params)


def obtain_curves(params: Values) -> Curves:
    """Every head against distance on the text that a link asks for, run now."""
    _refuse_saved(params, "every head")
    return CurvesRequest.obtain(params)


def _refuse_saved(params: Values, what: str) -> None:
    if params.get("probe"):
        raise LinkError(f"The link shows a saved probe, which keeps one layer. Send its text to see {what}.")


SIDED = ("model", "revision", "text", "pair", "layer", "head", "method", "freeze")
"""Parameters that each side of a comparison has for itself; a side without a model or text takes the other's."""
FOLLOWING: Mapping[str, Value] = {"layer2": -1, "head2": -1, "method2": "", "freeze2": ""}
"""Values by which a link makes the right side follow the left one, whatever its value is."""
NAMES = {"pair": "second text", "freeze": "gate held fixed"}


def sides(params: Values) -> tuple[dict[str, Value], dict[str, Value]]:
    """The parameters of the left and of the right side of a comparison."""
    shared = {name: value for name, value in params.items() if not name.endswith("2")}
    own = {name: params[f"{name}2"] for name in SIDED}
    if not own["text"]:
        own |= {"text": params["text"], "pair": params["pair"]}
    if not own["model"]:
        own |= {"model": params["model"], "revision": own["revision"] or params["revision"]}
    own |= {name: shared[name] for name in SIDED if own[name] == FOLLOWING.get(f"{name}2")}
    return shared, shared | own


def differences(params: Values) -> dict[str, tuple[Value, Value]]:
    """Parameters that differ between the sides of a comparison: name in words -> values on the left and the right."""
    remaining, right = sides(params)
    return {NAMES.get(name, name): (remaining[name], right[name]) for name in SIDED if remaining[name] != right[name]}


def obtain_both(request: type[TextRequest[ResultT]], params: Values) -> tuple[ResultT, ResultT]:
    """The results of both sides of a comparison, run now; a model that serves both is loaded once."""
    left, right = (request.of(side) for side in sides(params))
    loaded = left.load()
    same = (left.model, left.revision) == (right.model, right.revision)
    return left.run(loaded), right.run(loaded if same else right.load())
