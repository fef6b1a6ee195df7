"""The page Look inside: its form, and one module for each of its tabs."""
