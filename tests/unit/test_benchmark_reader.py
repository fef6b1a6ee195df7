"""Proves that the benchmarks' reader without a browser reads Streamlit's messages as its page does."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest

from tests.benchmarks.reader import Reader, Shown, problem_of, state_of


def script() -> None:
    import streamlit as st

    st.text_area("Text", "as it was", key="text")
    st.selectbox("Box", ["a", "b", "c"], 1, key="box")
    st.segmented_control("Row", ["one", "two"], default="two", key="row")
    st.select_slider("Slide", [1, 2, 4], 4, key="slide")
    st.slider("Number", 0, 9, 3, key="number")
    st.multiselect("Several", ["x", "y"], ["y"], key="several")
    st.toggle("Switch", True, key="switch")


def test_a_widget_is_taken_up_in_the_state_that_streamlit_says_it_has():
    app = AppTest.from_function(script).run()
    found = {}
    for kind in ("text_area", "selectbox", "button_group", "select_slider", "slider", "multiselect", "toggle"):
        widget = getattr(app, kind)[0]
        message = ForwardMsg()
        element = message.delta.new_element
        field = {"select_slider": "slider", "toggle": "checkbox"}.get(kind, kind)
        getattr(element, field).CopyFrom(widget.proto)
        state = state_of(element)
        assert state is not None
        own = widget._widget_state  # what Streamlit's own tester sends of it
        assert state.id == own.id
        found[kind] = (state, own)
    for kind, (state, own) in found.items():
        assert state == own, kind


def message(**what) -> bytes:
    return ForwardMsg(**what).SerializeToString()


def element(kind: str, **values) -> bytes:
    made = ForwardMsg()
    getattr(made.delta.new_element, kind).CopyFrom(type(getattr(made.delta.new_element, kind))(**values))
    made.metadata.cacheable, made.hash = True, "its hash"
    return made.SerializeToString()


def test_a_run_ends_where_the_script_does_and_what_failed_is_counted():
    reader, shown = Reader("http://localhost"), Shown()
    assert not reader._take(element("exception", type="KeyError", message="gone"), shown)
    assert not reader._take(message(ref_hash="its hash"), shown)
    assert shown.problems == ["KeyError: gone", "KeyError: gone"]
    assert not reader._take(message(script_finished=ForwardMsg.FINISHED_EARLY_FOR_RERUN), shown)
    assert reader._take(message(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY), shown)


@pytest.mark.parametrize(("form", "counts"), [(1, True), (2, False)])
def test_an_alert_is_a_problem_where_it_says_that_something_failed(form, counts):
    made = ForwardMsg()
    made.ParseFromString(element("alert", body="Addend broke", format=form))
    assert bool(problem_of(made.delta.new_element)) == counts
