"""Addend's findings in sentences: the answer, the guided reading, the choice of an encoding, the report."""
