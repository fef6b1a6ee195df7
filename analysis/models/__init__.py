"""Models: where they come from, which are refused and why, and what each family is made of."""
