"""A static site: the answer, the guided tour and the ledger, with every claim and table as JSON.

It needs no server of ours: any web server, or none, shows it.
"""

from analysis.narrative.site.pages import claims, files

__all__ = ["claims", "files"]
