"""Ways of combining word and position, one small file each.

>>> VARIANTS["bert_a"].settings["combine"]
'add'
"""

from analysis.ablation.variants.base import VARIANTS, Variant
from analysis.core.registry import import_all

__all__ = ["VARIANTS", "Variant", "title"]

import_all(__name__)


def title(variant: str) -> str:
    """A variant's name on screen; one that is not ours is called what it is."""
    return VARIANTS[variant].title if variant in VARIANTS else variant
