"""A table that a phone shows as cards: one HTML table, every text escaped, and a style for narrow screens."""

from collections.abc import Callable, Mapping, Sequence
from html import escape

from analysis.narrative.choosing import MethodRow
from analysis.narrative.choosing.evidence import Finding

STYLE = """
<style>
.choosing{width:100%;border-collapse:collapse;font-size:.9rem}
.choosing th,.choosing td{text-align:left;vertical-align:top;padding:.5rem .6rem;
  border-bottom:1px solid rgba(128,128,128,.35)}
.choosing small{display:block;font-weight:normal;opacity:.7;line-height:1.3}
.choosing p{margin:0 0 .45rem}
.choosing .none{color:var(--soft);font-style:italic}
.choosing a{color:inherit}
@media (max-width:640px){
  .choosing thead{display:none}
  .choosing tr{display:block;border:1px solid rgba(128,128,128,.35);border-radius:.5rem;margin-bottom:.8rem;
    padding:.3rem}
  .choosing td,.choosing th{display:block;border:0;padding:.3rem .5rem}
  .choosing td::before{content:attr(data-label);display:block;font-weight:600;font-size:.8rem}
}
</style>
"""

Address = Callable[[str, Mapping], str]


def html(lines: Sequence[MethodRow], columns: Mapping[str, str], address: Address) -> str:
    """The table of one part; `address` gives the link to a page in a state."""
    heads = "".join(f"<th scope='col'>{escape(title)}</th>" for title in ("Method", *columns.values()))
    rows = []
    for line in lines:
        shared = _shared_source(line, columns)
        cells = "".join(
            f"<td data-label='{escape(title)}'>"
            f"{''.join(_sentence(finding, address, shared) for finding in line.cells[name].findings)}</td>"
            for name, title in columns.items()
        )
        source = f"<small>Source, where no other is named: {escape(shared)}</small>" if shared else ""
        head = f"{escape(line.title)}<small>{escape(line.summary)}</small>{source}"
        rows.append(f"<tr><th scope='row'>{head}</th>{cells}</tr>")
    return f"{STYLE}<table class='choosing'><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _shared_source(line: MethodRow, columns: Mapping[str, str]) -> str:
    """The source, without a page to link to, that several cells of a row share: it is named once, in the row's head."""
    sources = [
        finding.source
        for name in columns
        for finding in line.cells[name].findings
        if finding.source and not finding.page
    ]
    return next((source for source in sources if sources.count(source) > 1), "")


def _sentence(finding: Finding, address: Address, shared: str) -> str:
    if not finding.source:
        return f"<p class='none'>{escape(finding.text)}</p>"
    if finding.source == shared and not finding.page:
        return f"<p>{escape(finding.text)}</p>"
    source = escape(finding.source)
    if finding.page:
        link = escape(address(finding.page, finding.values or {}), quote=True)
        source = f"<a href='{link}' target='_self'>{source}</a>"
    # A percentage stays in one line.
    text = escape(finding.text).replace(" %", "&nbsp;%")
    return f"<p>{text}<small>{source}</small></p>"
