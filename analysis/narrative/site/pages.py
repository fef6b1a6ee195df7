"""The files of the site, put into their templates. Knows nothing of how charts are drawn."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markupsafe import Markup

from analysis.claims.statements import SIGNS, Judgement, stored as statements
from analysis.claims.statements.deciding import AGAINST, FOR
from analysis.claims.statements.judgement import CONTRADICTED, SUPPORTED
from analysis.claims.statements.stored import Heading
from analysis.core.colours import css_variables, verdict_variables
from analysis.core.errors import NoResults
from analysis.core.formatting import signed_or_zero
from analysis.figures import FIGURES, Figure
from analysis.figures.claims.board import board
from analysis.figures.export import prefix_ids
from analysis.links import VIEWS
from analysis.narrative import hero, self_check
from analysis.narrative.answer.cards import cards, separated, ways_of_telling
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading import Step, ordered
from analysis.narrative.reading.length import minutes
from analysis.sql.examples import VIEWS as TABLES
from analysis.store import read

Link = Callable[[str, Mapping[str, Any]], str]
"""Gives the address of a page in a state; an empty one where no dashboard is hosted, and then there is no link."""
Draw = Callable[[Figure, str], str]
QUESTION = "Why do transformers add position to words instead of concatenating them?"
CLAIMS = "claims.html"
PARTS = {"lead": "lead", "reasons": "reason", "but": "but", "more": "more"}
"""The template's names for the places of sentences."""
SIDES = {FOR: SUPPORTED, AGAINST: CONTRADICTED}
"""The side of its claim that a statement speaks for -> the verdict whose colour it has; others have their own."""
EDGE = 46
"""Per cent of a strip's width from its middle to the farthest mark."""


def files(draw: Draw, link: Link, faces: Callable[[str], str]) -> dict[str, str]:
    """Path of every file -> its text. draw: a figure, and the link that opens it, as an SVG element; link: the address
    of a page in a state; faces: the CSS that carries the typeface of a page.

    Links to claims stay inside the site; those to other views open the dashboard. Raises NoResults where the store
    holds no claims.
    """

    def inside(page: str, values: Mapping[str, object]) -> str:
        if page != "claims":
            return link(page, values)
        return f"{CLAIMS}#{values['claim']}" if values.get("claim") else CLAIMS

    common = {**_common(link), "inside": inside, "alone": False}
    steps = answer()
    home = _template("index.html.j2").render(
        **common,
        here="index.html",
        **{name: [step for step in steps if step.part == part] for name, part in PARTS.items()},
        minutes=minutes(),
        cards=cards(),
        ways=ways_of_telling(),
        signed_or_zero=signed_or_zero,
        hero=_moving(hero, "hero"),
        stages=_script({"stages": [asdict(stage) for stage in (*hero.STAGES, hero.after_training(separated()))]}),
    )
    tour = _template("tour.html.j2").render(
        **common,
        here="tour.html",
        minutes=minutes(),
        steps=[_step(step, draw, link) for step in ordered()],
        self_check=_moving(self_check, "self_check"),
        checks=_script(self_check.picture({step.name: f"#{step.name}" for step in ordered()})),
    )
    tour = tour.replace("</style>", f"{faces(tour)}\n</style>", 1)
    data = {f"data/{name}.json": _records(f"SELECT * FROM {name}") for name in (*TABLES, "answer")}
    for heading in statements.headings():
        data[f"data/claims/{heading.id}.json"] = _json([asdict(part) for part in heading.parts])
    if (first := statements.first_verdicts_page()).is_file():
        data[first.name] = first.read_text(encoding="utf-8")
    ledger = claims(link, first=first.name if first.is_file() else "")
    return {"index.html": home, "tour.html": tour, CLAIMS: ledger, **data}


def claims(link: Link, *, alone: bool = False, first: str = "") -> str:
    """The page of all claims, one line each, that opens without a server. alone: whether no other page is beside it.

    first: the name of the page of the first verdicts, where it is beside. Raises NoResults for a store without claims.
    """
    headings = {heading.id: heading for heading in statements.headings()}
    if not any(heading.parts for heading in headings.values()):
        raise NoResults("The store holds no claims. Run: python -m analysis sync --rebuild")
    return _template("claims.html.j2").render(
        **_common(link),
        here=CLAIMS,
        alone=alone,
        first=first,
        board=board().content,
        headings=headings,
        parts=_parts(headings),
        documents=statements.documents(),
        verdicts={dark: verdict_variables(dark=dark) for dark in (False, True)},
        signs=SIGNS,
        side=lambda statement: SIDES.get(statement["bearing"], statement["bearing"]),
        across=lambda place: f"{50 + EDGE * place:.1f}%",
    )


def _parts(headings: Mapping[str, Heading]) -> dict[str, Judgement]:
    return {part.id: part for heading in headings.values() for part in heading.parts}


def _common(link: Link) -> dict[str, Any]:
    """The values that every page's template takes."""
    meta = read.query("SELECT built, git_sha FROM meta").iloc[0]
    return {
        "question": QUESTION,
        "colours": {dark: css_variables(dark=dark) for dark in (False, True)},
        "about": f"Results stored on {meta.built}, with code {meta.git_sha}.",
        "dashboard": link("", {}),
    }


def _template(name: str) -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["zip"] = zip
    return environment.get_template(name)


def _step(step: Step, draw: Draw, link: Link) -> dict[str, object]:
    """The template's values for one step: its text, its pictures in their first state, and its computed sentence.

    A figure of a live run is left out.
    """
    values = VIEWS["read"].defaults()
    pictures = []
    for one in step.pictures:
        if FIGURES[one.figure].live is None:
            figure = FIGURES[one.figure].make({**VIEWS[one.page].defaults(), **one.params(values)})
            address = link("read", {"step": step.name, "part": one.name})
            pictures.append((figure, Markup(prefix_ids(draw(figure, address), f"{step.name}-{one.name}"))))
    try:
        sentence = step.says(values)
    except NoResults as missing:
        sentence = str(missing)
    return {
        "step": step,
        "text": Markup(MarkdownIt("js-default").render(step.text)),
        "pictures": pictures,
        "experiments": step.experiments.choose() if step.experiments else [],
        "says": sentence,
        "address": link("read", {"step": step.name}),
    }


def _moving(picture: ModuleType, name: str) -> dict[str, Markup]:
    """The markup, style and script of a moving picture, to be put into a page."""
    return {
        "html": Markup(picture.asset(f"{name}.html")),
        "css": Markup(picture.asset(f"{name}.css")),
        "js": _script(picture.asset(f"{name}.js")),
    }


def _script(value: object) -> Markup:
    """A value as JavaScript inside a page, which no `</script>` in it can end."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", r"\u003c"))


def _records(sql: str) -> str:
    return _json(json.loads(read.query(sql).to_json(orient="records", date_format="iso") or "[]"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"
