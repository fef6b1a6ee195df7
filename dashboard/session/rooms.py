"""The rooms of the dashboard: what the list at the left names, and the pages inside each."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from analysis.moved_links import MOVED


@dataclass(frozen=True)
class Room:
    """One entry of the list. pages: their paths, as in addresses; the entry leads to the first."""

    title: str
    icon: str
    pages: tuple[str, ...]

    @property
    def former(self) -> tuple[str, ...]:
        """Paths of pages that are a part of one of this room's now, which they lead to."""
        return tuple(old for old, (today, _) in MOVED.items() if today in self.pages)

    def shown(self, current_page: str) -> str:
        """The page that the entry leads to: the current one, where it is in this room, so that it is marked."""
        return current_page if current_page in self.pages else self.pages[0]


ROOMS: tuple[Room, ...] = (
    Room("Answer", "home", ("",)),
    Room("Guided tour", "auto_stories", ("read",)),
    Room("Claims", "fact_check", ("claims",)),
    Room("Experiments", "show_chart", ("experiments",)),
    Room("Which encoding?", "checklist", ("choose",)),
    Room("Geometry", "architecture", ("geometry",)),
    Room("Look inside", "grid_on", ("inside",)),
    Room("Data", "database", ("runs", "sql", "import", "about")),
)
"""The rooms in the order of the list."""
FOOTER = "status"
"""The page that every page links to, and no room holds."""


def room_of(page: str) -> Room | None:
    """The room that a page is in; None for the page of the footer."""
    return next((room for room in ROOMS if page in room.pages + room.former), None)


def path_of(address: str | None) -> str:
    """The page that an address names: `depth` of https://host/base/depth?x=1. Empty where there is none."""
    return urlsplit(address or "").path.rstrip("/").rpartition("/")[2]
