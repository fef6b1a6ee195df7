"""Settings of a pre-training, and the presets: debug (seconds), cpu (minutes of one core), gpu (one accelerator)."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from shlex import quote

from analysis.ablation.variants import Setting


@dataclass(frozen=True, kw_only=True)
class Pretraining:
    """One pre-training, but for its corpus. Everything here changes the result, so all of it names the run.

    learning_rate is the peak; it rises linearly over the first `warmup` of the steps, stays, and falls linearly to 0
    over the last `decay` of them.
    Lengths are in tokens, `batch` in windows, `evaluate_every` in steps, `valid_windows` a number of windows.
    masked_share of a window's tokens is predicted, and to_mask of these show [MASK] (validation always predicts 15 %).
    matched: every variant has BERT-A's number of parameters (by the width of its feed-forward layers, to within 1 %,
    where it can), words and positions start on one scale, and a concatenation predicts words from all of its width.
    reached: with matched, only parameters that training reaches are counted: no rows of positions beyond the length of
    its windows, and no fixed tables.
    early_every, early_until: up to the step early_until, evaluations are early_every steps apart; 0 for no difference.
    precision: float32, or bfloat16 for the products of training (weights, optimiser and evaluation stay in float32).
    """

    variant: str = "bert_a"
    seed: int = 0
    preset: str = "cpu"
    vocabulary: int = 2048
    hidden_size: int = 128
    layers: int = 2
    heads: int = 2
    length: int = 64
    batch: int = 16
    steps: int = 10_000
    learning_rate: float = 1e-3
    warmup: float = 0.05
    decay: float = 0.2
    weight_decay: float = 0.01
    beta2: float = 0.98
    epsilon: float = 1e-8
    clip: float = 1.0
    norm: str = "post"
    initializer_range: float = 0.02
    dropout: float = 0.0
    evaluate_every: int = 250
    valid_windows: int = 256
    final_windows: int = 1_024
    masked_share: float = 0.15
    to_mask: float = 0.8
    matched: bool = False
    precision: str = "float32"
    reached: bool = False
    early_every: int = 0
    early_until: int = 0

    def recorded_settings(self) -> dict[str, Setting]:
        """The settings by name; one that came after the first runs is left out at its default, as those runs do."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in _ADDED_LATER or getattr(self, field.name) != field.default
        }

    @property
    def positions(self) -> int:
        """Rows of the position table: enough to evaluate at four times the training length, those left untrained."""
        return 4 * self.length

    @property
    def tokens(self) -> int:
        """Tokens of the whole run."""
        return self.steps * self.batch * self.length

    def config(self) -> dict[str, Setting]:
        """Fields of AddendConfig."""
        from analysis.ablation.variants import VARIANTS

        shape: dict[str, Setting] = {
            "vocab_size": self.vocabulary,
            "hidden_size": self.hidden_size,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "intermediate_size": 4 * self.hidden_size,
            "hidden_dropout_prob": self.dropout,
            "attention_probs_dropout_prob": self.dropout,
            "max_position_embeddings": self.positions,
            "initializer_range": self.initializer_range,
            "norm": self.norm,
        }
        variant = VARIANTS[self.variant]
        fields = variant.fields(hidden_size=self.hidden_size, heads=self.heads, matched=self.matched)
        if fields.get("disentangled"):
            fields["disentangled"] = self.length
        config = shape | fields
        if self.matched and variant.match and self.variant != "bert_a":
            from analysis.ablation.sizes import matched_width

            reference = replace(self, variant="bert_a").config()
            length = self.length if self.reached else None
            config["intermediate_size"] = matched_width(config, reference, length)
        return config

    def evaluated_at(self, step: int) -> bool:
        """True if the validation loss is measured after this step."""
        early = step <= self.early_until and step % self.early_every == 0
        return early or step % self.evaluate_every == 0 or step == self.steps

    def run_id(self, corpus: str) -> str:
        """The name that a run with these settings on this corpus always has."""
        return identify({**self.recorded_settings(), "corpus": corpus})


def identify(settings: Mapping[str, object]) -> str:
    """Twelve hexadecimal digits that stand for these settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]


_ADDED_LATER = {"masked_share", "to_mask", "matched", "precision", "reached", "early_every", "early_until"}
_PER_RUN = {"variant", "seed", "preset", "learning_rate"}
RECIPE = (*(field.name for field in fields(Pretraining) if field.name not in _PER_RUN), "corpus")
"""Settings that runs must share to be compared."""
OPTIONS = ("learning_rate", "norm", "steps", "masked_share", "to_mask", "initializer_range")
"""Settings that the command changes by an option of their name."""
_IN_WORDS: Mapping[tuple[str, object], str] = {("norm", "pre"): "norms first (pre-norm)"}
"""Settings whose names and values do not say what they do."""
_EVALUATION = {"evaluate_every", "early_every", "early_until", "valid_windows", "final_windows"}


def recipe_of(config: Mapping[str, object]) -> dict[str, object]:
    """The settings that runs must share to be compared; a corpus is what its digest says, wherever it lay."""
    recipe = {name: config[name] for name in RECIPE if name in config}
    corpus = recipe.get("corpus")
    return recipe | {"corpus": corpus.get("digest", corpus)} if isinstance(corpus, Mapping) else recipe


def _judged_width(width: int, *, steps: int, early_until: int, name: str = "") -> Pretraining:
    """The recipe of `analysis/rules/encoders.toml` for encoders of this width, with heads of 32 dimensions."""
    return Pretraining(
        preset=name or f"width{width}", hidden_size=width, heads=width // 32, steps=steps, masked_share=0.4,
        matched=True, reached=True, precision="bfloat16", evaluate_every=200, early_every=50, early_until=early_until,
    )  # fmt: skip


PRESETS = {
    "debug": Pretraining(
        preset="debug", vocabulary=256, hidden_size=32, layers=2, heads=2, length=32, batch=8, steps=40,
        evaluate_every=10, valid_windows=16, final_windows=32,
    ),
    "cpu": Pretraining(preset="cpu"),
    "cpu2": Pretraining(preset="cpu2", masked_share=0.4, matched=True, precision="bfloat16", evaluate_every=200),
    "pilot": Pretraining(
        preset="pilot", masked_share=0.4, matched=True, precision="bfloat16", evaluate_every=200, steps=5_000,
        warmup=0.1, decay=0.0, final_windows=256,
    ),
    "width64": _judged_width(64, steps=18_000, early_until=8_000),
    "width128": _judged_width(128, steps=10_000, early_until=4_000),
    "width256": _judged_width(256, steps=10_000, early_until=4_000),
    "width128_twice": _judged_width(128, steps=20_000, early_until=4_000, name="width128_twice"),
    "gpu": Pretraining(
        preset="gpu", vocabulary=16_384, hidden_size=512, layers=4, heads=8, length=128, batch=256, steps=20_000,
        learning_rate=5e-4, dropout=0.1, evaluate_every=500, valid_windows=1_024, final_windows=8_192,
    ),
}  # fmt: skip
LONGER = {"width128": "width128_twice"}
"""A preset -> the one that differs from it in nothing but twice as many steps."""


def preset(name: str, **changes: Setting) -> Pretraining:
    """A preset with some settings changed. Raises AddendError for an unknown one."""
    from analysis.core.errors import UnknownName

    if name not in PRESETS:
        raise UnknownName(f"There is no preset named {name!r}. Known: {', '.join(PRESETS)}.")
    return replace(PRESETS[name], **changes)


def changed_settings(recipe: Mapping[str, object], preset: str) -> dict[str, object]:
    """The settings of a recipe that are not its preset's; how often it was evaluated, and its corpus, are none."""
    defaults = {name: getattr(PRESETS[preset], name, None) for name in RECIPE} if preset in PRESETS else {}
    return {
        name: value
        for name, value in recipe.items()
        if name != "corpus" and name not in _EVALUATION and value != defaults.get(name)
    }


def options(config: Mapping[str, object], preset: str) -> dict[str, object]:
    """The options of the command that give a run's settings where they are not its preset's; of none known, nothing."""
    if preset not in PRESETS:
        return {}
    known = {name: config[name] for name in OPTIONS if name in config}
    return {name: value for name, value in known.items() if value != getattr(PRESETS[preset], name)}


def describe_changes(changes: Mapping[str, object], preset: str) -> str:
    """A recipe in words, by how it differs from its preset."""
    phrases = [
        _IN_WORDS.get((name, value)) or f"{name.replace('_', ' ')} {f'{value:,}' if isinstance(value, int) else value}"
        for name, value in changes.items()
    ]
    return ", ".join(phrases) or ("the preset's own settings" if preset in PRESETS else "settings not recorded")


def ablate(preset: str, variants: Iterable[str], seeds: Iterable[int] = (), **changes: object) -> str:
    """The command that trains these variants; changes: settings that are not the preset's, by the options' names."""
    settings: dict[str, object] = {"preset": preset, "variants": ",".join(variants)}
    if seed_list := ",".join(map(str, seeds)):
        settings["seeds"] = seed_list
    arguments = [f"--{name.replace('_', '-')} {quote(str(value))}" for name, value in (settings | changes).items()]
    return f"python -m analysis ablate {' '.join(arguments)}"
