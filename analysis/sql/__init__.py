"""Readers' own SQL over the stored results, run where it can do no harm.

`ask.ask` runs one SELECT in a child process on a copy of the store without saved probes; `limits` holds every bound.
"""
