"""The report: all claims with their charts as one HTML file that opens offline."""

from analysis.narrative.report.page import html

__all__ = ["html"]
