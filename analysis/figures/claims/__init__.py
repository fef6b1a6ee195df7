"""The ledger of claims: the page as data, its figures, and how a number stands on a strip."""
