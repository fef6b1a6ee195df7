"""Term statistics over images, and how alike a model's patch positions are: two results files."""

import hashlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from analysis.core.provenance import model_options
from analysis.measurements.terms.corpus import SEED, InputMeasures, draws_of, measure_layers, rows_of
from analysis.measurements.terms.image_result import similarity
from analysis.measurements.terms.images import checked_patches, prepare
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
    pixels = [hashlib.sha256(image.tobytes()).hexdigest() for image in images]
    unfinished = PartialResults(kind="terms", **loaded.facts(), images=pixels)
    for index in each if each is not None else range(len(images)):
        with family.showing(loaded.model, masked=False):  # all patches, also of a masked autoencoder
            given = prepare(loaded.model, family, loaded.tokenizer, images[index])
            measured.append(measure_layers(loaded, family, given.inputs, "activation", unfinished, index))
    count = len(measured)
    draws = draws_of(np.arange(count))
    bias_terms = family.bias_terms(loaded.model.config)
    rows = [
        row
        for layer in range(len(measured[0]))
        for row in rows_of([one[layer] for one in measured], layer, draws, bias_terms)
    ]
    columns = {column: [row[column] for row in rows] for column in rows[0]}
    columns["corpus"] = [corpus] * len(rows)
    grid = given.grid
    source = loaded.source
    about: dict[str, Any] = {**loaded.facts(called), "seed": SEED}
    held = "activation" if family.gated(loaded.model.config) else None
    place = {
        "rows": grid[0],
        "columns": grid[1],
        "trained": family.trained(loaded.model),
        "family": family.title,
        "freeze": held,
    }
    spread = {"resamples": RESAMPLES, "interval_percent": INTERVAL[1] - INTERVAL[0], "clusters": count}
    named = model_options(source.name, source.revision, called)
    command = f"python -m analysis measure images {named}"
    seconds = time.perf_counter() - started
    terms = files.write(
        "terms",
        columns,
        files.Run(
            kind="terms",
            command=command,
            config={
                **spread,
                **place,
                "longest_tenth": 1 / count,
                "layers": len(measured[0]),
                "resumed": unfinished.resumed,
            },
            seconds=seconds,
            **about,
        ),
        name=name,
    )
    cosines = similarity(family.patch_positions(loaded.model, given.inputs["pixel_values"]).cpu().numpy())
    positions = files.write(
        "patch_positions",
        {"patch": range(len(cosines)), "similarity": list(cosines.astype(np.float32))},
        files.Run(kind="patch_positions", command=command, config=place, seconds=seconds, **about),
        name=name,
    )
    unfinished.discard()
    return terms, positions
