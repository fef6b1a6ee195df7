"""python -m analysis keep-default-probe: renews the stored result that the page Look inside opens with."""

import typer


def keep_default_probe() -> None:
    """Runs the probe that the page Look inside opens with, and stores it in place of the one that is there."""
    from analysis import store_build
    from analysis.probes import default_probe

    probe_id = default_probe.renew()
    store_build.refresh()
    typer.echo(f"Stored as probe {probe_id}. Then renew the checksums: python -m analysis checksums")
