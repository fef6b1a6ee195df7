"""Ways of combining word and position, one small file each.

>>> VARIANTS["bert_a"].settings["combine"]
'add'
"""

from analysis.ablation.variants.base import VARIANTS, Variant
from analysis.registry import import_all

__all__ = ["VARIANTS", "Variant"]

import_all(__name__)
