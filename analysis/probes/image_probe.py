"""Probes of images: a drawn one, or a reader's own, run through a model now. None is saved. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

from analysis.core.errors import ImageError
from analysis.core.provenance import model_options
from analysis.links import Values
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.measurements.terms.result import Provenance
from analysis.measurements.terms.stored_image import stored_image
from analysis.models import random_vit
from analysis.probes.drawn_images import IMAGES, Picture, open_upload
from analysis.probes.model_request import ModelRequest, ResultT, silent

if TYPE_CHECKING:
    from analysis.models.load import Loaded
    from analysis.models.source import Source


@dataclass(frozen=True, kw_only=True)
class PictureRequest(ModelRequest[ResultT]):
    """A request for a result of a model on an image. The model may be the tiny ViT with random weights, too.

    image: the name of a drawn image or, where `uploaded` holds a file's bytes, that file's name.
    masked: whether a masked autoencoder hides patches as it did in training.
    """

    image: str
    layer: int = 0
    masked: bool = False
    uploaded: bytes | None = None

    @classmethod
    def of(cls, values: Values, uploaded: tuple[str, bytes] | None = None, **arguments: Any) -> Self:
        """The request that the values of a link make, on an uploaded file (name, bytes) if one is given."""
        file = {"image": uploaded[0], "uploaded": uploaded[1]} if uploaded else {}
        return super().of(values, **file, **arguments)

    @property
    def title(self) -> str:
        """The image's name: that of a drawn one, or "uploaded" and the name of a reader's file."""
        return self.image if self.uploaded is None else f"uploaded {self.image}"

    def picture(self) -> Picture:
        """The image. Raises ImageError where the name is of no drawn one, or the file is no image to probe."""
        if self.uploaded is not None:
            return open_upload(self.uploaded, self.image)
        if self.image not in IMAGES:
            raise ImageError(f"There is no drawn image {self.image!r}; there are: {', '.join(IMAGES)}.")
        return IMAGES[self.image].draw()

    def find(self, progress: Callable[[str], None] = silent, *, fetch: bool = True) -> Source:
        """The source of the model's files; see `ModelRequest.find`."""
        if self.model.strip() == random_vit.NAME:
            from analysis.models.source import check_revision

            source = random_vit.source()
            check_revision(source.name, "is drawn at random here", (self.revision or "").strip(), source.revision)
            return source
        return super().find(progress, fetch=fetch)

    def load(self, progress: Callable[[str], None] = silent, result: Source | None = None) -> Loaded:
        """The model; see `ModelRequest.load`."""
        result = result or self.find(progress)
        if result.name == random_vit.NAME:
            return random_vit.random_vit()
        return super().load(progress, result)


@dataclass(frozen=True, kw_only=True)
class ImageRequest(PictureRequest[ImageDecomposition]):
    """The terms of one layer."""

    @classmethod
    def obtain(cls, values: Values) -> ImageDecomposition:
        """The result that the values of a link ask for: the stored one, else a run now."""
        request = cls.of(values)
        return request.stored() or request.run()

    def stored(self) -> ImageDecomposition | None:
        """The result that the store holds; None where it holds none, for an uploaded file and where patches hide."""
        if self.uploaded is not None or self.masked or self.revision:
            return None
        return stored_image(self.model.strip(), self.image, self.layer)

    def run(self, loaded: Loaded | None = None) -> ImageDecomposition:
        """Decomposes the image. Raises ModelError and ImageError."""
        picture = self.picture()
        from analysis.measurements.terms.images import decompose_image

        return decompose_image(loaded or self.load(), picture, self.layer, masked=self.masked, title=self.title)


def image_command(verb: str, about: Provenance, *options: str, masked: bool) -> str:
    """The command that runs the model of a result on its image again. options: what else it says."""
    image = quote(about.text.removeprefix("uploaded "))
    parts = [f"python -m analysis {verb} {model_options(about.model, about.revision)} --image {image}"]
    return " ".join([*parts, *(["--masked"] if masked else []), *options])


def command(decomposition: ImageDecomposition) -> str:
    """The command that makes a decomposition again."""
    about, layer = decomposition.provenance, f"--layer {decomposition.layer}"
    return image_command("probe-image", about, layer, masked=decomposition.masked)


def local_image_file(image: str) -> tuple[str, bytes] | None:
    """The file that a name means on this machine (its name, its bytes); None where it is that of a drawn image."""
    path = Path(image).expanduser()
    if image in IMAGES or not path.is_file():
        return None
    try:
        return path.name, path.read_bytes()
    except OSError as refused:
        raise ImageError(f"{image} cannot be read ({refused.strerror}); make it readable.") from None
