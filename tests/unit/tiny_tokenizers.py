"""Tokenizers of the kinds that decoders have, trained here on a few sentences."""

from functools import cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

TEXT = "The cat sat on the mat, unhappily: naïve 数学 🙂."
CORPUS = [TEXT, "The dog saw the cat and the cat saw the dog.", "Unhappiness is not a mat.", "the mat on the hill"] * 3


def _wrapped(tokenizer: Tokenizer, **specials: str) -> Any:
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **specials)


@cache
def byte_level() -> Any:
    """As GPT-2's: pieces of bytes, no token at the start, a space belongs to the word after it."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"])
    made.train_from_iterator(CORPUS, trainer)
    return _wrapped(made, eos_token="<|endoftext|>", bos_token="<|endoftext|>")


@cache
def sentencepiece_bpe() -> Any:
    """As Llama's: a mark for a space, bytes for what is unknown, `<s>` first, and the text is never split."""
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    specials = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    # Trained on words, as sentencepiece is, and used without splitting.
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    plain = [text.encode("ascii", "ignore").decode() for text in CORPUS]
    made.train_from_iterator(plain, trainers.BpeTrainer(vocab_size=330, special_tokens=specials))
    made.pre_tokenizer = None
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    return _wrapped(made, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


@cache
def unigram() -> Any:
    """As XLM-R's and T5's: a mark for a space, words split at it, `<s>` and `</s>` around."""
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>")
    made.train_from_iterator(CORPUS, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return _wrapped(made, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
