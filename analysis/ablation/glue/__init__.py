"""The GLUE tasks and one of our own: what they are, how their files are read, how a model is fine-tuned and scored.

>>> data = read_task(TASKS["rte"], "glue")  # the folder that holds RTE/
>>> data.data
'official'

Nothing here imports torch but `finetune`, which is imported by its own name.
"""

from analysis.ablation.glue.examples import Split, TaskData
from analysis.ablation.glue.read import read_task
from analysis.ablation.glue.tasks import TASKS, GlueTask

__all__ = ["TASKS", "GlueTask", "Split", "TaskData", "read_task"]
