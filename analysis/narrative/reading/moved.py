"""Steps that older links name and that are no steps any more: the pages that show what they showed."""

from analysis.narrative.reading.step import Destination, Values

TABLE, BASELINE = "ke2021tupe|Table 1", "BERT-A"


def left_out(values: Values) -> dict[str, object]:
    """TUPE's own table, with a column left out of the average."""
    task = str(values["leave"])
    without = (task,) if task else ()
    return {
        "part": "published",
        "published_look": "table",
        "published_table": TABLE,
        "published_baseline": BASELINE,
        "published_without": without,
        "published_view": "average",
    }


MOVED = {"untying": Destination(page="experiments", says="The published gain of TUPE on GLUE", values=left_out)}
"""A step's former name -> the page that holds its figure, in the state that it had."""
