"""The documents that make the claims."""

from dataclasses import dataclass

THREAD = "https://datascience.stackexchange.com/questions/55901"


@dataclass(frozen=True, kw_only=True)
class Document:
    """Where a claim was read. site: what the copy that we read says of where it is from; url where that is known."""

    title: str
    kind: str
    site: str
    url: str | None = None


DOCUMENTS: dict[str, Document] = {
    "000": Document(
        title="Why are embeddings added, not concatenated?",
        kind="question with an answer",
        site="a question-and-answer site",
    ),
    "001": Document(
        title="In a Transformer model, why does one sum positional encoding to the embedding rather than concatenate "
        "it? (early copy, two answers)",
        kind="question with answers",
        site="datascience.stackexchange.com",
        url=THREAD,
    ),
    "002": Document(
        title="Answer quoting pappypapaya: four questions and near-orthogonality",
        kind="answer",
        site="datascience.stackexchange.com",
        url=f"{THREAD}#126111",
    ),
    "003": Document(
        title="In a Transformer model, why does one sum positional encoding to the embedding rather than concatenate "
        "it? (eight answers and their comments)",
        kind="question with answers",
        site="datascience.stackexchange.com",
        url=THREAD,
    ),
    "004": Document(
        title="Why Can BERT's Token, Segment, and Position Embeddings Be Added? A Deep Dive into Positional Encoding",
        kind="article",
        site="Baobao Algorithm Notes",
    ),
}
"""By the first three digits of the document's number; the titles are the documents' own but for what is in brackets."""
