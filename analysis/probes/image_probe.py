"""Probes of images: a drawn one, or a reader's own, run through a model now. None is saved."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar

from analysis.core.errors import ImageError
from analysis.core.provenance import model_options
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.models import random_vit_name as random_vit
from analysis.probes.drawn_images import IMAGES, Picture, open_upload


@dataclass(frozen=True, kw_only=True)
class ImageRequest:
    """What a probe of an image asks: a model, an image and a layer.

    model: as `analysis.models.source.resolve` takes it, or the tiny ViT with random weights.
    image: the name of a drawn image or, where `uploaded` holds a file's bytes, that file's name.
    masked: whether a masked autoencoder hides patches as it did in training.
    """

    head: ClassVar[bool] = False
    model: str
    image: str
    layer: int = 0
    revision: str | None = None
    masked: bool = False
    uploaded: bytes | None = None

    @classmethod
    def of(cls, params: Mapping[str, Any], uploaded: tuple[str, bytes] | None = None) -> "ImageRequest":
        """What the parameters of a link ask, or what they ask of an uploaded file (name, bytes)."""
        return cls(
            model=str(params["model"]),
            image=uploaded[0] if uploaded else str(params["image"]),
            layer=int(params["layer"]),
            revision=str(params["revision"]) or None,
            masked=bool(params["masked"]),
            uploaded=uploaded[1] if uploaded else None,
        )

    @property
    def title(self) -> str:
        """What the image is called: a drawn one by its name, a reader's by its file's, said to be uploaded."""
        return self.image if self.uploaded is None else f"uploaded {self.image}"

    def picture(self) -> Picture:
        """The image. Raises ImageError where the name is of no drawn one, or the file is no image to probe."""
        if self.uploaded is not None:
            return open_upload(self.uploaded, self.image)
        if self.image not in IMAGES:
            raise ImageError(f"There is no drawn image {self.image!r}; there are: {', '.join(IMAGES)}.")
        return IMAGES[self.image].draw()

    def place(self) -> tuple[str, str | None]:
        """The model as it was asked for."""
        return self.model.strip(), self.revision

    def find(self, progress: Callable[[str], None] = lambda _: None, *, fetch: bool = True) -> Any:
        """Where the model's files are; fetch: whether they may be downloaded."""
        if self.model.strip() == random_vit.NAME:
            from analysis.models.random_vit import SOURCE

            return SOURCE
        from analysis.models.source import resolve

        return resolve(self.model, self.revision, progress, fetch=fetch)

    def load(self, progress: Callable[[str], None] = lambda _: None, result: Any = None) -> Any:
        """The model; `result` is where its files are, where the caller knows it already."""
        result = result or self.find(progress)
        if result.name == random_vit.NAME:
            from analysis.models.random_vit import random_vit as build

            return build()
        from analysis.models.load import load

        return load(result, progress=progress)

    def run(self, loaded: Any = None) -> ImageDecomposition:
        """Decomposes the image; `loaded` is the model, where the caller holds it already."""
        picture = self.picture()
        from analysis.measurements.terms.images import decompose_image

        loaded = loaded or self.load()
        return decompose_image(
            loaded.model,
            loaded.tokenizer,
            picture,
            self.layer,
            masked=self.masked,
            title=self.title,
            name=loaded.source.name,
            revision=loaded.source.revision,
        )


def obtain(params: Mapping[str, Any]) -> ImageDecomposition:
    """The image a link asks for, taken apart now."""
    return ImageRequest.of(params).run()


def command(decomposition: ImageDecomposition) -> str:
    """The command that makes a decomposition again."""
    about = decomposition.provenance
    name = about.text.removeprefix("uploaded ")
    parts = [f"python -m analysis probe-image {model_options(about.model, about.revision)} --image {quote(name)}"]
    if decomposition.masked:
        parts.append("--masked")
    return " ".join([*parts, f"--layer {decomposition.layer}"])


def named(image: str) -> tuple[str, bytes] | None:
    """The file that a name means on this machine (its name, its bytes); None where it is that of a drawn image."""
    path = Path(image).expanduser()
    if image in IMAGES or not path.is_file():
        return None
    try:
        return path.name, path.read_bytes()
    except OSError as refused:
        raise ImageError(f"{image} cannot be read ({refused.strerror}); make it readable.") from None
