"""Links: the state of every view as a URL, with the fields and defaults of each page.

Links contain ids instead of the labels on screen, so they survive changes of wording.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field as dataclass_field
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

from analysis.ablation.variants import VARIANTS
from analysis.core import settings
from analysis.core.errors import LinkError
from analysis.models.random_vit import NAME
from analysis.sql.examples import DEFAULT

Value = str | int | bool | tuple[str, ...]
Values = Mapping[str, Any]
"""The values of a link by the names of its fields, each a `Value` of the type that its field has."""

ADDRESS_LIMIT = 2_000
"""Characters of the parameters of an address. A text that makes them longer does not go into it."""
HELD = "held"
"""The parameter that stands for the texts of a view which are too long for its address."""


@dataclass(frozen=True)
class Field:
    """One value of a view. Its type is that of its default; a tuple appears in the URL once per member."""

    name: str
    default: Value

    def parse(self, raw: list[str]) -> Value:
        """The value of a URL parameter. Raises LinkError, naming what was expected."""
        kind = type(self.default)
        if kind is tuple:
            return tuple(value for value in raw if value)
        text = raw[-1]
        if kind is bool:
            if text not in ("0", "1"):
                raise LinkError(f"The link says {self.name}={text!r}; expected 0 or 1.")
            return text == "1"
        if kind is int:
            if not text.removeprefix("-").isdecimal() or len(text) > 9:
                raise LinkError(f"The link says {self.name}={text!r}; expected a whole number.")
            return int(text)
        return text

    def format(self, value: Value) -> list[str]:
        """The URL parameter's values."""
        if isinstance(value, tuple):
            return list(value) or [""]
        return [str(int(value)) if isinstance(value, bool) else str(value)]


@dataclass(frozen=True)
class View:
    """A page: its path, its title, the fields of its link, and its figures."""

    page: str
    title: str
    fields: tuple[Field, ...] = ()
    figures: tuple[str, ...] = ()
    former: Mapping[tuple[str, str], Mapping[str, str]] = dataclass_field(default_factory=dict)
    """A field and its value in older links, or in those that a reader types -> the fields that say the same today."""

    def defaults(self) -> dict[str, Value]:
        """Every field at its default."""
        return {field.name: field.default for field in self.fields}

    def parse(self, raw: Mapping[str, list[str]]) -> tuple[dict[str, Value], list[str]]:
        """The values of a link's parameters, and a sentence for each invalid one."""
        values, problems = self.defaults(), []
        raw = self._in_todays_words(raw)
        for field in self.fields:
            if field.name in raw:
                try:
                    values[field.name] = field.parse(raw[field.name])
                except LinkError as error:
                    problems.append(f"{error} Its default is shown.")
        return values, problems

    def _in_todays_words(self, raw: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """A link's parameters, with what older links say put into the fields that say it today."""
        for (name, value), fields in self.former.items():
            if raw.get(name) == [value]:
                today = {other: [text] for other, text in fields.items()}
                return {**today, **raw, name: today[name]}
        return dict(raw)

    def parameters(self, values: Mapping[str, Value]) -> dict[str, list[str]]:
        """URL parameters: only what differs from the default, in the order of the fields."""
        return {
            field.name: field.format(values[field.name])
            for field in self.fields
            if field.name in values and values[field.name] != field.default
        }

    def too_long(self, values: Mapping[str, Value]) -> tuple[str, ...]:
        """The fields, the longest text first, that have to be left out for the address to be short enough."""
        parameters, left_out = self.parameters(values), list[str]()
        texts = {name: len(quote_plus(value)) for name in parameters if isinstance(value := values[name], str)}
        for name in sorted(texts, key=lambda name: texts[name], reverse=True):
            if len(urlencode(parameters, doseq=True)) <= ADDRESS_LIMIT:
                break
            left_out.append(name)
            del parameters[name]
        return tuple(left_out)


def _fields(**defaults: Value) -> tuple[Field, ...]:
    """Fields by their names and defaults, in this order."""
    return tuple(Field(name, default) for name, default in defaults.items())


# fmt: off
_MAP = _fields(head=0, measure="share", words=False, specials=True, centred=True)

_CELL = _fields(query=-1, key=-1)
"""One cell of a map, by index; -1: where attention is strongest."""
_HEAD = _fields(at_layer=-1, at_head=-1)
"""One cell of a map of heads; -1: where the term is largest."""

SECOND_HEAD = -2
"""The head in a link that stands for the one whose scores vary most by a term after the strongest, which is -1."""

_MAP_PART = (*_fields(**{"from": 0}, to=-1), *_CELL)
"""The rows of a map that are shown, from `from` to `to`, and one cell of it; -1 is the last row."""

GLACIERS = (
    "Glaciers move. They move so slowly that a tent pitched on one seems to stand still all summer, but a row of "
    "stakes hammered across the ice in June will have bent into a bow by September, because the middle of the glacier "
    "travels faster than its edges."
)
"""Text s235 of the probe set, on which position maps are stored."""

_INTERVENTION = _fields(do=("zero_positions",), position=0, seed=0, by=8, scale="0.5", encoding="sinusoidal", angle="1",
                       base="4", bands="1+2", without=-1, apart=1, terms=("position_to_position",),
                       layers=(), heads=())
"""Interventions and their strengths."""
INTERVENTION_FIELDS = frozenset(field.name for field in _INTERVENTION)

_TRAININGS = ("training_curves", "training_gap", "training_parts", "training_settings", "training_advantage",
              "training_convergence", "training_plateau", "training_length", "training_scores",
              "training_loss_and_cost", "training_costs", "training_costs_others")
_GLUE = ("glue_average", "glue_difference", "glue_scores")
_PUBLISHED = ("published_average", "published_difference", "published_scores", "published_literature",
              "published_literature_others")
_ENCODINGS = ("encoding_heat", "encoding_movement", "encoding_similarity", "encoding_pairs", "encoding_shift",
              "encoding_spectrum", "encoding_measures", "encoding_other_measures")

VIEWS: dict[str, View] = {
    view.page: view
    for view in (
        View("", "Answer"),
        View("read", "Guided tour",
            _fields(step="objection", part="", angle=30, word="king", position=7, head=2, dim=8, layer=0, split=2,
                    kept=14, extra=14, leave="cola", variant="no_cross", rows="step", depth=2,
                    verdict="all"),
            ("reading_plane", "reading_concatenation", "reading_sum", "reading_orthogonal", "reading_cut",
             "reading_saving", "reading_order", "reading_shift", "reading_told", "reading_open"),
            {("step", "models"): {"step": "questions", "part": "layers"},
             ("step", "shift"): {"step": "order", "part": "moved"},
             ("step", "training"): {"step": "told", "part": "curves", "variant": "concat_20"},
             **{("variant", name): {"variant": name, "rows": "all"} for name in VARIANTS}},
        ),
        View("claims", "Claims",
            _fields(claim="", statement="", verdict="", document="", evidence="", by="question",
                    rules="2"),
            ("claims_statements", "claim_strips"),
        ),
        View("inside", "Look inside",
            (
                *_fields(tab="", look="", model="all-MiniLM-L6-v2", revision="",
                         text="The keys to the old cabinet are on the table.", pair="", side="first", truncate=False,
                         probe="", layer=0, head=-1, method="frozen", freeze="activation", term="position_to_position",
                         group="four"),
                *(field for field in _MAP if field.name != "head"), *_MAP_PART,
                *_fields(also=(), heads_by="layer", pooling="mean", baseline="", band=-1, unturn=False, image="",
                         masked=False, patch=-1, stored="dinov2-small", model2="", revision2="", text2="",
                         pair2="", layer2=-1, head2=-1, method2="", freeze2="", own_scale=False, one_scale=False,
                         over="", corpus="probe_set", models=("all-MiniLM-L6-v2",)),
                *_HEAD, *_INTERVENTION,
            ),
            ("probe_maps", "probe_cell", "probe_total", "probe_heads", "probe_layers", "probe_depth", "probe_distance",
             "probe_patterns", "probe_curves", "position_map", "position_cell", "position_kernels",
             "position_unturned", "intervention_tokens", "intervention_kl", "intervention_maps",
             "intervention_permutation", "intervention_effects", "surgery", "masked_surgery", "similarity_sources",
             "similarity_pairs",
             "vision_layers", "vision_head", "vision_positions", "vision_maps", "vision_cell", "vision_heads",
             "vision_table", "vision_moved", "vision_kl", "compare_terms", "compare_maps", "compare_cell",
             "compare_attention",
             "compare_depth", "compare_layers", "terms_heads", "terms_aggregates", "depth_decoding",
             "depth_equivariance", "depth_locality", "depth_basis", "depth_heads", "depth_cell", "depth_terms"),
        ),
        View("terms", "Attention terms",
            (
                *_fields(model="all-MiniLM-L6-v2", corpus="probe_set", group="four", probe="example-agreement",
                         layer=0),
                *_MAP, *_CELL,
            ),
            ("terms_heads", "terms_aggregates", "probe_maps", "probe_total", "probe_cell"),
        ),
        View("depth", "Depth",
            (
                *_fields(part="decoding", models=("all-MiniLM-L6-v2",), model="all-MiniLM-L6-v2", corpus="probe_set",
                         term="position_to_position", measure="share"),
                *_HEAD,
            ),
            ("depth_decoding", "depth_equivariance", "depth_locality", "depth_basis", "depth_heads", "depth_cell",
             "depth_terms"),
        ),
        View("positions", "Position map",
            _fields(model="all-MiniLM-L6-v2", revision="", text=GLACIERS, pair="", truncate=False, baseline="", layer=0,
                    head=0, band=-1, unturn=False),
            ("position_map", "position_cell", "position_kernels", "position_unturned"),
        ),
        View("geometry", "Geometry",
            _fields(model="all-MiniLM-L6-v2", part="angles", dim=0, word=""),
            ("geometry_cosines", "geometry_dimension", "geometry_directions", "geometry_subspaces", "geometry_layers",
             "geometry_spectra", "geometry_ranks", "geometry_energies", "geometry_heads", "geometry_states",
             "geometry_decoded", "geometry_order", "geometry_calls", "geometry_kept", "geometry_collisions"),
            {("part", "read"): {"part": "states"}, ("part", "collisions"): {"part": "words"}},
        ),
        View("encodings", "Encodings",
            _fields(encoding="sinusoidal", other="learned", length=128, dim=384, part="values", compare="cosine",
                    shift=8),
            _ENCODINGS,
        ),
        View("experiments", "Experiments",
            (
                *_fields(part="board", preset="cpu2", row="", tab="curves", order="way"),
                *_fields(objective="masked", recipe="", rate="", baseline="",
                         variants=("bert_a", "no_position", "tupe_a", "concat_20", "rotary"), axis="step",
                         cost="arithmetic"),
                *_fields(glue_preset="surgery", glue_baseline="bert_a", glue_view="difference",
                         glue_table="ke2021tupe|Table 1", protocol="mean", margin="1", glue_without=(), including=()),
                *_fields(published_table="ke2021tupe|Table 1", published_baseline="", published_without=("cola",),
                         published_view="average", published_look=""),
            ),
            ("experiments_board", "experiments_curves", "experiments_widths", "experiments_ladder", *_TRAININGS,
             "refit_recovered", "refit_pilots", "refit_curves", "experiments_contrasts",
             "experiments_contrasts_others", *_GLUE, *_PUBLISHED),
        ),
        View("published", "Published ablations",
            _fields(table="ke2021tupe|Table 1", baseline="", without=("cola",), view="average"), _PUBLISHED,
        ),
        View("glue", "GLUE ablations",
            _fields(preset="cpu", baseline="bert_a", view="average", table="ke2021tupe|Table 1", protocol="mean",
                    margin="1", without=(), including=()), _GLUE,
        ),
        View("training", "Training",
            _fields(preset="cpu", objective="masked", recipe="", rate="", part="curves", baseline="",
                    variants=("bert_a", "no_position", "tupe_a", "concat_20"), axis="step", cost="arithmetic"),
            _TRAININGS,
        ),
        View("probe", "Live probe",
            (
                *_fields(model="all-MiniLM-L6-v2", revision="", text="The keys to the old cabinet are on the table.",
                         pair="", layer=0, truncate=False, probe="", method="frozen", freeze="activation",
                         term="position_to_position", group="four"),
                *_MAP, *_MAP_PART,
            ),
            ("probe_heads", "probe_maps", "probe_total", "probe_cell", "probe_distance", "probe_layers", "probe_depth",
             "probe_patterns"),
        ),
        View("interventions", "Interventions",
            (
                *_fields(model="all-MiniLM-L6-v2", revision="", text="The keys to the old cabinet are on the table.",
                         pair="", truncate=False),
                *_INTERVENTION,
                *_fields(layer=0, head=2, permute=False),
                *_CELL,
            ),
            ("intervention_tokens", "intervention_kl", "intervention_maps", "probe_cell", "intervention_permutation",
             "intervention_effects", "surgery", "masked_surgery"),
        ),
        View("vision", "Vision",
            (
                *_fields(stored="dinov2-small", measure="share", group="four", model=NAME, revision="", layer=0,
                         image="scene", masked=False, head=0, patch=28, centred=True, key=-1),
                *_HEAD, *_INTERVENTION,
            ),
            ("vision_layers", "vision_head", "vision_positions", "vision_maps", "vision_cell", "vision_heads",
             "vision_table", "vision_moved", "vision_kl"),
        ),
        View("compare", "Two at once",
            (
                *_fields(model="all-MiniLM-L6-v2", revision="", text="The keys to the old cabinet are on the table.",
                         pair="", layer=0, head=0, method="frozen", freeze="activation", model2="", revision2="",
                         text2="", pair2="", layer2=5, head2=0, method2="frozen", freeze2="activation", truncate=True,
                         term="position_to_position"),
                *(field for field in _MAP if field.name != "head"), *_CELL,
            ),
            ("compare_terms", "compare_maps", "compare_cell"),
        ),
        View("choose", "Which encoding?",
            (
                *_fields(look="methods", needs=(), part="needs", preset="cpu", row="", width=768, layers=12, heads=12,
                         length=512),
                *_fields(encoding="sinusoidal", other="learned", encoding_length=128, dim=384, compare="cosine",
                         shift=8),
            ),
            ("encoding_overview", *_ENCODINGS),
            {("look", "distances"): {"look": "distance"}, ("look", "measures"): {"look": "all"}},
        ),
        View("runs", "Runs", _fields(kind="", variant="", preset="", run=""), ("runs_curve", "runs_strip")),
        View("data", "Data"),
        View("sql", "SQL", _fields(query=DEFAULT, part="table", mark="line", x="", y="", colour=""), ("sql_chart",)),
        View("import", "Bring your own"),
        View("about", "Method and data"),
        View("status", "Status"),
    )
}
# fmt: on


def public_address(browser_address: str | None = None) -> str:
    """The address at which readers reach the app: ADDEND_PUBLIC_URL, else the browser's address, else this machine."""
    return (settings.text("ADDEND_PUBLIC_URL") or browser_address or "http://localhost:8501").rstrip("/")


def is_local(address: str) -> bool:
    """True of an address that leads to the machine itself, which nobody else can open.

    >>> is_local("http://localhost:8501/claims"), is_local("https://example.org/claims")
    (True, False)
    """
    return urlsplit(address).hostname in {"localhost", "127.0.0.1", "::1"}


def link(page: str, values: Mapping[str, Value] | None = None, address: str | None = None) -> str:
    """The address that shows a page in a state. The home page is the root: its own path would not open."""
    query = urlencode(VIEWS[page].parameters(values or {}), doseq=True)
    return f"{public_address(address)}/{page}{'?' if query else ''}{query}"


def parse(address: str) -> tuple[View, dict[str, Value]]:
    """The view of a link and its values. Raises LinkError for an unknown page, field or value."""
    try:
        parts = urlsplit(address)
    except ValueError:
        raise LinkError(f"{address!r} is not a link; expected one that a page's Copy link gives.") from None
    # Behind a proxy the app may lie under a path of its own, which the home page's link ends with.
    path = parts.path.rstrip("/").removeprefix(urlsplit(public_address()).path)
    page = path.rsplit("/", 1)[-1]
    if page not in VIEWS:
        raise LinkError(
            f"The link names the page {page!r}; expected one of: {', '.join(page or '(root)' for page in VIEWS)}."
        )
    view = VIEWS[page]
    raw = parse_qs(parts.query, keep_blank_values=True)
    if HELD in raw:
        raise LinkError(
            "The text of this view was too long for its address, so only the session in which it was typed holds it. "
            "Give the text to the command that the figure's Source names."
        )
    known = {field.name for field in view.fields}
    if unknown := sorted(set(raw) - known):
        raise LinkError(f"The page {page!r} has no field {unknown[0]!r}; it has: {', '.join(sorted(known))}.")
    values, problems = view.parse(raw)
    if problems:
        raise LinkError(problems[0].removesuffix(" Its default is shown."))
    return view, values
