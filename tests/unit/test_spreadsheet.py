"""Proves that CSV opens as data: formulas become text, and numbers stay as they were to the last digit."""

import csv as standard
import io

import numpy as np
import pandas as pd
import pytest

from analysis.core.csv_export import to_csv


@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-A1", "@SUM(A1)", "\tx", "\rx", "-1+cmd|' /C calc'!A0", "-", '="x"', "＝1+1"]
)
@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_a_text_that_would_be_a_formula_gets_an_apostrophe_in_cells_and_names(text, kind):
    frame = pd.DataFrame({text: pd.Series([text, "plain", None], dtype=kind)})
    header, first, *rest = standard.reader(io.StringIO(to_csv(frame), newline=""))
    assert header == first == ["'" + text.replace("\r", "\n")]
    assert rest[0] == ["plain"]


def test_numbers_are_as_pandas_writes_them():
    frame = pd.DataFrame(
        {
            "f": np.array([-0.1, 1e-300, np.nan]),
            "i": [-1, 2, -(2**62)],
            "mixed": pd.Series([-1, None, "-0.5"], dtype=object),
            "text": ["-1.5e-3", "+2", "a, b"],
            "on": [True, False, True],
            "day": pd.to_datetime(["2026-01-01"] * 3),
        }
    )
    assert to_csv(frame) == frame.to_csv(index=False)
    assert to_csv(frame, index=True) == frame.to_csv()


def test_a_carriage_return_begins_no_row():
    written = to_csv(pd.DataFrame({"a": ["b\r=1+1", "c\r\n=2"]}))
    assert list(standard.reader(io.StringIO(written, newline=""))) == [["a"], ["b\n'=1+1"], ["c\n'=2"]]


@pytest.mark.parametrize(
    "text", ["a;=1+1", 'a;"=1+1"', "a\n=1+1", 'a";=1+1', "a;@x;+x", "a\t=1", "a;;=1", 'a;""=1', ";=1"]
)
@pytest.mark.parametrize("between", [";", "\t", ","])
def test_no_cell_is_a_formula_whatever_parts_the_cells(text, between):
    written = to_csv(pd.DataFrame({"before": ["x", "y"], text: ["plain", text], "after": [1, -2]}))
    for row in standard.reader(io.StringIO(written, newline=""), delimiter=between):
        for cell in row:
            assert not cell.lstrip('"').startswith(("=", "+", "@")), written
            assert not cell.startswith("-") or cell == "-2"


def test_a_semicolon_in_a_text_is_left_alone():
    texts = ["a; -b", "a;b", "x-y;z=1", "one\ntwo - three"]
    assert to_csv(pd.DataFrame({"a;b": texts})) == pd.DataFrame({"a;b": texts}).to_csv(index=False)


def test_names_twice_no_rows_and_no_columns():
    assert to_csv(pd.DataFrame([[1, "=a"]], columns=["=x", "=x"])) == "'=x,'=x\n1,'=a\n"
    assert to_csv(pd.DataFrame({"a": []})) == "a\n"
    assert to_csv(pd.DataFrame()) == pd.DataFrame().to_csv(index=False)
