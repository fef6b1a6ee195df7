"""An untrusted tokenizer: a child process tries each text first.

A tokenizer.json holds regular expressions and replacements, which its author may have written to take hours or all
memory, in native code that nothing can stop: it would end or block the whole server.
"""

import json
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers
from transformers import BatchEncoding, PreTrainedTokenizerFast

from analysis.core.errors import ModelError

CHILD = Path(__file__).with_name("tokenizer_worker.py")
SECONDS = 10
"""By the clock, and of the processor."""
MEMORY_MIB = 1_024
ENVIRONMENT = {"LANG": "C.UTF-8", "TOKENIZERS_PARALLELISM": "false"}
"""The child's whole environment: no path, no token."""


class SandboxedTokenizer:
    """A fast tokenizer that takes a text once a child process has made tokens of it, and read them back."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self._tokenizer = tokenizer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __len__(self) -> int:
        return len(self._tokenizer)

    @cached_property
    def _serialized(self) -> str:
        return self._tokenizer.backend_tokenizer.to_str()

    def __call__(self, text: str, text_pair: str | None = None, **options: Any) -> BatchEncoding:
        """Tokenizes a text. Raises ModelError where the child process failed on it."""
        check(self._serialized, text, text_pair)
        return self._tokenizer(text, text_pair, **options)


Tokenizer = PreTrainedTokenizerFast | SandboxedTokenizer
"""What makes tokens of a text: one of transformers, always a fast one, alone or in its sandbox."""


def check_folder(folder: Path) -> None:
    """Checks a folder's tokenizer.json before it is opened here: its own tokens go through its replacements."""
    path = folder / "tokenizer.json"
    if path.is_file():
        check(path.read_text(encoding="utf-8", errors="replace"), "a")


def check(serialized: str, text: str, pair: str | None = None) -> None:
    """Raises ModelError unless a child process can build the serialized tokenizer and use it on the text."""
    request = json.dumps([serialized, text, pair], ensure_ascii=False)
    limits = [str(SECONDS), str(MEMORY_MIB), str(Path(tokenizers.__file__).parents[1])]
    try:
        completed = subprocess.run(
            [sys.executable, "-I", "-B", str(CHILD), *limits],
            input=request.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            timeout=SECONDS,
            check=False,
        )
        succeeded = completed.returncode == 0
    except subprocess.TimeoutExpired:
        succeeded = False
    if not succeeded:
        raise ModelError(
            f"The tokenizer of this model fails on this text or on any, or takes more than {SECONDS} s or "
            f"{MEMORY_MIB} MiB. Shorten the text or choose another model."
        )
