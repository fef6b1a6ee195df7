"""A made-up text and a made-up task, so that the ablation laboratory can be run in seconds."""

import random
from pathlib import Path

SUBJECTS = ["the cat", "a dog", "the old man", "my sister", "the teacher", "a small bird", "the king", "our friend"]
VERBS = ["sees", "likes", "finds", "hears", "follows", "remembers", "paints", "forgets"]
OBJECTS = ["the red house", "a river", "the garden", "an apple", "the tall tree", "a letter", "the market", "a song"]
ENDS = ["in the morning", "at night", "before dinner", "after the rain", "without a word", "near the bridge"]


def sentence(rng: random.Random) -> str:
    parts = [rng.choice(x) for x in (SUBJECTS, VERBS, OBJECTS, ENDS)]
    return f"{parts[0].capitalize()} {' '.join(parts[1:])}."


def write_text(path: Path, articles: int, seed: int) -> Path:
    """Articles of a title and some paragraphs, an empty line after each."""
    rng = random.Random(seed)
    lines = []
    for number in range(articles):
        lines.append(f"Article {number}")
        lines += [" ".join(sentence(rng) for _ in range(rng.randint(3, 6))) for _ in range(3)]
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_glue(folder: Path) -> Path:
    """RTE with a header row: whether the second sentence is the first one."""
    rng = random.Random(5)
    for name, rows in (("train", 80), ("dev", 40)):
        file = folder / "RTE" / f"{name}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = ["label\tsentence1\tsentence2\tindex"]
        for index in range(rows):
            first = sentence(rng)
            same = index % 2 == 0
            second = first if same else sentence(rng)
            lines.append(f"{'entailment' if same else 'not_entailment'}\t{first}\t{second}\t{index}")
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
