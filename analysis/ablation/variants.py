"""Ways of combining word and position that we train: what a variant is, and the table of all of them.

Imports no torch.

>>> VARIANTS["bert_a"].settings["combine"]
'add'
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from analysis.core.formatting import uncapitalised
from analysis.core.registry import Registry

Setting = str | int | float | bool
"""The value of a field of a config."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way of telling a model the positions of its words."""

    title: str
    summary: str


WAYS = {
    "relative": Way(
        title="Relative",
        summary="attention is told how far apart two words are; nothing is added to words",
    ),
    "apart": Way(
        title="Kept apart",
        summary="positions enter the scores of attention by matrices or terms of their own, mostly in every layer",
    ),
    "layers": Way(
        title="Told again",
        summary="the same positions are told in every layer instead of only at the input",
    ),
    "added": Way(
        title="Added",
        summary="positions are told once, at the input or in the first layer: BERT, GPT-2",
    ),
    "multiplied": Way(title="Multiplied", summary="each position scales the dimensions of the word"),
    "concatenated": Way(title="Concatenated", summary="words and positions stand side by side"),
    "none": Way(title="None", summary="no position is told"),
}
"""Ways of telling positions, by name."""
_TOLD_TO_SCORES = ("rotary", "polar", "relative_buckets", "alibi", "disentangled")
"""The settings by which the scores of every layer are told positions."""
_WAYS_BY_COMBINATION = {
    "rotated": "relative", "biased": "relative", "disentangled": "relative", "untied": "apart", "added": "added",
    "multiplied": "multiplied", "concatenated": "concatenated", "absent": "none",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way of combining word and position.

    settings: fields of AddendConfig that differ from its defaults. position_share: with concat, the share
    of the width that positions take; with add, the share that words leave empty. wider: the share by which the
    width grows beyond bert_a's, which concatenated positions take; match: whether a matched preset changes the width of
    the feed-forward layers until the parameters are bert_a's.
    needs: the variant whose run of the same seed must be there first; inherits: what of that run's model
    this one starts from, its words or all of it. share_of_steps: how long this one is trained, as a share
    of the recipe's steps. size: how its parameters compare with bert_a's where they cannot be matched, in a
    sentence. known_as: the name by which papers know it, where the title is our own.
    doing: what it does, as the subject of a verb, where sentences name it often.
    """

    name: str
    title: str
    known_as: str = ""
    doing: str = ""
    combines: str
    summary: str
    key: str | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    position_share: float = 0.0
    wider: float = 0.0
    match: bool = True
    needs: str | None = None
    inherits: Literal["words", "model"] = "words"
    share_of_steps: float = 1.0
    size: str = ""

    @property
    def way(self) -> str:
        """The way in which positions are told, a key of WAYS.

        Positions that layers receive by matrices of their own are kept apart, even where their terms are added up.
        Those that several layers receive by the words' matrices are told again.
        """
        if self.settings.get("untied") == "added":
            return "apart"
        if self.settings.get("untied") == "shared" and self.settings.get("told_layers") != 1:
            return "layers"
        return _WAYS_BY_COMBINATION[self.combines]

    @property
    def told_at_input(self) -> bool:
        """Positions are part of what enters the first layer."""
        return "position" in self.settings

    @property
    def told_layers(self) -> int | None:
        """The first layers that are told positions again, besides the input; None for all of them."""
        if "untied" in self.settings:
            return int(self.settings.get("told_layers", 0)) or None
        return None if any(self.settings.get(name) for name in _TOLD_TO_SCORES) else 0

    @property
    def own_terms(self) -> bool:
        """Layers read positions by matrices or terms of their own, and not by those of words."""
        return self.settings.get("untied") in ("own", "added") or any(
            self.settings.get(name) for name in ("relative_buckets", "alibi", "disentangled")
        )

    @property
    def tells_all_attention(self) -> bool:
        """It tells positions to what attention compares in every layer, and not to the stream of states alone.

        Positions that are added to the stream reach every layer too, but mixed with words.
        """
        return self.told_layers is None and self.settings.get("told_to") != "hidden"

    def fields(self, *, hidden_size: int, heads: int, matched: bool = False) -> dict[str, Setting]:
        """Everything this variant sets, for a model that is this wide. matched: as `Pretraining` says."""
        fields: dict[str, Setting] = {"variant": self.name, **self.settings}
        if self.wider:
            width = round(hidden_size * (1 + self.wider) / heads) * heads
            fields |= {"hidden_size": width, "intermediate_size": 4 * width}
            if self.settings.get("combine") == "concat":
                fields["position_dim"] = width - hidden_size
            hidden_size = width
        if self.position_share:
            # Even, and of a width that heads can share where each head has its block.
            unit = heads if self.settings.get("blocked") else 2
            given_up = max(unit, round(hidden_size * self.position_share / unit) * unit)
            added = self.settings.get("combine") == "add"
            fields |= {"word_width": hidden_size - given_up} if added else {"position_dim": given_up}
        if matched:
            fields.pop("scale_words", None)
            if fields.get("position") in ("sinusoidal", "random_fixed") or fields.get("combine") == "multiply":
                fields["matched_scales"] = True
            if fields.get("combine") == "concat" or fields.get("word_width"):
                fields["full_head"] = True
        return fields


_LEADING_SINUSOIDS: Mapping[str, Setting] = {
    "position": "sinusoidal",
    "combine": "add",
    "position_dim": 16,
    "leading": True,
    "position_deviation": 0.1,
}
"""The settings of the 16 shortest waves of the sinusoidal code, added."""
_TABLE = (
    Variant(
        name="add_project_extra",
        title="Added and projected, extra",
        combines="added",
        summary="Words and learned positions are added, and one learned projection follows. Its feed-forward layers "
        "stay as wide as those of adding, so that the projection is extra parameters. The control of “Concatenated "
        "and projected, extra”, whose projection has a block for words and one for positions.",
        settings={"position": "learned", "combine": "add_project"},
        match=False,
        size="More parameters: one projection of the width.",
    ),
    Variant(
        name="add_project_identity",
        title="Added, projected, identity",
        combines="added",
        summary="As “Added and projected, extra”, but the projection starts as the identity instead of small random "
        "numbers, so that the encoder starts exactly as one that adds. The control of “Concatenated, projected, "
        "identity”.",
        settings={"position": "learned", "combine": "add_project", "projection_start": "identity"},
        match=False,
        size="More parameters: one projection of the width.",
    ),
    Variant(
        name="alibi",
        title="Symmetric ALiBi",
        combines="biased",
        summary="Each head subtracts the distance times a fixed slope, on both sides alike: it cannot tell before from "
        "after.",
        key="press2022alibi",
        settings={"alibi": True},
        size="Fewer parameters: ALiBi has none.",
    ),
    Variant(
        name="bert_a",
        title="Added once",
        known_as="BERT-A",
        doing="adding",
        combines="added",
        summary="Position embeddings are added to word embeddings; one projection serves both, so attention asks all "
        "four questions.",
        key="ke2021tupe",
        settings={"position": "learned", "combine": "add"},
    ),
    Variant(
        name="bert_a_d",
        title="Every layer, own matrix, scaled",
        known_as="BERT-A^d",
        combines="added",
        summary="Positions have separate projections, which are added to queries and keys, so that all four terms are "
        "kept; scores are divided by the square root of 4d.",
        key="ke2021tupe",
        settings={"untied": "added", "scale_terms": 4},
        size="More parameters: two position projections and their norm, once for all layers.",
    ),
    Variant(
        name="bert_a_d_unscaled",
        title="Every layer, own matrix",
        combines="added",
        summary="Positions have separate projections, which are added to queries and keys in every layer; scores are "
        "divided by the square root of d, so that the four terms are as large as those of added positions.",
        settings={"untied": "added"},
        size="More parameters: two position projections and their norm, once for all layers.",
    ),
    Variant(
        name="bert_a_narrow_50",
        title="Added, words of 50 %",
        combines="added",
        summary="Words take half of the width and zeros the rest; learned positions are added to all of it. The "
        "control of Concatenated 50/50, whose words are as narrow.",
        settings={"position": "learned", "combine": "add"},
        position_share=0.5,
        size="Fewer parameters: the word table is half as wide.",
    ),
    Variant(
        name="bert_a_narrow_80",
        title="Added, words of 80 %",
        combines="added",
        summary="Words take 80 % of the width and zeros the rest; learned positions are added to all of it. The "
        "control of Concatenated 80/20, whose words are as narrow.",
        settings={"position": "learned", "combine": "add"},
        position_share=0.2,
        size="Fewer parameters: the word table is narrower by a fifth.",
    ),
    Variant(
        name="bert_a_norm",
        title="Added once, normalised",
        combines="added",
        summary="Words with segments, and positions, are each layer-normalised, as in TUPE, and then added; their sum "
        "is not.",
        settings={"position_norm": True, "position": "learned", "combine": "add"},
        size="One more normalisation.",
    ),
    Variant(
        name="bert_a_smooth",
        title="Added, smooth start",
        combines="added",
        summary="As added once, but the learned table of positions starts from sines and cosines of standard deviation "
        "0.1 instead of random numbers, so that neighbouring positions start alike.",
        settings={"position": "learned", "combine": "add", "position_start": "sinusoidal", "position_deviation": 0.1},
    ),
    Variant(
        name="bert_a_wide",
        title="Added, wider",
        combines="added",
        summary="Words and learned positions are added over a width that is a quarter greater, with feed-forward "
        "layers made narrower in a preset that matches parameters. It has the shape of “Concatenated, wider, same "
        "size”, and is its control.",
        settings={"position": "learned", "combine": "add"},
        wider=0.25,
        size="More parameters where a preset does not match them: every layer is a quarter wider.",
    ),
    Variant(
        name="bert_a_wide_narrow",
        title="Added, wider, words of 80 %",
        combines="added",
        summary="As Added, wider, but words take 80 % of the width and zeros the rest: as wide as those of "
        "Concatenated, wider, same size, whose positions stand where the zeros are.",
        settings={"position": "learned", "combine": "add"},
        position_share=0.2,
        wider=0.25,
        size="More parameters where a preset does not match them: every layer is a quarter wider.",
    ),
    Variant(
        name="bert_a_wide_table",
        title="Added, wide start",
        combines="added",
        summary="As added once, but the learned table of positions is drawn at first with standard deviation 0.1, five "
        "times that of the words.",
        settings={"position": "learned", "combine": "add", "position_deviation": 0.1},
    ),
    Variant(
        name="bert_r",
        title="Added, with distances",
        known_as="BERT-R",
        combines="added",
        summary="As added once, with a learned bias on the scores that depends on the distance between query and key.",
        key="ke2021tupe",
        settings={"relative_buckets": 32, "position": "learned", "combine": "add"},
        size="128 more parameters with 4 heads: one per bucket and head.",
    ),
    Variant(
        name="causal_alibi",
        title="Causal, ALiBi",
        combines="biased",
        summary="Each token sees those before it and predicts the next; each head subtracts the distance times a fixed "
        "slope.",
        key="press2022alibi",
        settings={"causal": True, "alibi": True},
        size="Fewer parameters: ALiBi has none.",
    ),
    Variant(
        name="causal_bert_a",
        title="Causal, added",
        doing="causal adding",
        combines="added",
        summary="Each token sees those before it and predicts the next; learned positions are added. Its loss "
        "measures another task than that of the masked models.",
        settings={"causal": True, "position": "learned", "combine": "add"},
    ),
    Variant(
        name="causal_drope",
        title="Causal, rotary dropped",
        known_as="DroPE",
        combines="absent",
        summary="Starts from the trained causal rotary model of the same seed, drops the rotation, and is trained for "
        "a tenth of the steps more: only the mask tells order.",
        key="gelberg2026drope",
        settings={"causal": True},
        size="Fewer parameters: rotary has none.",
        needs="causal_rotary",
        inherits="model",
        share_of_steps=0.1,
    ),
    Variant(
        name="causal_no_position",
        title="Causal, no position",
        combines="absent",
        summary="Each token sees those before it and predicts the next; no positions. Its loss measures another task "
        "than that of the masked models.",
        key="haviv2022nopos",
        settings={"causal": True},
        size="Fewer parameters: there is no table of positions.",
    ),
    Variant(
        name="causal_partial_10",
        title="Causal, a tenth rotated",
        combines="rotated",
        summary="As causal rotary, but only the first tenth of each head's dimensions is rotated (6 of 64); the "
        "others compare words alone.",
        key="barbero2025round",
        settings={"causal": True, "rotary": True, "rotary_share": 0.1},
        size="Fewer parameters: rotary has none.",
    ),
    Variant(
        name="causal_partial_25",
        title="Causal, a quarter rotated",
        combines="rotated",
        summary="As causal rotary, but only the first quarter of each head's dimensions is rotated; the others "
        "compare words alone.",
        key="barbero2025round",
        settings={"causal": True, "rotary": True, "rotary_share": 0.25},
        size="Fewer parameters: rotary has none.",
    ),
    Variant(
        name="causal_one_turned_key",
        title="Causal, one turned key",
        combines="rotated",
        summary="As a quarter rotated, but all heads share the turned part of the key: content and turned dimensions "
        "stand beside each other in every head, as in DeepSeek-V2.",
        key="deepseek2024v2",
        settings={"causal": True, "rotary": True, "rotary_share": 0.25, "one_turned_key": True},
        size="Fewer parameters: rotary has none, and one key of the turned dimensions serves all heads.",
    ),
    Variant(
        name="causal_polar",
        title="Causal, polar positions",
        known_as="PoPE",
        combines="rotated",
        summary="PoPE: words set the length of each dimension of queries and keys, never below 0, and position alone "
        "sets the angle; in rotary models words change the angle too.",
        key="gopalakrishnan2025pope",
        settings={"causal": True, "polar": True},
        size="Fewer parameters: polar positions have a phase for each dimension of the keys, and no table.",
    ),
    Variant(
        name="causal_relative_only",
        title="Causal, distances only",
        known_as="the bias of T5",
        combines="biased",
        summary="Each token sees those before it and predicts the next; a learned bias on the scores depends on the "
        "distance between query and key.",
        key="raffel2020t5",
        settings={"causal": True, "relative_buckets": 32},
        size="Fewer parameters: 32 numbers per head instead of a table.",
    ),
    Variant(
        name="causal_rotary",
        title="Causal, rotary",
        known_as="RoPE",
        combines="rotated",
        summary="Each token sees those before it and predicts the next; each pair of dimensions of queries and keys "
        "is rotated by its position's angle.",
        key="su2021roformer",
        settings={"causal": True, "rotary": True},
        size="Fewer parameters: rotary has none.",
    ),
    Variant(
        name="causal_sinusoidal_lead",
        title="Causal, leading sinusoids",
        combines="added",
        summary="Each token sees those before it and predicts the next; the first 16 dimensions of the sinusoidal "
        "code, of standard deviation 0.1 and not trained, are added to the first 16 of words that take the whole "
        "width.",
        settings={"causal": True, **_LEADING_SINUSOIDS},
        size="Fewer parameters: the table of positions is not trained.",
    ),
    Variant(
        name="concat_05",
        title="Concatenated 95/5",
        combines="concatenated",
        summary="Words take 95 % of the width, learned positions 5 %; the width stays, and one normalisation spans "
        "both.",
        settings={"position": "learned", "combine": "concat"},
        position_share=0.05,
        size="Fewer parameters: each table is as narrow as its part.",
    ),
    Variant(
        name="concat_20",
        title="Concatenated 80/20",
        combines="concatenated",
        summary="Words take 80 % of the width, learned positions 20 %; the width stays, and one normalisation spans "
        "both.",
        settings={"position": "learned", "combine": "concat"},
        position_share=0.2,
        size="Fewer parameters: each table is as narrow as its part.",
    ),
    Variant(
        name="concat_50",
        title="Concatenated 50/50",
        combines="concatenated",
        summary="Words take 50 % of the width, learned positions 50 %; the width stays, and one normalisation spans "
        "both.",
        settings={"position": "learned", "combine": "concat"},
        position_share=0.5,
        size="Fewer parameters: each table is as narrow as its part.",
    ),
    Variant(
        name="concat_blocked",
        title="Concatenated, blocked",
        combines="concatenated",
        summary="Words and positions have half of the width each and are normalised separately; half of every head "
        "compares words with words, half positions with positions. No cross terms at layer 0; values and feed-forward "
        "mix the parts for the layers after it.",
        settings={"position": "learned", "combine": "concat", "blocked": True},
        position_share=0.5,
        size="Fewer parameters: the tables are half as wide, and so are the query and key blocks.",
    ),
    Variant(
        name="concat_lead",
        title="Concatenated, leading sinusoids",
        combines="concatenated",
        summary="The first 16 dimensions of the sinusoidal code, of standard deviation 0.1 and not trained, stand "
        "beside words that take the rest of the width: the arrangement that the question itself proposes.",
        settings={**_LEADING_SINUSOIDS, "combine": "concat"},
        size="Fewer parameters: the table of words is narrower by 16, and that of positions is not trained.",
    ),
    Variant(
        name="concat_project",
        title="Concatenated and projected",
        combines="concatenated",
        summary="Words and learned positions, each of full width, are concatenated, and one learned projection leads "
        "back to the width. By algebra that is a sum of two projections.",
        settings={"position": "learned", "combine": "project"},
        size="More parameters: one projection from twice the width.",
    ),
    Variant(
        name="concat_project_identity",
        title="Concatenated, projected, identity",
        combines="concatenated",
        summary="As “Concatenated and projected, extra”, but the block for words and that for positions both start as "
        "the identity. The encoder starts exactly as one that adds, and training may make the blocks differ.",
        settings={"position": "learned", "combine": "project", "projection_start": "identity"},
        match=False,
        size="More parameters: one projection from twice the width.",
    ),
    Variant(
        name="concat_wide",
        title="Concatenated, wider",
        combines="concatenated",
        summary="Words keep their width and learned positions add a quarter to it, so that the whole model is wider.",
        settings={"position": "learned", "combine": "concat"},
        wider=0.25,
        match=False,
        size="More parameters: every layer is a quarter wider.",
    ),
    Variant(
        name="concat_wide_matched",
        title="Concatenated, wider, same size",
        combines="concatenated",
        summary="Like “Concatenated, wider”, with feed-forward layers made narrower, so that it has no more parameters "
        "than adding, in a preset that matches these.",
        settings={"position": "learned", "combine": "concat"},
        wider=0.25,
        size="More parameters where a preset does not match them: every layer is a quarter wider.",
    ),
    Variant(
        name="deberta",
        title="DeBERTa",
        combines="disentangled",
        summary="Words are compared with words and with relative positions, and relative positions with words; scores "
        "are divided by the square root of 3d. No absolute positions.",
        key="he2021deberta",
        settings={"disentangled": 64, "scale_terms": 3},
        size="More parameters: two position projections in every layer.",
    ),
    Variant(
        name="every_layer_attention",
        title="Every layer, queries and keys",
        combines="added",
        summary="In every layer the queries and keys read the sum of hidden states and positions, through the words' "
        "own projections; values and the stream do not. All four terms are kept, with one matrix.",
        settings={"untied": "shared"},
        size="One more normalisation.",
    ),
    Variant(
        name="every_layer_hidden",
        title="Every layer, whole input",
        combines="added",
        summary="Positions, with a normalisation of their own, are added to the hidden states that enter every layer, "
        "and not only the first.",
        settings={"untied": "shared", "told_to": "hidden"},
        size="One more normalisation.",
    ),
    Variant(
        name="every_layer_unnormed",
        title="Every layer, without norm",
        combines="added",
        summary="As every layer, queries and keys, but positions have no normalisation: their table starts with the "
        "standard deviation of 1 that it would give them.",
        settings={"untied": "shared", "told_norm": False},
    ),
    Variant(
        name="every_layer_values",
        title="Every layer, values too",
        combines="added",
        summary="In every layer queries, keys and values read the sum of hidden states and positions; what passes by "
        "the attention does not.",
        settings={"untied": "shared", "told_to": "values"},
        size="One more normalisation.",
    ),
    Variant(
        name="first_layer_attention",
        title="First layer, queries and keys",
        combines="added",
        summary="As every layer, queries and keys, but positions are told in the first layer alone.",
        settings={"untied": "shared", "told_layers": 1},
        size="One more normalisation.",
    ),
    Variant(
        name="first_layer_own",
        title="First layer, own matrix",
        combines="added",
        summary="As every layer, own matrix, but positions are told in the first layer alone.",
        settings={"untied": "added", "told_layers": 1},
        size="More parameters: two position projections and their norm.",
    ),
    Variant(
        name="frozen_own_word",
        title="Frozen words from adding",
        combines="added",
        summary="Learned positions are added to the word table of the same seed's run that adds, which is frozen (in "
        "the output too). This control separates the effect of freezing the words from that of where they come from.",
        settings={"freeze_words": True, "position": "learned", "combine": "add"},
        needs="bert_a",
        size="Fewer trained parameters: the word table is frozen.",
    ),
    Variant(
        name="frozen_word",
        title="Frozen words without positions",
        combines="added",
        summary="Learned positions are added to the word table of the same seed's no-position run, which is frozen (in "
        "the output too).",
        settings={"freeze_words": True, "position": "learned", "combine": "add"},
        needs="no_position",
        size="Fewer trained parameters: the word table is frozen.",
    ),
    Variant(
        name="multiply",
        title="Multiplied",
        combines="multiplied",
        summary="Each position scales every dimension of the word by a learned factor (a diagonal matrix per "
        "position), drawn at first from 1 plus a standard normal.",
        settings={"position": "learned", "combine": "multiply"},
    ),
    Variant(
        name="no_cross",
        title="Apart, one matrix",
        combines="untied",
        summary="Every layer projects positions as it projects words and adds only the position-to-position score: "
        "compared with added once, normalised, the cross terms are gone and positions are not in the values. [CLS] is "
        "treated like any other token.",
        settings={"untied": "word", "scale_terms": 2},
        size="One more normalisation and one more row of positions.",
    ),
    Variant(
        name="no_cross_unscaled",
        title="Apart, one matrix, unscaled",
        combines="untied",
        summary="As apart, one matrix, but scores are divided by the square root of d, so that the terms that "
        "are kept are as large as those of added positions.",
        settings={"untied": "word"},
        size="One more normalisation and one more row of positions.",
    ),
    Variant(
        name="no_position",
        title="No position",
        combines="absent",
        summary="Word and segment embeddings alone; the encoder cannot tell one order from another.",
        size="Fewer parameters: there is no table of positions.",
    ),
    Variant(
        name="no_segment",
        title="No segments",
        combines="added",
        summary="Positions are added once, without segment embeddings: which of two texts a word is in must "
        "be read off [SEP].",
        settings={"segments": False, "position": "learned", "combine": "add"},
        size="Fewer parameters: no segment table.",
    ),
    Variant(
        name="one_segment",
        title="One segment",
        combines="added",
        summary="Positions are added once; tokens all have the segment embedding 0: the embedding is there and tells "
        "no text from another.",
        settings={"single_segment": True, "position": "learned", "combine": "add"},
    ),
    Variant(
        name="random_fixed",
        title="Fixed random",
        combines="added",
        summary="Each position adds a random vector that is never trained, as long as the sinusoids' and with words "
        "scaled alike.",
        settings={"position": "random_fixed", "combine": "add", "scale_words": True},
        size="Fewer parameters: the table of positions is not trained.",
    ),
    Variant(
        name="recurrent",
        title="Recurrent",
        combines="absent",
        summary="No positions, but a bidirectional GRU runs over the words before the first layer.",
        settings={"recurrent": True},
        size="More parameters: the GRU has more than the table of positions it replaces.",
    ),
    Variant(
        name="relative_only",
        title="Distances only",
        known_as="the bias of T5",
        combines="biased",
        summary="No positions at the input; a learned bias on the scores depends on the distance between query and "
        "key.",
        key="raffel2020t5",
        settings={"relative_buckets": 32},
        size="Fewer parameters: 32 numbers per head instead of a table.",
    ),
    Variant(
        name="rotary",
        title="Rotary",
        known_as="RoPE",
        combines="rotated",
        summary="Each pair of dimensions of a query and a key is rotated by its position's angle; nothing is added.",
        key="su2021roformer",
        settings={"rotary": True},
        size="Fewer parameters: rotary has none.",
    ),
    Variant(
        name="sinusoidal",
        title="Sinusoidal",
        combines="added",
        summary="The sinusoids of the first transformer are added to word embeddings that are multiplied by the square "
        "root of the width. They stay as they are: a learned table that starts from sinusoids is another variant, "
        "“Added, smooth start”.",
        key="vaswani2017attention",
        settings={"position": "sinusoidal", "combine": "add", "scale_words": True},
        size="Fewer parameters: the table of positions is not trained.",
    ),
    Variant(
        name="sinusoidal_lead",
        title="Added, leading sinusoids",
        combines="added",
        summary="The first 16 dimensions of the sinusoidal code, of standard deviation 0.1 and not trained, are added "
        "to the first 16 of words that take the whole width: the control of Concatenated, leading sinusoids, with the "
        "same sinusoids and no others.",
        settings=_LEADING_SINUSOIDS,
        size="Fewer parameters: the table of positions is not trained.",
    ),
    Variant(
        name="sinusoidal_strong",
        title="Stronger sinusoids",
        combines="added",
        summary="Sinusoids of standard deviation 0.1, not trained, are added to words that are not scaled: the "
        "control of the concatenation with leading sinusoids.",
        settings={"position": "sinusoidal", "combine": "add", "position_deviation": 0.1},
        size="Fewer parameters: the table of positions is not trained.",
    ),
    Variant(
        name="tupe_a",
        title="Apart, own matrix",
        known_as="TUPE-A",
        combines="untied",
        summary="Only words enter at the input; positions have separate projections and add a position-to-position "
        "score. No cross terms. [CLS] has separate scores.",
        key="ke2021tupe",
        settings={"untie_cls": True, "untied": "own", "scale_terms": 2},
        size="More parameters: two position projections and their norm, once for all layers.",
    ),
    Variant(
        name="tupe_a_tie_cls",
        title="Apart, own matrix, [CLS] tied",
        known_as="TUPE-A^tie-cls",
        combines="untied",
        summary="As apart, own matrix, with [CLS] treated like any other position.",
        key="ke2021tupe",
        settings={"untied": "own", "scale_terms": 2},
        size="More parameters: two position projections and their norm, once for all layers.",
    ),
    Variant(
        name="tupe_a_unscaled",
        title="Apart, own matrix, unscaled",
        combines="untied",
        summary="As apart, own matrix, but its two terms are each divided by the square root of d, not of 2d.",
        key="ke2021tupe",
        settings={"untie_cls": True, "untied": "own"},
        size="More parameters: two position projections and their norm, once for all layers.",
    ),
    Variant(
        name="tupe_r",
        title="Apart, own matrix, with distances",
        known_as="TUPE-R",
        combines="untied",
        summary="As apart, own matrix, with a learned bias on the scores that depends on the distance between "
        "query and key.",
        key="ke2021tupe",
        settings={"untie_cls": True, "relative_buckets": 32, "untied": "own", "scale_terms": 2},
        size="More parameters: two position projections and their norm, once for all layers.",
    ),
    Variant(
        name="window",
        title="Window",
        combines="absent",
        summary="No positions, but a token attends to eight neighbours on each side and to [CLS], which attends to "
        "all.",
        settings={"window": 8},
        size="Fewer parameters: there is no table of positions.",
    ),
)

_EXTRA = {
    "bert_a_d_unscaled": "its projections are",
    "concat_project": "the projection is",
    "first_layer_own": "its projections are",
    "tupe_a_tie_cls": "its projections are",
}
"""Variants whose matrices are trained as extra parameters, too, and the matrices as the subject of a sentence."""


def _with_extra_parameters(variant: Variant, matrices: str) -> Variant:
    """The same variant with feed-forward layers that do not pay for its matrices."""
    return replace(
        variant,
        name=f"{variant.name}_extra",
        title=f"{variant.title}, extra",
        known_as="",
        summary=f"As {uncapitalised(variant.title)}, but its feed-forward layers stay as wide as those of adding, so "
        f"that {matrices} extra parameters.",
        key=None,
        match=False,
    )


VARIANTS: Registry[Variant] = Registry("variant")
for _variant in _TABLE:
    VARIANTS.add(_variant.name, _variant)
    if _variant.name in _EXTRA:
        _extra = _with_extra_parameters(_variant, _EXTRA[_variant.name])
        VARIANTS.add(_extra.name, _extra)


def title(variant: str) -> str:
    """A variant's name on screen; an unknown variant is its own title."""
    return VARIANTS[variant].title if variant in VARIANTS else variant


def full_title(variant: str) -> str:
    """A variant's name with the one by which papers know it: `Added once (BERT-A)`."""
    known = VARIANTS[variant].known_as if variant in VARIANTS else ""
    return f"{title(variant)} ({known})" if known else title(variant)


def named(variant: str) -> str:
    """A variant as a part of a sentence: `adding`, `Rotary`, or its title in quotation marks where it has a comma."""
    return VARIANTS[variant].doing if variant in VARIANTS and VARIANTS[variant].doing else quote(title(variant))


def quote(name: str) -> str:
    """A title as a part of a sentence: in quotation marks where a comma stands in it."""
    return f"“{name}”" if "," in name else name


def way(variant: str) -> str:
    """The way in which a variant tells positions, a key of WAYS; empty for an unknown variant."""
    return VARIANTS[variant].way if variant in VARIANTS else ""


MODEL_NAME = re.compile(r"\b(?:debug|cpu2?|width\d+|gpu)-([a-z0-9_]+)-([0-9]+)(?:-[0-9a-f]{12})?\b")


def readable(source: str) -> str:
    """A source with our own models and variants under their titles: `Added once, seed 0` for `cpu-bert_a-0`."""
    if source in VARIANTS:
        return title(source)
    return MODEL_NAME.sub(lambda match: f"{title(match[1])}, seed {match[2]}", source)
