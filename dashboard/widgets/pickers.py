"""Pickers bound to the URL: what a reader picks is in the link, and what a link says is picked.

Streamlit's own `bind="query-params"` puts the labels on screen into the URL and drops what it does
not know without a word. Ours puts ids there, so that links outlive wording, and says what it dropped.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from analysis.links import VIEWS, Value
from dashboard.session.markdown_escape import escape_markdown

Show = Callable[[Any], str | None] | Mapping[Any, str]
"""How an id is shown: a function, or the labels by id."""


def _shown(show: Show) -> Callable[[Any], str]:
    label = show.get if isinstance(show, Mapping) else show
    return lambda value: str(label(value) or value)


class Pickers:
    """The pickers of one page. Call `done` after the last one."""

    def __init__(self, page: str) -> None:
        self.view = VIEWS[page]
        self._values, problems = self._from_url()
        for problem in problems:
            st.warning(escape_markdown(problem), icon=":material/link_off:")

    def _from_url(self) -> tuple[dict[str, Value], list[str]]:
        raw = {name: st.query_params.get_all(name) for name in st.query_params}
        written = st.session_state.get(self._key("written"))
        values, problems = self.view.parse(raw)
        self.fresh = not raw and written != raw
        """Whether somebody has just come to the page, by no link that says anything."""
        if raw != written:  # A link, the back button, or the first visit: the URL decides.
            for name, value in values.items():
                st.session_state[self._key(name)] = list(value) if isinstance(value, tuple) else value
            return values, problems
        return values, []

    def _key(self, name: str) -> str:
        return f"{self.view.page}.{name}"

    def _state(self, name: str) -> Any:
        # Buttons that come back after an error page are sent by the browser with nothing pressed, which is no value.
        if st.session_state.get(self._key(name)) is None:
            value = self._values[name]
            st.session_state[self._key(name)] = list(value) if isinstance(value, tuple) else value
        return st.session_state[self._key(name)]

    def _ensure_offered(self, name: str, options: Sequence[Any]) -> None:
        """Falls back, aloud, where a link asks for something that is not offered."""
        selected = self._state(name)
        if options and selected not in options:
            default = next(field.default for field in self.view.fields if field.name == name)
            fallback = default if default in options else options[0]
            if selected not in ("", default):
                st.warning(
                    escape_markdown(
                        f"The link asks for {name} {selected!r}, which is not offered here; {fallback!r} is shown."
                    )
                )
            st.session_state[self._key(name)] = fallback

    def choice(self, name: str, label: str, options: Sequence[Any], show: Show = str, **kwargs: Any) -> Any:
        """A drop-down of ids, shown as `show` says."""
        self._ensure_offered(name, options)
        self._values[name] = st.selectbox(label, options, format_func=_shown(show), key=self._key(name), **kwargs)
        return self._values[name]

    def cell_setter(self, first_name: str, second_name: str, *, first: int = 0) -> Callable[[Any, Any], None]:
        """What sets two fields at once, numbers counted from `first`: for a press on a cell of a map."""

        def set_cell(*pressed: Any) -> None:
            for name, value in zip((first_name, second_name), pressed, strict=True):
                self.set(name, first + value if isinstance(value, int) else value)

        return set_cell

    def segments(self, name: str, label: str, options: Sequence[Any], show: Show = str, **kwargs: Any) -> Any:
        """A row of buttons, one of them pressed."""
        self._ensure_offered(name, options)
        self._values[name] = st.segmented_control(
            label, options, format_func=_shown(show), key=self._key(name), required=True, wrap=True, **kwargs
        )
        return self._values[name]

    def ticked(
        self, name: str, label: str, options: Sequence[str], known: Sequence[str], show: Show = str, **kwargs: Any
    ) -> tuple[str, ...]:
        """Buttons that are all pressed until a reader unticks one; the field holds the unticked.

        known: names that are no mistake in a link though they are no option here.
        """
        return self._buttons(name, label, options, known, show, stores_pressed=False, **kwargs)

    def pressed(
        self, name: str, label: str, options: Sequence[str], known: Sequence[str], show: Show = str, **kwargs: Any
    ) -> tuple[str, ...]:
        """Buttons of which none is pressed until a reader presses one; the field holds the pressed."""
        return self._buttons(name, label, options, known, show, stores_pressed=True, **kwargs)

    def _buttons(
        self,
        name: str,
        label: str,
        options: Sequence[str],
        known: Sequence[str],
        show: Show,
        *,
        stores_pressed: bool,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Buttons whose field holds those that are pressed (`holds`) or those that are not."""
        selected = tuple(self._state(name))
        for value in selected:
            if value not in known:
                st.warning(
                    escape_markdown(f"The link asks for {name} {value!r}, which is not known, so it is ignored.")
                )
        selected = tuple(value for value in selected if value in known)
        buttons = f"{self._key(name)}.ticked"
        st.session_state[buttons] = [value for value in options if (value in selected) == stores_pressed]
        hidden = [value for value in selected if value not in options]

        def update() -> None:
            pressed = st.session_state[buttons]
            st.session_state[self._key(name)] = hidden + [
                value for value in options if (value in pressed) == stores_pressed
            ]

        shown = _shown(show)
        st.pills(label, options, format_func=shown, selection_mode="multi", key=buttons, on_change=update, **kwargs)
        self._values[name] = selected
        return tuple(value for value in selected if value in options)

    def several(
        self, name: str, label: str, options: Sequence[str], known: Sequence[str], show: Show = str, **kwargs: Any
    ) -> tuple[str, ...]:
        """A drop-down of which several are picked; the field holds them in the order of the options.

        known: names that are no mistake in a link though they are no option here.
        """
        selected = tuple(self._state(name))
        for value in selected:
            if value not in known:
                st.warning(
                    escape_markdown(f"The link asks for {name} {value!r}, which is not known, so it is ignored.")
                )
        selected = tuple(value for value in selected if value in known)
        box = f"{self._key(name)}.several"
        st.session_state[box] = [value for value in options if value in selected]
        hidden = [value for value in selected if value not in options]

        def update() -> None:
            st.session_state[self._key(name)] = [value for value in known if value in (*st.session_state[box], *hidden)]

        st.multiselect(label, options, format_func=_shown(show), key=box, on_change=update, wrap=True, **kwargs)
        self._values[name] = selected
        return tuple(value for value in options if value in selected)

    def slider(self, name: str, label: str, options: Sequence[int], **kwargs: Any) -> int:
        """A slider over given whole numbers; nothing to slide where there is only one."""
        self._ensure_offered(name, options)
        if len(options) < 2:
            return int(self.get(name))
        value = int(st.select_slider(label, options, key=self._key(name), **kwargs))
        self._values[name] = value
        return value

    def span(self, first: str, last: str, label: str, count: int, **kwargs: Any) -> None:
        """A slider with two ends over 0 to count - 1. Two fields hold them; at its end the second one holds -1."""
        start, end = int(self.get(first)), int(self.get(last))
        end = count - 1 if end == -1 else end
        if not 0 <= start <= end < count:
            st.warning(
                escape_markdown(
                    f"{label}: the link asks for {start} to {end}, but there are only {count}; all are shown."
                )
            )
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

        st.slider(label, 0, count - 1, key=slider, on_change=update, **kwargs)

    def toggle(self, name: str, label: str, **kwargs: Any) -> bool:
        """A switch."""
        self._state(name)
        self._values[name] = st.toggle(label, key=self._key(name), **kwargs)
        return bool(self._values[name])

    def fixed(self, name: str, options: Sequence[Any]) -> Any:
        """No picker, as there is nothing to choose; warns where a link asks for another value."""
        self._ensure_offered(name, options)
        return self.get(name)

    def box(self, name: str, content: Any = None) -> str:
        """The key of a box that changes its field by `typed`, as a form does; it holds the field's value, or `content`.

        Told its value and no key, a box would be another one once that changes, and what is typed into it next be lost.
        """
        key, value = f"{self._key(name)}.box", self.get(name)
        if key not in st.session_state or st.session_state[f"{key}.of"] != value:
            st.session_state[key] = value if content is None else content
            st.session_state[f"{key}.of"] = value
        return key

    def typed(self, name: str, value: Value) -> None:
        """A value that was typed into the field's box, which stays as it is."""
        self.set(name, value)
        st.session_state[f"{self._key(name)}.box.of"] = value

    def set(self, name: str, value: Value) -> None:
        """A value that no picker of ours holds (a form's text, a saved probe's id)."""
        self._values[name] = value
        st.session_state[self._key(name)] = value

    def set_initial(self, name: str, value: Value, offered: Collection[Any]) -> None:
        """The value of a reader who comes by no link, where it is offered: a link without it means the default."""
        if self.fresh and value in offered:
            self.set(name, value)

    def get(self, name: str) -> Any:
        """The value a link or an earlier `set` gave."""
        selected = self._state(name)
        self._values[name] = tuple(selected) if isinstance(selected, list) else selected
        return self._values[name]

    def values(self) -> dict[str, Value]:
        """The state so far; fields that no picker has asked for yet are as the link has them."""
        return {name: self.get(name) for name in self._values}

    def done(self) -> dict[str, Value]:
        """Writes the state into the URL and returns it."""
        parameters = self.view.parameters(self._values)
        if parameters != {name: st.query_params.get_all(name) for name in st.query_params}:
            st.query_params.from_dict(parameters)
        st.session_state[self._key("written")] = parameters
        return dict(self._values)
