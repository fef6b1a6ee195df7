"""The base of all other modules: errors, settings, registries, formatting, provenance. Imports no other module."""
