"""Statements, into which the claims are split, and the verdicts of the rules on each.

The rules are files (`analysis/rules`): some judge trainings and were frozen before these, the others judge
measurements and published tables. `judge.judge(ask)` puts every statement to a store while it is built; the tables
`statements`, `readings`, `superseded`, `standings` and `changes` and the view `claims` hold the outcome. `stored` reads
it back, and judges nothing.
"""

from analysis.claims.statements.judgement import CONTRADICTED, MIXED, OPEN, SIGNS, SUPPORTED, WORDS, Judgement, Reading

__all__ = ["CONTRADICTED", "MIXED", "OPEN", "SIGNS", "SUPPORTED", "WORDS", "Judgement", "Reading"]
