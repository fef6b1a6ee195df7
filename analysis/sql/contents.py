"""The contents of the store, as it describes them itself: its tables, their columns, its age and its problems."""

import pandas as pd

from analysis.sql.public import PRIVATE
from analysis.store import read


def columns() -> pd.DataFrame:
    """The columns that readers' queries may read: view or table, column, type."""
    frame = read.query(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
        "ORDER BY table_name, column_index"
    )
    return frame[~frame.table_name.isin(PRIVATE)]


def tables() -> pd.DataFrame:
    """Every table with its number of rows."""
    return read.query(
        "SELECT table_name AS name, estimated_size AS rows FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"
    )


def meta() -> pd.Series:
    """The one row of `meta`: the version of the schema, when and by which code the store was built, its fingerprint."""
    return read.query("SELECT * FROM meta").iloc[0]


def problems() -> pd.DataFrame:
    """The files that could not be read, each with the problem."""
    return read.query("SELECT file, problem FROM problems")
