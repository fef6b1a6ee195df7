"""The report's content, put into its template. This module neither draws charts nor makes links to pages."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from analysis.claims import QUESTIONS, stored
from analysis.claims.statements import stored as statements
from analysis.claims.statements.stored import Heading
from analysis.claims.stored import Entry
from analysis.core.colours import verdict_variables
from analysis.core.errors import NoResults
from analysis.core.formatting import interval_text, plural, significant
from analysis.figures import FIGURES, Figure, citation
from analysis.store import read

Link = Callable[[str, Mapping[str, Any]], str]
Draw = Callable[[Figure, str], str]
SIDES = {"for": "Speaks for it", "against": "Speaks against it", "beside": "Is related, but decides nothing"}


def html(draw: Draw, link: Link, faces: Callable[[str], str]) -> str:
    """The report of the store as it is. draw: a figure, and the link that opens it, as an SVG element;
    link: the address of a page in a state; faces: the CSS that carries the typeface of a page.

    Everything but the drawings is escaped. Raises NoResults where the store holds no claims.
    """
    if not statements.statements():
        raise NoResults("The store holds no claims. Run: python -m analysis sync --rebuild")
    entries = {entry.id: entry for entry in stored.ledger()}
    headings = statements.headings()
    works = sorted({line.citation for entry in entries.values() for line in entry.evidence if line.citation})
    marks = read.placeholders(works)
    meta = read.query("SELECT schema_version, built, git_sha, versions FROM meta").iloc[0]
    result = _template().render(
        about=citation.citation_of("report", "The ledger of claims", link("claims", {})),
        meta=meta,
        problems=read.query("SELECT file, problem FROM problems").to_dict("records"),
        counts=statements.counts(),
        verdict_colours={dark: verdict_variables(dark=dark) for dark in (False, True)},
        home=link("", {}),
        overview=_drawn("claims_statements", {}, "overview", draw, link),
        groups={
            question: [
                _claim(heading, entries.get(heading.id), draw, link)
                for heading in headings
                if heading.documents and heading.question == key
            ]
            for key, question in QUESTIONS.items()
        },
        more=[heading for heading in headings if not heading.documents],
        first_verdicts_note=stored.first_verdicts_note(),
        documents=stored.documents(),
        works=read.query(
            f"SELECT citation_key AS key, bibtex FROM citations WHERE citation_key IN ({marks}) ORDER BY citation_key",
            works,
        ).to_dict("records"),
        sides=SIDES,
        runs=read.query(
            "SELECT kind, count(*) AS runs, min(created) AS first, max(created) AS last, "
            "string_agg(DISTINCT git_sha, ', ' ORDER BY git_sha) AS code FROM runs GROUP BY kind ORDER BY kind"
        ).to_dict("records"),
    )
    return result.replace("</style>", f"{faces(result)}\n</style>", 1)


def _template() -> Template:
    """Undefined names are errors, and every value is escaped unless it is marked as HTML."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["number"] = lambda value: "" if value is None or value != value else significant(value)
    return environment.get_template("report.html.j2")


def _claim(heading: Heading, entry: Entry | None, draw: Draw, link: Link) -> dict[str, object]:
    """The template's values for one claim."""
    if entry is None:
        return {"heading": heading, "entry": None}
    effect = ""
    if entry.effect is not None:
        effect = f"{significant(entry.effect)}{interval_text(entry.low, entry.high, '.3g')} {entry.unit}".strip()
    return {
        "entry": entry,
        "heading": heading,
        "effect": effect,
        "samples": plural(entry.samples, entry.sample_unit),
        "chart": _drawn("claim_evidence", {"claim": entry.id}, entry.id, draw, link),
        "evidence": {side: [line for line in entry.evidence if line.side == side] for side in SIDES},
        "address": link("claims", {"claim": entry.id}),
        "views": [(view.label, link(view.page, view.values)) for view in entry.views],
    }


def _drawn(name: str, params: Mapping[str, object], prefix: str, draw: Draw, link: Link) -> dict[str, object] | None:
    """A figure's drawing with its title, caption and command; None where there is nothing to draw."""
    try:
        figure = FIGURES[name].make(params)
    except NoResults:
        return None
    return {"svg": Markup(prefix_ids(draw(figure, link("claims", params)), prefix)), "figure": figure}


def prefix_ids(svg: str, prefix: str) -> str:
    """The SVG with a prefix on its ids: several in one page would otherwise use each other's clips and gradients."""
    names = re.compile(r'(?P<before>\bid="|url\(#|href="#)')
    return names.sub(lambda result: f"{result['before']}{prefix}-", svg)
