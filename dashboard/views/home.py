"""Home: the question, the answer in a few sentences with their evidence, and how sure each part of it is."""

from dashboard.session import queries
from dashboard.widgets import home_page

home_page.draw(queries.front_page())
