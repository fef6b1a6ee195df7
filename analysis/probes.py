"""Probes: a text run through a model now, or one saved before.

A saved probe is a results file like any other; it keeps what every map follows from.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from analysis.errors import LinkError, StoreError
from analysis.provenance import model_options
from analysis.sources import MEAN_SOURCES, SOURCES
from analysis.store import files, read
from analysis.terms.masks import ALL
from analysis.terms.result import Decomposition, Provenance, TokenInfo


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

    def load(self, progress: Callable[[str], None] = lambda _: None, found: Any = None) -> Any:
        """The model; `found` is where its files are, where the caller knows it already."""
        from analysis.models.load import load

        return load(found or self.find(progress), progress=progress, head=self.head)

    def run(self, loaded: Any = None) -> Decomposition:
        """Decomposes the text; `loaded` is the model, where the caller holds it already."""
        from analysis.terms.run import decompose

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
        asked: dict[str, Any] = {**vars(Request.of(params)), "layer": 0, "measure": str(params["measure"])}
        return cls(**asked)

    def run(self, loaded: Any = None) -> Any:
        """Every layer of the text, `analysis.terms.layers.Layers`."""
        from analysis.terms.layers import layers

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
        asked: dict[str, Any] = {**vars(Request.of(params)), "layer": 0, "method": "frozen", "freeze": "activation"}
        return cls(**asked)

    def run(self, loaded: Any = None) -> Any:
        """Every layer's pattern, `analysis.terms.result.Patterns`."""
        from analysis.terms.patterns import text_patterns

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


def command(made: Decomposition) -> str:
    """The command that makes a decomposition again."""
    parts = _asked(made.provenance, made.freeze, made.method)
    return " ".join([*parts, f"--layer {made.layer} --json"])


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


def save(made: Decomposition, title: str = "", *, name: str | None = None) -> str:
    """Writes a probe as a results file and returns its id. The next sync puts it into the store."""
    about = made.provenance
    run = files.Run(
        kind="probe",
        command=command(made),
        model=about.model,
        revision=about.revision,
        device=about.device,
        dtype=about.dtype,
        seconds=about.seconds,
        created=about.created,
        git_sha=about.git_sha,
        versions=about.versions,
        run_id=name or files.new_run_id(),
        config={
            "title": title or (name or "saved probe"),
            "layer": made.layer,
            "text": about.text,
            "text_pair": about.text_pair,
            "tokens": [[token.text, token.word, token.segment] for token in made.token_info],
            "token_count": len(made.token_info),
            "scale": made.scale,
            "max_error": made.max_error,
            "pattern_error": made.pattern_error,
            "attends": made.attends,
            "held": made.freeze,
            "method": made.method,
            "reference": made.reference,
            "frozen_gap": None if np.isnan(made.frozen_gap) else made.frozen_gap,
            "truncated_from": about.truncated_from,
        },
    )

    def by_head(measure: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return list(np.stack(list(measure.values()), -1).astype(np.float32))

    columns = {
        "head": range(made.heads),
        "query": [made.query[:, head].astype(np.float32).ravel() for head in range(made.heads)],
        "key": [made.key[:, head].astype(np.float32).ravel() for head in range(made.heads)],
        "share": by_head(made.shares()),
        "effect": by_head(made.effects()),
        "top1": by_head(made.top1_agreement()),
        "rms": by_head(made.raw_rms()),
        "score_bias": [
            [] if made.score_bias is None else made.score_bias[head].astype(np.float32).ravel()
            for head in range(made.heads)
        ],
    }
    files.write("probe", columns, run)
    return run.run_id


def saved(probe_id: str) -> Decomposition:
    """A probe from the store. Raises StoreError for an id it does not hold. Needs no torch."""
    about = read.query(
        "SELECT p.*, r.git_sha, r.versions FROM probes p JOIN runs r USING (run_id) WHERE probe_id = ?", [probe_id]
    )
    if about.empty:
        raise StoreError(
            f"There is no saved probe {probe_id!r} in this store. It may have been saved on another machine; "
            "run the text again on the Live probe page."
        )
    row = about.iloc[0]
    heads = read.query("SELECT * FROM probe_heads WHERE probe_id = ? ORDER BY head", [probe_id])
    tokens = tuple(
        TokenInfo(text, tuple(word) if word else None, segment) for text, word, segment in json.loads(row.tokens)
    )

    def factors(column: str) -> np.ndarray:
        return np.stack([np.asarray(flat).reshape(len(SOURCES), len(tokens), -1) for flat in heads[column]], 1)

    query, key = factors("query"), factors("key")
    scale = float(row.scale)
    scores = scale * (query.sum(0) @ key.sum(0).swapaxes(-1, -2))
    bias = None
    if len(heads.score_bias[0]):
        bias = np.stack([np.asarray(flat).reshape(scores.shape[1:]) for flat in heads.score_bias])
        scores = scores + bias
    return Decomposition(
        query=query,
        key=key,
        scale=scale,
        score_bias=bias,
        layer=int(row.layer),
        freeze=row.held if isinstance(row.held, str) else "",
        sources=MEAN_SOURCES if row.method == "mean" else SOURCES,
        reference=row.reference if isinstance(row.reference, str) else "",
        frozen_gap=float(row.frozen_gap),
        token_info=tokens,
        scores=scores,
        max_error=float(row.max_error),
        pattern_error=float(row.pattern_error),
        provenance=Provenance(
            model=row.model,
            revision=row.revision,
            device=row.device,
            dtype=row["dtype"],
            seconds=float(row.seconds),
            text=row.text,
            text_pair=row.text_pair if isinstance(row.text_pair, str) else None,
            created=row.created,
            git_sha=row.git_sha,
            versions=row.versions,
            truncated_from=None if pd.isna(row.truncated_from) else int(row.truncated_from),
        ),
        probe_id=probe_id,
        attends=row.attends if isinstance(row.attends, str) else ALL,
        _measured={name: np.stack(list(heads[name])).T for name in ("share", "effect", "top1", "rms")},
    )


def obtain(params: Mapping[str, Any]) -> Decomposition:
    """The decomposition a link asks for: the saved probe it names, else its text run now."""
    if params.get("probe"):
        return saved(str(params["probe"]))
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


def sides(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of the left and of the right side of a comparison."""
    shared = {name: value for name, value in params.items() if not name.endswith("2")}
    own = {name: params[f"{name}2"] for name in SIDED}
    if not own["text"]:
        own |= {"text": params["text"], "pair": params["pair"]}
    if not own["model"]:
        own |= {"model": params["model"], "revision": own["revision"] or params["revision"]}
    return shared, shared | own


def obtain_both(params: Mapping[str, Any]) -> tuple[Decomposition, Decomposition]:
    """Both sides of a comparison, run now; a model that serves both is loaded once."""
    left, right = (Request.of(side) for side in sides(params))
    loaded = left.load()
    same = (left.model, left.revision) == (right.model, right.revision)
    return left.run(loaded), right.run(loaded if same else right.load())


def obtain_patterns(params: Mapping[str, Any]) -> Any:
    """The patterns of the text that a link asks for, run now."""
    return PatternsRequest.of(params).run()
