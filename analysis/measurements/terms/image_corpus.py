"""Term statistics over images, and how alike a model's patch positions are: two results files."""

import hashlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from analysis.measurements.terms.corpus import SEED, InputMeasures, draws_of, measure_layers, rows_of
from analysis.measurements.terms.image_result import similarity
from analysis.measurements.terms.images import Prepared, checked_patches, prepare
from analysis.models.load import Loaded
from analysis.statistics.resampling import INTERVAL, RESAMPLES
from analysis.store import files
from analysis.store.unfinished import PartialResults


def measure_images(
    loaded: Loaded,
    images: Sequence[Image.Image],
    corpus: str,
    *,
    called: str | None = None,
    name: str | None = None,
    each: Iterable[int] | None = None,
) -> tuple[Path, Path]:
    """Shares and effects at every layer over all images, and the cosines of patch positions; returns both paths.

    Pooling and intervals are as in `analysis.measurements.terms.corpus.measure_corpus`, an image in the place of a
    text; every image is independent of the others. called: what the model is named in the results, else as it was
    found.
    """
    started = time.perf_counter()
    family = checked_patches(loaded.model, loaded.source.name)
    measured: list[list[InputMeasures]] = []
    prepared: Prepared | None = None
    pixels = [hashlib.sha256(image.tobytes()).hexdigest() for image in images]
    unfinished = PartialResults(kind="terms", **loaded.facts(), images=pixels)
    for index in each if each is not None else range(len(images)):
        with family.showing(loaded.model, masked=False):  # all patches, also of a masked autoencoder
            prepared = prepare(loaded.model, family, loaded.tokenizer, images[index])
            measured.append(measure_layers(loaded, family, prepared.inputs, "activation", unfinished, index))
    assert prepared is not None  # there is an image at least
    count = len(measured)
    draws = draws_of(np.arange(count))
    bias_terms = family.bias_terms(loaded.model.config)
    rows = [
        row
        for layer in range(len(measured[0]))
        for row in rows_of([item[layer] for item in measured], layer, draws, bias_terms)
    ]
    place = {
        "rows": prepared.grid[0],
        "columns": prepared.grid[1],
        "trained": family.trained_grid(loaded.model),
        "family": family.title,
        "freeze": "activation" if family.gated(loaded.model.config) else None,
    }
    over = {
        "resamples": RESAMPLES,
        "interval_percent": INTERVAL[1] - INTERVAL[0],
        "clusters": count,
        **place,
        "longest_tenth": 1 / count,
        "layers": len(measured[0]),
        "resumed": unfinished.resumed,
    }
    about: dict[str, Any] = {
        "command": loaded.command("measure images", called),
        **loaded.facts(called),
        "seed": SEED,
        "seconds": time.perf_counter() - started,
    }
    terms = files.write_rows(rows, files.Run(kind="terms", config=over, **about), name=name, shared={"corpus": corpus})
    cosines = similarity(family.patch_positions(loaded.model, prepared.inputs["pixel_values"]).cpu().numpy())
    patches = [{"patch": patch, "similarity": row} for patch, row in enumerate(cosines.astype(np.float32))]
    positions = files.write_rows(patches, files.Run(kind="patch_positions", config=place, **about), name=name)
    unfinished.discard()
    return terms, positions
