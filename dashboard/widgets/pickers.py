"""Pickers bound to the URL: selections are in the link, and a link makes its selections.

Streamlit's own `bind="query-params"` puts labels into the URL and drops unknown ones silently.
Ours puts ids there, so that links outlive wording, and warns of what it dropped.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from analysis.links import VIEWS, Value
from dashboard.session import held_texts
from dashboard.session.markdown_escape import escape_markdown

Show = Callable[[Any], str | None] | Mapping[Any, str | None]
"""The text that an id is shown by: a function, or the labels by id."""


def _formatter(show: Show) -> Callable[[Any], str]:
    label = show.get if isinstance(show, Mapping) else show
    return lambda value: str(label(value) or value)


class Pickers:
    """The pickers of one page. Call `done` after the last one."""

    def __init__(self, page: str) -> None:
        self.view = VIEWS[page]
        self._address = st.session_state.setdefault(self._key("address"), {"written": None})
        """The parameters that the page wrote last. They change in place: where the session is written, Streamlit may
        end the run for a press of the back button, and the page would then take the address before it for its own."""
        raw, written = _url_parameters(), self._address["written"]
        parameters, lost = held_texts.restore(raw)
        self.fresh = not raw and written != raw
        """True if the reader has just come to the page, by a link without parameters."""
        self._link, problems = self.view.parse(parameters)
        self._values: dict[str, Any] = {}
        """The fields that were read or set in this run of the page."""
        self._initial: dict[str, Value] = {}
        """Field -> the value for a reader who comes by no link."""
        problems += [lost] if lost else []
        self._notices = st.container()
        """The place for notices on a link: above the pickers, whose row they would break."""
        if raw != written:  # A link, the back button, or the first visit: the URL decides.
            for name, value in self._link.items():
                self._store(name, value)
            # At once: a reader who goes back and forth quickly ends this run before `done`.
            self._address["written"] = raw or None
            for problem in problems:
                st.warning(escape_markdown(problem), icon=":material/link_off:")

    def _key(self, name: str) -> str:
        return f"{self.view.page}.{name}"

    def _store(self, name: str, value: Value) -> None:
        _store(self.view.page, name, value)

    def _state(self, name: str) -> Any:
        # Buttons that come back after an error page are sent by the browser with nothing pressed, which is no value.
        if st.session_state.get(self._key(name)) is None:
            self._store(name, self._link[name])
        return st.session_state[self._key(name)]

    def _warn(self, text: str) -> None:
        self._notices.warning(escape_markdown(text))

    def _ensure_offered(self, name: str, options: Sequence[Any], instead_of_others: Any = None) -> None:
        """Falls back to an option, with a warning, where a link asks for a value that is not offered.

        instead_of_others: this option; None for the field's usual value, where that is offered, else the first.
        """
        selected = self._state(name)
        if options and selected not in options:
            default = next(field.default for field in self.view.fields if field.name == name)
            usual = self._initial.get(name, default)
            fallback = instead_of_others or (usual if usual in options else options[0])
            if selected not in ("", default):
                instead = "the page is shown without it" if fallback == "" else f"{fallback!r} is shown"
                self._warn(f"The link asks for {name} {selected!r}, which is not offered here; {instead}.")
            st.session_state[self._key(name)] = fallback

    def known(self, name: str, known: Sequence[str]) -> tuple[str, ...]:
        """The field's values that are known; warns of the others."""
        selected = tuple(self._state(name))
        for value in selected:
            if value not in known:
                self._warn(f"The link asks for {name} {value!r}, which is not known, so it is ignored.")
        selected = tuple(value for value in selected if value in known)
        self._values[name] = selected
        return selected

    def choice(
        self,
        name: str,
        label: str,
        options: Sequence[Any],
        show: Show = str,
        *,
        instead_of_others: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A drop-down of ids, shown as `show` says. instead_of_others: an option, in place of one that is not offered.

        None for the field's usual value, where that is offered, else the first.
        """
        self._ensure_offered(name, options, instead_of_others)
        index = list(options).index(self._state(name)) if options else None
        self._values[name] = st.selectbox(
            label, options, index=index, format_func=_formatter(show), key=self._key(name), **kwargs
        )
        return self._values[name]

    def cell_setter(self, first_name: str, second_name: str) -> Callable[[Any, Any], None]:
        """A callback for a press on a cell of a map: it sets two fields."""

        def set_cell(*pressed: Any) -> None:
            for name, value in zip((first_name, second_name), pressed, strict=True):
                self.set(name, value)

        return set_cell

    def segments(self, name: str, label: str, options: Sequence[Any], show: Show = str, **kwargs: Any) -> Any:
        """A row of buttons, one of them pressed."""
        self._ensure_offered(name, options)
        self._values[name] = st.segmented_control(
            label,
            options,
            default=self._state(name),
            format_func=_formatter(show),
            key=self._key(name),
            required=True,
            wrap=True,
            **kwargs,
        )
        return self._values[name]

    def buttons(
        self,
        name: str,
        label: str,
        options: Sequence[str],
        known: Sequence[str],
        show: Show = str,
        *,
        stores_pressed: bool = True,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Buttons of which several may be pressed. Returns the options that the field holds.

        known: names that are valid in a link though they are no option here.
        stores_pressed: whether the field holds the pressed buttons, or those that are not pressed.
        """
        selected = self.known(name, known)
        key = f"{self._key(name)}.ticked"
        st.session_state[key] = [value for value in options if (value in selected) == stores_pressed]
        hidden = [value for value in selected if value not in options]

        def update() -> None:
            pressed = st.session_state[key]
            stored = [value for value in options if (value in pressed) == stores_pressed]
            st.session_state[self._key(name)] = hidden + stored

        st.pills(
            label,
            options,
            default=st.session_state[key],
            format_func=_formatter(show),
            selection_mode="multi",
            key=key,
            on_change=update,
            **kwargs,
        )
        return tuple(value for value in selected if value in options)

    def several(
        self, name: str, label: str, options: Sequence[str], known: Sequence[str], show: Show = str, **kwargs: Any
    ) -> tuple[str, ...]:
        """A drop-down for several options; the field holds them in the order of `known`.

        known: names that are valid in a link though they are no option here.
        """
        selected = self.known(name, known)
        key = f"{self._key(name)}.several"
        st.session_state[key] = [value for value in options if value in selected]
        hidden = [value for value in selected if value not in options]

        def update() -> None:
            stored = {*st.session_state[key], *hidden}
            st.session_state[self._key(name)] = [value for value in known if value in stored]

        st.multiselect(
            label,
            options,
            default=st.session_state[key],
            format_func=_formatter(show),
            key=key,
            on_change=update,
            wrap=True,
            **kwargs,
        )
        return tuple(value for value in options if value in selected)

    def slider(self, name: str, label: str, options: Sequence[int], **kwargs: Any) -> int:
        """A slider over given whole numbers; none is drawn where there is only one."""
        self._ensure_offered(name, options)
        if len(options) < 2:
            return int(self.get(name))
        value = int(st.select_slider(label, options, value=self._state(name), key=self._key(name), **kwargs))
        self._values[name] = value
        return value

    def span(self, first: str, last: str, label: str, count: int, **kwargs: Any) -> None:
        """A slider with two ends over 0 to count - 1, held by two fields; the second holds -1 at the end."""
        start, end = int(self.get(first)), int(self.get(last))
        end = count - 1 if end == -1 else end
        if not 0 <= start <= end < count:
            self._warn(f"{label}: the link asks for {start} to {end}, but there are only {count}; all are shown.")
            start, end = 0, count - 1
            self.set(first, 0)
            self.set(last, -1)
        if count < 2:
            return
        slider = f"{self._key(first)}.span"
        st.session_state[slider] = (start, end)

        def update() -> None:
            low, high = st.session_state[slider]
            st.session_state[self._key(first)] = low
            st.session_state[self._key(last)] = -1 if high == count - 1 else high

        st.slider(label, 0, count - 1, (start, end), key=slider, on_change=update, **kwargs)

    def toggle(self, name: str, label: str, **kwargs: Any) -> bool:
        """A switch."""
        self._values[name] = st.toggle(label, value=bool(self._state(name)), key=self._key(name), **kwargs)
        return bool(self._values[name])

    def fixed(self, name: str, options: Sequence[Any]) -> Any:
        """The value of a field that no picker shows; warns where a link asks for another value."""
        self._ensure_offered(name, options)
        return self.get(name)

    def box(self, name: str, content: Any = None) -> str:
        """The key of an input box of a form, filled with the field's value, or `content`. `typed` stores its input.

        A box that is given its value instead of a key would be a new one when the value changes, and lose its input.
        """
        key, value = f"{self._key(name)}.box", self.get(name)
        if key not in st.session_state or st.session_state[f"{key}.of"] != value:
            st.session_state[key] = value if content is None else content
            st.session_state[f"{key}.of"] = value
        return key

    def typed(self, name: str, value: Value) -> None:
        """Stores a value that was typed into the field's box, which stays as it is."""
        self.set(name, value)
        st.session_state[f"{self._key(name)}.box.of"] = value

    def set(self, name: str, value: Value) -> None:
        """Sets a field without a picker."""
        self._values[name] = value
        st.session_state[self._key(name)] = value

    def set_initial(self, name: str, value: Value, offered: Collection[Any]) -> None:
        """Sets a field for a reader who comes by no link: a link without the field means its default."""
        if value in offered:
            self._initial[name] = value
        if self.fresh and value in offered:
            self.set(name, value)

    def get(self, name: str) -> Any:
        """The value that a link or an earlier `set` gave."""
        value = self._state(name)
        self._values[name] = tuple(value) if isinstance(value, list) else value
        return self._values[name]

    def values(self) -> dict[str, Value]:
        """Every field of the page's link. One that was not read yet has the value that `get` gives."""
        names = [field.name for field in self.view.fields]
        return {name: self._values[name] if name in self._values else self.get(name) for name in names}

    def done(self) -> dict[str, Value]:
        """Writes every field into the URL and returns them. A link that was opened stays as it is, however long."""
        values = self.values()
        parameters = self.view.parameters(values)
        if not parameters:
            # An address without fields would be that of a reader who comes by no link, who is shown something else.
            parameters = {name: [str(values[name])] for name, at in self._initial.items() if values[name] != at}
        elif parameters != _url_parameters():
            parameters = held_texts.shorten(self.view.page, values)
        if parameters != _url_parameters():
            st.query_params.from_dict(parameters)
        self._address["written"] = parameters
        return values


def jump(page: str, label: str, values: Mapping[str, Value], *, icon: str = "arrow_forward", place: str = "") -> None:
    """A button to another state of the page that is shown, which the address then holds.

    A page link to the same page would leave the old state in the address. values: the fields that change. place: tells
    buttons of one label apart.
    """

    def go() -> None:
        for name, value in values.items():
            _store(page, name, value)

    st.button(label, icon=f":material/{icon}:", on_click=go, key=f"{page}.jump.{place}{label}", type="tertiary")


def _store(page: str, name: str, value: Value) -> None:
    """Keeps a field of a page as its picker holds it."""
    st.session_state[f"{page}.{name}"] = list(value) if isinstance(value, tuple) else value


def _url_parameters() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}
