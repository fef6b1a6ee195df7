"""The meanings of terms on screen, as a hint that opens on hover, focus or touch."""

from analysis.narrative.glossary import definitions_in
from dashboard.session.markdown_escape import escape_markdown


def glossary_hint(*texts: str) -> str | None:
    """The definitions of the terms in these texts, as the `help` of an element; None where there are none."""
    terms = definitions_in(" ".join(texts))
    return (
        "\n\n".join(f"**{escape_markdown(term)}**: {escape_markdown(definition)}" for term, definition in terms.items())
        or None
    )
