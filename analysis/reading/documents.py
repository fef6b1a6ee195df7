"""The source documents that raised the question: what each one is, for attribution."""

DOCUMENTS = {
    "000": 'a question with one answer, "Why are embeddings added, not concatenated?"',
    "001": 'a question on Data Science Stack Exchange with three answers, "In a Transformer model, why does one sum '
    'positional encoding to the embedding rather than concatenate it?"',
    "002": "an answer to that question, which quotes one by pappypapaya on Reddit",
    "003": "the same question as it stood years later, with eight answers and their comments",
    "004": 'an article by Baobao Algorithm Notes, "Why Can BERT’s Token, Segment, and Position Embeddings Be Added?"',
}
"""By the number that the ledger of claims gives them."""
