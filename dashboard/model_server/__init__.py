"""The live probe service: one owner of models, of the queues before them, and of results. Knows no Streamlit."""

from dashboard.model_server.server import LiveRequest, ModelServer

__all__ = ["LiveRequest", "ModelServer"]
