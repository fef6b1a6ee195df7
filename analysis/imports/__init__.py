"""Results that readers bring: read, checked row by row, shown before anything is written, and stored as imported.

`readers/` has one file per form; `plan` makes of files what would be added, and adds it whole or not at all.
"""
