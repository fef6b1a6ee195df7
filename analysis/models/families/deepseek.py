"""DeepseekV2, V3 and kin: multi-head latent attention (MLA), whose heads lie side by side in two parts.

A head's query and key are [content; turned]: the content part comes out of a narrow latent that all heads share and is
never turned, the other part is turned, and its key is one for all heads. A score is the sum of both parts' products, so
that the position map has the content part as `not turned`; terms are those of the two parts together.

Experts are chosen by the whole hidden state: the choice and its weights are held, as attention patterns are.
"""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama


class Deepseek(Llama):
    """DeepseekV3Model (DeepSeek-AI 2024b) and those with its attention."""

    title = "DeepSeek-V3"


FAMILIES.add("deepseek_v3", Deepseek())
FAMILIES.add("deepseek_v2", Deepseek("DeepSeek-V2"))
for architecture, title in (
    ("youtu", "Youtu"),
    ("glm4_moe_lite", "GLM-4 MoE lite"),
    ("minicpm3", "MiniCPM3"),
    ("mistral4", "Mistral 4"),
    ("axk1", "A.X-K1"),
):
    FAMILIES.add(architecture, Deepseek(title))
