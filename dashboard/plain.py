"""Text from links, models and readers, made safe to stand in Markdown."""

import re


def plain(text: str) -> str:
    """Text for Markdown that says itself and nothing more: no links, images, icons, formulas or emphasis."""
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:^@&])", r"\\\1", text)
