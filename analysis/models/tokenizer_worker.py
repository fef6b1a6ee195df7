"""The process in which a stranger's tokenizer is tried on a text. Run alone, with `python -I`; see
tokenizer_sandbox.py."""

import json
import os
import resource
import sys


def main() -> None:
    """Makes tokens of the text (and its pair) on standard input and reads each back; ends by 0 if that went well."""
    seconds, mebibytes, packages = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    sys.path.append(packages)
    from tokenizers import Tokenizer

    serialized, text, pair = json.load(sys.stdin)
    for resource_type, limit in (
        (resource.RLIMIT_AS, mebibytes << 20),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(resource_type, (limit, limit))
    tokenizer = Tokenizer.from_str(serialized)
    encoding = tokenizer.encode(text) if pair is None else tokenizer.encode(text, pair)
    for token in set(encoding.ids):
        tokenizer.decode([token])
    os._exit(0)


if __name__ == "__main__":
    main()
