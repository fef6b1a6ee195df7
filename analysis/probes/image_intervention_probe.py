"""What a reader asks of a model of images: an image and interventions. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from analysis.measurements.interventions.result import ImageInterventionResult
from analysis.probes.image_probe import ImageRequest
from analysis.probes.intervention_probe import specs


@dataclass(frozen=True)
class ImageInterventionRequest(ImageRequest):
    """An image under interventions."""

    interventions: tuple[str, ...] = ()

    @classmethod
    def of(cls, params: Mapping[str, Any], uploaded: tuple[str, bytes] | None = None) -> Self:
        """What the parameters of a link ask, or what they ask of an uploaded file (name, bytes)."""
        return cls(**vars(ImageRequest.of(params, uploaded)), interventions=specs(params))

    def run(self, loaded: Any = None) -> ImageInterventionResult:
        """Runs the image before and after."""
        picture = self.picture()
        from analysis.measurements.interventions.images import intervene_image

        return intervene_image(
            loaded or self.load(),
            picture,
            self.interventions,
            self.layer,
            masked=self.masked,
            title=self.title,
        )
