"""python -m analysis keep-opening-results: renews the stored results that the tabs of Look inside open with."""

import typer


def keep_opening_results() -> None:
    """Runs what the tabs of Look inside open with, and stores the results in place of those that are there."""
    from analysis.probes import opening_results

    kept = opening_results.renew()
    typer.echo(f"Stored {len(kept)} results. Then renew the checksums: python -m analysis checksums")
