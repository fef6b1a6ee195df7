"""Citations of charts and claims: plain text and BibTeX, with link, date, the store's version and the code's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analysis import __version__
from analysis.core.errors import StoreError
from analysis.core.provenance import git_sha, now
from analysis.store import read

AUTHOR = "The Addend authors"
WORK = "Addend: why are position embeddings added to words?"
FINGERPRINT_DIGITS = 12

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\rightarrow$",
    "−": "--",
    "{": r"\textbraceleft{}",  # BibTeX counts braces, escaped ones too: one alone would end the entry
    "}": r"\textbraceright{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}


def bibtex_of(keys: Sequence[str] | None = None) -> str:
    """BibTeX of some cited works, or of all."""
    condition = "" if keys is None else f" WHERE citation_key IN ({read.placeholders(keys)})"
    works = read.query(f"SELECT bibtex FROM citations{condition} ORDER BY citation_key", keys or ())
    return "\n\n".join(works.bibtex)


@dataclass(frozen=True, kw_only=True)
class Citation:
    """One citation of a chart or claim.

    key: the letters and digits that begin the BibTeX key. title: of the chart or claim. address: the link that shows
    it, or a sentence that explains why there is none. accessed: the moment, as in "2026-11-21T12:00:00Z".
    store: fingerprint of the store's files. built: the moment when the store was built. code: the commit.
    """

    key: str
    title: str
    address: str
    accessed: str
    store: str
    built: str
    code: str
    version: str = __version__

    @property
    def made_by(self) -> str:
        """Versions of store and code, in words."""
        return f"version {self.version}, code {self.code}, store {self.store[:FINGERPRINT_DIGITS]} built {self.built}"

    def plain(self) -> str:
        """One line of text."""
        return (
            f"{AUTHOR}. “{self.title}”. {WORK} {self.made_by[0].upper()}{self.made_by[1:]}. {self.address} "
            f"(accessed {self.accessed[:10]})."
        )

    def bibtex(self) -> str:
        """A @misc entry; what TeX would read as a command is escaped, but for the link, which \\url takes as it is."""
        name = re.sub(r"[^A-Za-z0-9]+", "-", self.key).strip("-").lower() or "view"
        # A view that no link opens is cited without one.
        link = [f"  url = {{{self.address.replace('{', '%7B').replace('}', '%7D')}}},"] if "://" in self.address else []
        return "\n".join(
            [
                f"@misc{{addend-{name}-{self.store[:6]},",
                f"  author = {{{{{AUTHOR}}}}},",
                f"  title = {{{escape_tex(self.title)}}},",
                f"  howpublished = {{{escape_tex(WORK)}}},",
                f"  year = {{{self.accessed[:4]}}},",
                *link,
                f"  urldate = {{{self.accessed[:10]}}},",
                f"  note = {{{escape_tex(self.made_by)}}},",
                "}",
            ]
        )


def escape_tex(text: str) -> str:
    """Text that TeX prints as it is."""
    return "".join(_TEX.get(character, character) for character in text)


def citation_of(key: str, title: str, address: str) -> Citation:
    """A citation of something in today's store. Raises StoreError where there is none."""
    meta = read.query("SELECT fingerprint, built FROM meta")
    if meta.empty:
        raise StoreError("The store does not say what it was built from. Run: python -m analysis sync --rebuild")
    row = meta.iloc[0]
    return Citation(
        key=key,
        title=title,
        address=address,
        accessed=now(),
        store=str(row.fingerprint),
        built=str(row.built),
        code=git_sha(),
    )
