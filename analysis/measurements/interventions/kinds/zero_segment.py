"""Segments off."""

from dataclasses import dataclass

from analysis.measurements.interventions.kinds.base import SEGMENTS, Intervention, intervention


@intervention
@dataclass(frozen=True)
class ZeroSegment(Intervention):
    """No token knows which of two texts it is of; nor does it get what all tokens of one segment share."""

    name = "zero_segment"
    title = "Zero segment"
    summary = "Segment embeddings are 0."
    places = (SEGMENTS,)

    def segments(self, rows):
        """Zeros."""
        return rows.new_zeros(rows.shape)
