"""The texts of a stored corpus."""

from analysis.store import read


def texts(corpus: str) -> list[tuple[str, str | None]]:
    """The texts in their order, each with its second text, or None for a text alone; none where it is not stored."""
    rows = read.query("SELECT text, text_pair FROM corpora WHERE corpus = ? ORDER BY text_id", [corpus])
    return [(text, pair if isinstance(pair, str) else None) for text, pair in rows.to_numpy()]
