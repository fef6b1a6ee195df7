"""A reader without a browser: one session of a running app over its WebSocket, in Streamlit's own messages.

It does what Streamlit's page does: takes the token that forged requests lack, connects, asks for runs of the script
with the state of every widget it was shown, keeps large messages that the server need not send twice, and writes down
what it is sent. It draws nothing, so that its times end where a browser's work begins.
"""

import asyncio
import random
import time
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

RUN_SECONDS = 120.0
"""A run that takes longer is given up."""
ALERT_ERROR = 1
"""Alert.Format.ERROR: where a page of ours says that something failed."""


class Unanswered(Exception):
    """A run did not end."""


@dataclass
class Shown:
    """What one run of the script sent: elements, seconds from asking to the end, bytes, and what went wrong."""

    elements: list[Any] = field(default_factory=list)
    seconds: float = 0.0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)

    def widgets(self, kind: str) -> list[Any]:
        """Widgets of a kind (`selectbox`, `button_group` ...) outside forms that a reader could use."""
        found = [getattr(one, kind) for one in self.elements if one.WhichOneof("type") == kind]
        return [widget for widget in found if not widget.disabled and not widget.form_id]

    def labelled(self, kind: str, label: str) -> Any:
        """The widget of a kind whose label this is. Raises LookupError."""
        for one in self.elements:
            if one.WhichOneof("type") == kind and getattr(one, kind).label == label:
                return getattr(one, kind)
        raise LookupError(f"the page shows no {kind} {label!r}")


def state_of(element: Any) -> WidgetState | None:
    """The state in which a browser takes up a widget that it is shown; None for what is none, or has no state yet."""
    kind = element.WhichOneof("type")
    widget = getattr(element, kind) if kind else None
    value: dict[str, Any] = {}
    if kind in ("text_input", "text_area"):
        value = {"string_value": widget.value if widget.set_value else widget.default}
    elif kind == "selectbox" and widget.options:
        value = {"string_value": widget.raw_value if widget.set_value else widget.options[widget.default]}
    elif kind == "checkbox":
        value = {"bool_value": widget.value if widget.set_value else widget.default}
    elif kind == "slider":
        if widget.options:
            held = widget.raw_value if widget.set_value else [widget.options[int(one)] for one in widget.default]
            value = {"string_array_value": {"data": held}}
        else:
            value = {"double_array_value": {"data": widget.value if widget.set_value else widget.default}}
    elif kind == "button_group":
        held = widget.raw_values if widget.set_value else [widget.options[one].content for one in widget.default]
        value = {"string_array_value": {"data": held}}
    elif kind == "multiselect":
        held = widget.raw_values if widget.set_value else [widget.options[one] for one in widget.default]
        value = {"string_array_value": {"data": held}}
    return WidgetState(id=widget.id, **value) if value else None


def is_set(element: Any) -> bool:
    """Whether the server says what a widget's state is, over what the browser holds."""
    return bool(getattr(getattr(element, element.WhichOneof("type")), "set_value", False))


def problem_of(element: Any) -> str:
    """What an element says went wrong, or nothing."""
    kind = element.WhichOneof("type")
    if kind == "exception":
        return f"{element.exception.type}: {element.exception.message}"
    if kind == "alert" and element.alert.format == ALERT_ERROR:
        return element.alert.body
    return ""


class Reader:
    """One session. Use as `async with Reader(address) as reader`."""

    def __init__(self, address: str, *, source: str = "127.0.0.1") -> None:
        """address: such as http://localhost:8501. source: the address of this machine to come from."""
        self.address, self.source = address.rstrip("/"), source
        self.page, self.query = "", ""
        self.pages: dict[str, str] = {}
        """Path of a page -> its script's hash, as the navigation says."""
        self._states: dict[str, WidgetState] = {}
        self._kept: dict[str, ForwardMsg] = {}
        self._socket: Any = None

    async def __aenter__(self) -> Self:
        """Connects."""
        token = await asyncio.to_thread(self._token)
        self._socket = await websockets.connect(
            self.address.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=[websockets.Subprotocol(name) for name in ("streamlit", token) if name],
            additional_headers={"Cookie": f"_streamlit_xsrf={token}"},
            origin=websockets.Origin(self.address),
            max_size=None,
            open_timeout=RUN_SECONDS,
            local_addr=(self.source, 0),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leaves."""
        await self._socket.close()

    def _token(self) -> str:
        with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=RUN_SECONDS) as answer:
            cookies = answer.headers.get_all("Set-Cookie") or [""]
        return next((c.split(";")[0].split("=", 1)[1] for c in cookies if c.startswith("_streamlit_xsrf=")), "")

    async def open(self, page: str = "", query: str = "") -> Shown:
        """Goes to a page, as its link in the navigation does, or by its path where no navigation is shown yet."""
        self.page, self.query = page, query
        self._states.clear()
        return await self._run({})

    async def use(self, widget: Any, **value: Any) -> Shown:
        """Gives a widget a value, as a field of WidgetState, and waits for what that shows."""
        return await self._run({widget.id: WidgetState(id=widget.id, **value)})

    async def send(self, button: Any, texts: Mapping[str, str]) -> Shown:
        """Presses the button of a form after the boxes with these ids were filled in."""
        states = {box: WidgetState(id=box, string_value=text) for box, text in texts.items()}
        return await self._run(states | {button.id: WidgetState(id=button.id, trigger_value=True)})

    async def _run(self, changes: Mapping[str, WidgetState]) -> Shown:
        self._states |= changes
        asked = BackMsg()
        client = asked.rerun_script
        client.query_string = self.query
        client.page_script_hash = self.pages.get(self.page, "")
        client.page_name = "" if client.page_script_hash else self.page
        client.widget_states.widgets.extend(self._states.values())
        client.cached_message_hashes.extend(self._kept)
        client.context_info.url = f"{self.address}/{self.page}"
        client.context_info.timezone, client.context_info.locale = "Etc/UTC", "en"
        client.context_info.color_scheme = "light"
        started = time.perf_counter()
        await self._socket.send(asked.SerializeToString())
        shown = Shown()
        try:
            async with asyncio.timeout(RUN_SECONDS):
                while not self._take(await self._socket.recv(), shown):
                    pass
        except TimeoutError:
            raise Unanswered(f"{self.page or 'home'} did not end within {RUN_SECONDS:.0f} s") from None
        except websockets.ConnectionClosed as closed:
            raise Unanswered(f"{self.page or 'home'}: the server closed the session ({closed})") from None
        shown.seconds = time.perf_counter() - started
        self._settle(shown.elements)
        return shown

    def _take(self, payload: bytes, shown: Shown) -> bool:
        """Takes one message in; True for the last one of a run."""
        shown.bytes += len(payload)
        message = ForwardMsg()
        message.ParseFromString(payload)
        if message.WhichOneof("type") == "ref_hash":
            message = self._kept[message.ref_hash]
        elif message.metadata.cacheable:
            self._kept[message.hash] = message
        match message.WhichOneof("type"):
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                shown.elements.append(element)
                if problem := problem_of(element):
                    shown.problems.append(problem)
            case "navigation":
                self.pages = {
                    "" if one.is_default else one.url_pathname: one.page_script_hash
                    for one in message.navigation.app_pages
                }
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "page_not_found":
                shown.problems.append(f"there is no page {message.page_not_found.page_name!r}")
            case "session_event" if message.session_event.WhichOneof("type") == "script_compilation_exception":
                shown.problems.append(message.session_event.script_compilation_exception.message)
            case "script_finished":
                # A script that asks for another run of itself ends early; the reader waits for that run.
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    shown.elements.clear()
                    return False
                return True
        return False

    def _settle(self, elements: Iterable[Any]) -> None:
        """Holds the states of the widgets now on the page: a browser's own, else what the server says."""
        held: dict[str, WidgetState] = {}
        for element in elements:
            if (state := state_of(element)) is not None:
                mine = None if is_set(element) else self._states.get(state.id)
                held[state.id] = mine or state
        self._states = held

    async def click(self, shown: Shown, chance: random.Random) -> Shown | None:
        """Uses one of the page's drop-downs, buttons or sliders, at random; None where it has none."""
        usable: list[tuple[Any, dict[str, Any]]] = []
        for box in shown.widgets("selectbox"):
            if len(box.options) > 1:
                usable.append((box, {"string_value": chance.choice(box.options)}))
        for group in shown.widgets("button_group"):
            if len(group.options) > 1 and group.click_mode == group.SINGLE_SELECT:
                usable.append((group, {"string_array_value": {"data": [chance.choice(group.options).content]}}))
        for slider in shown.widgets("slider"):
            if slider.options:
                usable.append((slider, {"string_array_value": {"data": [chance.choice(slider.options)]}}))
        if not usable:
            return None
        widget, value = chance.choice(usable)
        return await self.use(widget, **value)
