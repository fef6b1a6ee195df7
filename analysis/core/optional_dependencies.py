"""Checks what is installed. Stored results need requirements-results.txt, models also requirements-models.txt."""

from importlib.util import find_spec

from analysis.core.errors import NotInstalled

FOR_MODELS = ("torch", "transformers", "tokenizers", "huggingface_hub", "httpx2")
"""The modules of `requirements-models.txt`, without which no model runs."""
REMEDY = "pip install -r requirements.txt"


def missing_packages(modules: tuple[str, ...] = FOR_MODELS) -> list[str]:
    """The names of those modules that cannot be imported here. Imports none of them."""
    return [name for name in modules if not _is_importable(name)]


def _is_importable(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # an importer that refuses, or a module that is half there
        return False


def models_can_run() -> None:
    """Raises NotInstalled, with the remedy, where what models need is not installed."""
    if missing := missing_packages():
        raise NotInstalled(
            f"This needs a model run now, and this installation holds stored results only: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed. Run: {REMEDY}. Stored results, exports and SQL "
            "work without."
        )
