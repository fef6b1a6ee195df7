"""The tasks, one small file each. `TASKS["cola"]` is a `Task`."""

from analysis.ablation.glue.tasks.base import TASKS, Task, Unsplit
from analysis.core.registry import import_all

__all__ = ["TASKS", "Task", "Unsplit"]

import_all(__name__)
