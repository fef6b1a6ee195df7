"""The tabs of Experiments."""
