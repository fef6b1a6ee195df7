"""The ways to tell a position that an engineer may choose, and the published rows that are about each."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, Variant

TUPE, DIET, DEBERTA = "ke2021tupe|Table 1", "chen2021diet|Table 2", "he2021deberta|Table 4"
HAVIV, MASKED, PRESS = "haviv2022nopos|Table 1", "haviv2022nopos|Table 4", "press2022alibi|App. Table 2"
PARTIAL, FRACTION, POLAR = "barbero2025round|Table 2", "khan2026fractional|two cells", "gopalakrishnan2025pope|Table 1"
LENGTHS, FUSION = "kazemnejad2023length|Figure 1", "hallam2026fusion|Table 1"
ADDED_IN_DIET = "Devlin 2018 (pos input, seg input)"
SINUSOIDAL = "APE (sinusoidal)"


@dataclass(frozen=True)
class Pair:
    """A row of a published table and the row of the same table that adds positions to words."""

    table: str
    row: str
    baseline: str


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to encode positions.

    variant: ours, from whose settings its requirements follow. described: a description, if none of our variants is of
    this kind. pairs: published comparisons with added positions, or with rotary ones of all dimensions. longer:
    published rows (table, row) on texts longer than in training. claims: those of the ledger that are about it.
    """

    variant: str
    described: Variant | None = None
    pairs: tuple[Pair, ...] = ()
    longer: tuple[tuple[str, str], ...] = ()
    claims: tuple[str, ...] = ()

    @property
    def setup(self) -> Variant:
        """The variant's description and settings."""
        return self.described or VARIANTS[self.variant]


HYBRID = Variant(
    name="hybrid",
    title="Rotary, with some layers that do not rotate",
    combines="rotated",
    summary="As rotary, but some layers do not rotate: they compare words alone, at any distance.",
    settings={"causal": True, "rotary": True},
)
"""A method that none of our variants uses yet; its settings serve only to derive its requirements."""
PARTIAL_ROTARY = replace(
    VARIANTS["causal_partial_25"],
    title="Rotary in a part of the dimensions",
    summary="As rotary, but only a part of each head's dimensions is rotated; the others compare words alone.",
)

COUNTERPARTS = {
    name: f"causal_{name}" for name in ("alibi", "bert_a", "no_position", "relative_only", "rotary", "sinusoidal_lead")
}
"""A method's variant in causal trainings, where it has another one."""

METHODS = (
    Method(variant="bert_a", pairs=(Pair(HAVIV, "Learned", "Sinusoidal"),), claims=("C08", "C09", "C15")),
    Method(
        variant="sinusoidal",
        pairs=(
            Pair(
                "vaswani2017attention|Table 3",
                "base (sinusoidal, added)",
                "(E) learned positional embedding instead of sinusoids",
            ),
            Pair(HAVIV, "Sinusoidal", "Learned"),
        ),
        longer=((PRESS, "Sinusoidal"), (LENGTHS, SINUSOIDAL)),
        claims=("C02", "C03", "C15"),
    ),
    Method(variant="bert_r", pairs=(Pair(TUPE, "BERT-R", "BERT-A"),), claims=("C22",)),
    Method(
        variant="relative_only",
        pairs=(
            Pair(DIET, "Raffel 2020 T5 bias (per-head, seg input)", ADDED_IN_DIET),
            Pair(PRESS, "T5 bias", "Sinusoidal"),
            Pair(LENGTHS, "T5 relative bias", SINUSOIDAL),
        ),
        longer=((PRESS, "T5 bias"), (LENGTHS, "T5 relative bias")),
        claims=("C22",),
    ),
    Method(
        variant="alibi",
        pairs=(
            Pair(HAVIV, "ALiBi", "Learned"),
            Pair(MASKED, "ALiBi", "Learned"),
            Pair(PRESS, "ALiBi", "Sinusoidal"),
            Pair(LENGTHS, "ALiBi", SINUSOIDAL),
        ),
        longer=((PRESS, "ALiBi"), (LENGTHS, "ALiBi")),
    ),
    Method(
        variant="rotary",
        pairs=(
            Pair("su2021roformer|Table 1", "RoFormer", "Transformer-base"),
            Pair("su2021roformer|Table 2", "RoFormer", "BERT (Devlin 2019, as quoted)"),
            Pair(PRESS, "Rotary", "Sinusoidal"),
            Pair(LENGTHS, "Rotary", SINUSOIDAL),
        ),
        longer=((PRESS, "Rotary"), (LENGTHS, "Rotary")),
        claims=("C22", "C25"),
    ),
    Method(
        variant="causal_partial_25",
        described=PARTIAL_ROTARY,
        pairs=(
            Pair(PARTIAL, "0.75-RoPE", "RoPE, base 10,000"),
            Pair(FRACTION, "RoPE of 10 % of the dimensions", "RoPE of all dimensions"),
        ),
        claims=("C30",),
    ),
    Method(variant="hybrid", described=HYBRID),
    Method(variant="causal_polar", pairs=(Pair(POLAR, "PoPE", "RoPE"),), claims=("C32",)),
    Method(variant="causal_drope", claims=("C31",)),
    Method(
        variant="deberta",
        pairs=(Pair(DEBERTA, "DeBERTa-base", "RoBERTa-ReImp-base"),),
        claims=("C22",),
    ),
    Method(
        variant="tupe_a",
        pairs=(Pair(TUPE, "TUPE-A", "BERT-A"), Pair(DIET, "Ke 2020 TUPE (per-head, seg input)", ADDED_IN_DIET)),
        claims=("C18", "C19", "C20", "C21"),
    ),
    Method(variant="tupe_r", pairs=(Pair(TUPE, "TUPE-R", "BERT-A"),), claims=("C18", "C19", "C22")),
    Method(variant="bert_a_d", pairs=(Pair(TUPE, "BERT-A^d", "BERT-A"),), claims=("C08",)),
    Method(variant="concat_20", pairs=(Pair(FUSION, "Concat+projection W[E;P]", "Add"),), claims=("C01", "C10", "C17")),
    Method(variant="concat_wide", claims=("C01", "C17")),
    Method(
        variant="concat_blocked",
        pairs=(
            Pair(
                "kitaev2018constituency|sec 3",
                "factored attention q.k = qc.kc + qp.kp (block-diagonal weights)",
                "additive z=w+m+p",
            ),
        ),
        claims=("C17", "C18"),
    ),
    Method(variant="multiply", claims=("C25",)),
    Method(variant="recurrent"),
    Method(variant="window"),
    Method(
        variant="no_position",
        pairs=(
            Pair(HAVIV, "NoPos", "Learned"),
            Pair(MASKED, "NoPos", "Learned"),
            Pair(LENGTHS, "NoPE", SINUSOIDAL),
        ),
        longer=((LENGTHS, "NoPE"),),
        claims=("C14", "C16"),
    ),
)
"""The methods in the order of the page: added, relative, untied, concatenated, others, none."""


class Form(NamedTuple):
    """One of several forms in which a method was trained.

    name: in a word or two; empty for a method of one form. told: what makes it, for the line below the name. summary:
    what it does, in place of the variant's own. note: what its pictures leave out, in a sentence. code: lines of torch
    that make it, where no configuration does; what they take is named in them. config: the call in transformers that
    chooses it, where that is another one than the method's.
    """

    name: str = ""
    told: str = ""
    summary: str = ""
    note: str = ""
    code: str = ""
    config: str = ""


_WIDTH, _DEVIATION = PRESETS["width128"].hidden_size, PRESETS["width128"].initializer_range
_STRONG, _LEADING = (VARIANTS[name].settings for name in ("sinusoidal_strong", "sinusoidal_lead"))
_SINUSOIDS = f"""\
import torch

torch.nn.init.normal_(embedding.weight, std={_DEVIATION})  # words must start this small
words = embedding(tokens)

lengths = 10_000 ** (torch.arange(0, width, 2) / width)
waves = torch.arange(length)[:, None] / lengths
table = torch.stack([waves.sin(), waves.cos()], -1).flatten(1)
table = {_STRONG["position_deviation"]} * 2**0.5 * table  # not trained
"""
_POLAR = """\
import torch

angles = torch.arange(length)[:, None] * 10_000 ** (-torch.arange(dim) / dim)  # dim: of a head

def turned(x, angles):
    size = torch.nn.functional.softplus(x)
    return torch.cat([size * angles.cos(), size * angles.sin()], -1)

# shift: learned, one for each dimension of the keys of a head
scores = turned(query, angles) @ turned(key, angles + shift).transpose(-1, -2) / dim**0.5
"""
_APART = """\
import torch

# query, key: of words that hold no position; heads first
places = norm(table[:length])  # a learned row for each position
apart = of_query(places) @ of_key(places).transpose(-1, -2)  # once for all layers
apart[:, 0], apart[:, 1:, 0] = from_cls, to_cls  # of [CLS]: two learned numbers a head
scores = (query @ key.transpose(-1, -2) + apart) / (2 * dim) ** 0.5
"""
_LEADING_DIMENSIONS = int(_LEADING["position_dim"])
FORMS = {
    "causal_polar": {"causal_polar": Form(code=_POLAR)},
    "tupe_a": {"tupe_a": Form(code=_APART)},
    "causal_partial_25": {
        "causal_partial_25": Form("a quarter"),
        "causal_partial_10": Form(
            "a tenth",
            "no model named here",
            "As rotary, but only the first tenth of each head's dimensions is rotated (6 of 64); the others compare "
            "words alone.",
            config="GPTNeoXConfig("
            'rope_parameters={"rope_type": "default", "rope_theta": 10_000, "partial_rotary_factor": 0.1})',
        ),
    },
    "sinusoidal": {
        "sinusoidal": Form(
            "as published",
            note="In our runs words are not scaled, and the sinusoids are smaller in the same proportion.",
        ),
        "sinusoidal_strong": Form(
            "strong",
            f"deviation {_STRONG['position_deviation']}, words {_DEVIATION}",
            f"The sinusoids of the first transformer, at a standard deviation of {_STRONG['position_deviation']}, are "
            f"added to words that start at {_DEVIATION} and are not scaled; they are not trained.",
            "The pictures are of sinusoids from −1 to 1, before they are made smaller.",
            f"{_SINUSOIDS}hidden = torch.nn.LayerNorm(width)(words + table)",
        ),
        "sinusoidal_lead": Form(
            f"{_LEADING['position_dim']} leading dimensions",
            f"{_LEADING['position_dim']} of {_WIDTH} dimensions, as strong",
            f"The {_LEADING['position_dim']} dimensions of the shortest waves, at a standard deviation of "
            f"{_LEADING['position_deviation']}, are added to the first {_LEADING['position_dim']} of words that start "
            f"at {_DEVIATION} and are not scaled; they are not trained. Measured {_WIDTH} wide: in a wider model, an "
            "eighth of the dimensions has waves of the same lengths.",
            "The pictures are of all dimensions of the sinusoids, before they are made smaller.",
            f"{_SINUSOIDS}table[:, width // {_WIDTH // _LEADING_DIMENSIONS} :] = 0  # the shortest waves alone\n"
            "hidden = torch.nn.LayerNorm(width)(words + table)",
        ),
    },
}
"""A method -> its variants, each with its form: their losses differ too much for one to stand for the other."""


def forms(method: str) -> dict[str, Form]:
    """The variants of a method, each with its form."""
    return FORMS.get(method, {method: Form()})


FORMS_IN_WORDS = (
    "Sinusoids “as published” are those of the first transformer; “strong” ones have a standard deviation of "
    f"{_STRONG['position_deviation']}, beside words that start at {_DEVIATION} and are not scaled; the “"
    f"{_LEADING['position_dim']} leading dimensions” are those of the shortest waves, added alone and as strong."
)
