"""BERT: learned absolute positions and segments, added to the word and normalised together."""

from collections.abc import Mapping

from analysis.models.families import FAMILIES, Family


class Bert(Family):
    """`transformers` BertModel and whatever wraps it (Devlin et al. 2019)."""

    title = "BERT"
    tables = (
        ("word", "embeddings.word_embeddings"),
        ("position", "embeddings.position_embeddings"),
        ("segment", "embeddings.token_type_embeddings"),
    )
    layer_list = "encoder.layer"
    attention = "attention.self"

    def refusal(self, config: Mapping[str, object]) -> str | None:
        """Relative positions are refused: transformers 5 would drop them without a word."""
        kind = config.get("position_embedding_type") or "absolute"
        if kind != "absolute":
            return (
                f"its positions are {kind!r}, which transformers 5 no longer implements for {self.title}: it would "
                "load the checkpoint without them and compute something else. Choose one with absolute positions"
            )
        if config.get("is_decoder"):
            return "it is set up as a decoder (is_decoder); the terms here are of the bidirectional encoder"
        return None


FAMILIES.add("bert", Bert())
# Its embeddings may be narrower than its layers, and then pass through a projection (Clark et al. 2020).
FAMILIES.add("electra", Bert("ELECTRA", kin=True))
