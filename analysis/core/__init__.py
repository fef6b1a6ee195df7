"""What everything else rests on: errors, settings, registries, formatting, provenance. Imports nothing else of
Addend."""
