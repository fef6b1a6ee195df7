"""Probes: a text run through a model now, or one saved before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any, ClassVar

from analysis.core.errors import LinkError
from analysis.core.provenance import model_options
from analysis.measurements.terms.result import Decomposition, Provenance
from analysis.probes import saved_probes


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a probe asks: a model, named as `analysis.models.source.resolve` takes it, a text, and a layer."""

    model: str
    text: str
    pair: str | None = None
    layer: int = 0
    method: str = "frozen"
    freeze: str = "activation"
    revision: str | None = None
    truncate: bool = False
    head: ClassVar[bool] = False
    """Whether the model is wanted with the head that predicts tokens, where it has one."""
    terms: ClassVar[bool] = True
    """Whether only a model whose terms are known will do."""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "Request":
        """What the parameters of a link ask."""
        return cls(
            model=str(params["model"]),
            text=str(params["text"]),
            pair=str(params["pair"]) or None,
            layer=int(params["layer"]),
            method=str(params.get("method", "frozen")),
            freeze=str(params.get("freeze", "activation")),
            revision=str(params["revision"]) or None,
            truncate=bool(params["truncate"]),
        )

    def place(self) -> tuple[str, str | None, bool]:
        """The model as it was asked for."""
        return self.model.strip(), self.revision, self.terms

    def find(self, progress: Callable[[str], None] = lambda _: None, *, fetch: bool = True) -> Any:
        """Where the model's files are; fetch: whether they may be downloaded."""
        from analysis.models.source import resolve

        return resolve(self.model, self.revision, progress, terms=self.terms, fetch=fetch)

    def load(self, progress: Callable[[str], None] = lambda _: None, result: Any = None) -> Any:
        """The model; `result` is where its files are, where the caller knows it already."""
        from analysis.models.load import load

        return load(result or self.find(progress), progress=progress, head=self.head)

    def run(self, loaded: Any = None) -> Decomposition:
        """Decomposes the text; `loaded` is the model, where the caller holds it already."""
        from analysis.measurements.terms.run import decompose

        loaded = loaded or self.load()
        return decompose(
            loaded.model,
            loaded.tokenizer,
            self.text,
            self.pair,
            self.layer,
            method=self.method,
            freeze=self.freeze,
            truncate=self.truncate,
            name=loaded.source.name,
            revision=loaded.source.revision,
            stored=loaded.dtype,
        )


@dataclass(frozen=True, kw_only=True)
class LayersRequest(Request):
    """The same of every layer, by one measure: share or effect."""

    measure: str = "share"

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "LayersRequest":
        """What the parameters of a link ask."""
        if params["measure"] not in ("share", "effect"):
            raise LinkError(f"The link says measure={params['measure']!r}; expected share or effect.")
        request: dict[str, Any] = {**vars(Request.of(params)), "layer": 0, "measure": str(params["measure"])}
        return cls(**request)

    def run(self, loaded: Any = None) -> Any:
        """Every layer of the text, `analysis.measurements.terms.layers.Layers`."""
        from analysis.measurements.terms.layers import layers

        loaded = loaded or self.load()
        return layers(
            loaded.model,
            loaded.tokenizer,
            self.text,
            self.pair,
            measure=self.measure,
            freeze=self.freeze,
            truncate=self.truncate,
            name=loaded.source.name,
            revision=loaded.source.revision,
        )


@dataclass(frozen=True, kw_only=True)
class PatternsRequest(Request):
    """The attention patterns of a model, of whatever architecture, on a text."""

    terms: ClassVar[bool] = False

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "PatternsRequest":
        """What the parameters of a link ask; one run serves every layer."""
        request: dict[str, Any] = {**vars(Request.of(params)), "layer": 0, "method": "frozen", "freeze": "activation"}
        return cls(**request)

    def run(self, loaded: Any = None) -> Any:
        """Every layer's pattern, `analysis.measurements.terms.result.Patterns`."""
        from analysis.measurements.terms.patterns import text_patterns

        loaded = loaded or self.load()
        return text_patterns(
            loaded.model,
            loaded.tokenizer,
            self.text,
            self.pair,
            truncate=self.truncate,
            name=loaded.source.name,
            revision=loaded.source.revision,
        )


def command(decomposition: Decomposition) -> str:
    """The command that makes a decomposition again."""
    parts = _asked(decomposition.provenance, decomposition.freeze, decomposition.method)
    return " ".join([*parts, f"--layer {decomposition.layer} --json"])


def layers_command(about: Provenance, freeze: str, measure: str) -> str:
    """The command that measures every layer again."""
    return " ".join([*_asked(about, freeze), f"--layers --measure {measure}"])


def _asked(about: Provenance, freeze: str, method: str = "frozen") -> list[str]:
    parts = ["python -m analysis probe", model_options(about.model, about.revision), f"--text {quote(about.text)}"]
    if about.text_pair:
        parts.append(f"--pair {quote(about.text_pair)}")
    if about.truncated_from:
        parts.append("--truncate")
    if freeze:
        parts.append(f"--freeze {freeze}")
    if method == "mean":
        parts.append("--method mean")
    return parts


def save(decomposition: Decomposition, title: str = "", *, name: str | None = None) -> str:
    """Keeps a probe and returns its id, with which a link finds it."""
    return saved_probes.write(decomposition, command(decomposition), title, name=name)


def obtain(params: Mapping[str, Any]) -> Decomposition:
    """The decomposition a link asks for: the saved probe it names, else its text run now."""
    if params.get("probe"):
        return saved_probes.read(str(params["probe"]))
    if "text" not in params:
        raise LinkError("The link names no saved probe, which this page's maps need. Pick one there and copy its link.")
    return Request.of(params).run()


def obtain_layers(params: Mapping[str, Any]) -> Any:
    """Every layer of the text that a link asks for, run now."""
    if params.get("probe"):
        raise LinkError("The link shows a saved probe, which keeps one layer. Send its text to see every layer.")
    return LayersRequest.of(params).run()


SIDED = ("model", "revision", "text", "pair", "layer", "head", "method", "freeze")
"""What the two sides of a comparison have each for itself; a side that names no model or text takes the other's."""
FOLLOWING: Mapping[str, Any] = {"layer2": -1, "head2": -1, "method2": "", "freeze2": ""}
"""What a link says of the right side where it is as the left one, whatever that is."""
NAMES = {"pair": "second text", "freeze": "gate held fixed"}


def sides(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of the left and of the right side of a comparison."""
    shared = {name: value for name, value in params.items() if not name.endswith("2")}
    own = {name: params[f"{name}2"] for name in SIDED}
    if not own["text"]:
        own |= {"text": params["text"], "pair": params["pair"]}
    if not own["model"]:
        own |= {"model": params["model"], "revision": own["revision"] or params["revision"]}
    own |= {name: shared[name] for name in SIDED if own[name] == FOLLOWING.get(f"{name}2")}
    return shared, shared | own


def differences(params: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs between the sides of a comparison, in words, with the value of each."""
    left, right = sides(params)
    return {NAMES.get(name, name): (left[name], right[name]) for name in SIDED if left[name] != right[name]}


def obtain_both(params: Mapping[str, Any]) -> tuple[Decomposition, Decomposition]:
    """Both sides of a comparison, run now; a model that serves both is loaded once."""
    left, right = (Request.of(side) for side in sides(params))
    loaded = left.load()
    same = (left.model, left.revision) == (right.model, right.revision)
    return left.run(loaded), right.run(loaded if same else right.load())


def obtain_patterns(params: Mapping[str, Any]) -> Any:
    """The patterns of the text that a link asks for, run now."""
    return PatternsRequest.of(params).run()
