"""Home: the question, the answer in a few sentences with their evidence, and how sure each part of it is."""

from analysis.narrative.answer.cards import front_page
from dashboard.widgets import home_page

home_page.draw(front_page())
