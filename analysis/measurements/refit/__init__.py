"""Refitting: a finished sentence encoder whose way of telling positions is changed, and which is then trained on.

Each arm of surgery learns, from the encoder as it was, to give the same states for the same texts. The rules of these
runs are in `analysis/rules/refits.toml`.
"""
