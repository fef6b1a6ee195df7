"""A trained position table, read from a real model's weights without loading the model."""

import os
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from analysis.core.errors import AddendError, ModelError
from analysis.encodings.encoding import Encoding, Option, Table, register

TENSOR = "embeddings.position_embeddings.weight"


def read_table(folder: Path) -> Table:
    """The whole position table in a folder's model.safetensors. ModelError if there is none that NumPy can read."""
    path = folder / "model.safetensors"
    if not path.is_file():
        raise ModelError(f"There is no file {path}; give a folder that holds a model's model.safetensors.")
    try:
        with safe_open(path, framework="numpy") as weights:
            # Some models put their own name first, as in bert.embeddings...
            names = [name for name in weights.keys() if name == TENSOR or name.endswith(f".{TENSOR}")]  # noqa: SIM118
            if len(names) != 1:
                raise ModelError(
                    f"The file {path} holds {len(names)} tensors named {TENSOR}, not one; "
                    "give a model with a learned position table, such as BERT's family."
                )
            return weights.get_tensor(names[0]).astype(np.float64)
    except (SafetensorError, TypeError) as error:  # TypeError: bfloat16, which NumPy lacks
        raise ModelError(f"The file {path} cannot be read ({error}); save the model again in float32.") from error


def embedded_folder() -> Path:
    """The folder of the model that comes with the product."""
    from analysis.core import default_model  # only when asked for: every other encoding does without it

    return default_model.folder()


def table(length: int, dim: int, *, folder: str | os.PathLike[str] | None) -> Table:
    """The first `length` rows. AddendError where the model has fewer rows, or another width: nothing is cropped."""
    rows = read_table(embedded_folder() if folder is None else Path(folder))
    limit, width = rows.shape
    if length > limit:
        raise AddendError(f"The length {length} is beyond this model's {limit} positions; choose {limit} or fewer.")
    if dim != width:
        raise AddendError(f"The dim {dim} is not the width of this model's table, {width}; choose {width}.")
    return rows[:length]


def nearest(length: int, dim: int) -> tuple[int, int]:
    """No more rows than the embedded model has, and its width."""
    rows, width = read_table(embedded_folder()).shape
    return min(length, rows), width


register(
    Encoding(
        name="learned",
        title="Learned",
        summary="One trained vector per position, and none beyond the end of its table.",
        enters="added",
        paper="Devlin et al. 2019, BERT: Pre-training of Deep Bidirectional Transformers, NAACL",
        key="devlin2019bert",
        learned=True,
        rows="position",
        columns="the model's hidden dimensions, in no order",
        note="A trained table: by default that of all-MiniLM-L6-v2, as it is before the embedding LayerNorm.",
        make_table=table,
        make_nearest=nearest,
        options={
            "folder": Option(default=None, meaning="folder of another model's model.safetensors, on this machine")
        },
    )
)
