"""The live probe service: one owner of models, of the line before the device, and of results. Knows no Streamlit."""

from dashboard.service.owner import Live, Service

__all__ = ["Live", "Service"]
