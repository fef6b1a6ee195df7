# Addend for strangers (dashboard/hosting/README.md). Built and run:
#   docker build -t addend --build-arg CODE=$(git rev-parse --short=12 HEAD) . && docker run -p 8501:8501 -e ADDEND_PUBLIC_URL=https://addend.example.org addend
# --build-arg INSTALL=results leaves PyTorch and the live pages out.
# --build-arg PIP_EXTRA_INDEX_URL=... takes PyTorch from another index, such as that of its builds without CUDA.
# For a build that comes out the same each time, name the base by its digest: --build-arg BASE=python:3.11-slim@sha256:...
# (docker buildx imagetools inspect python:3.11-slim prints it).
ARG BASE=python:3.11-slim
FROM ${BASE}

# Letters that the exports' own font lacks; it comes with requirements-results.txt.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 addend && mkdir /addend /var/lib/addend && chown addend /addend /var/lib/addend
USER addend
WORKDIR /addend

# The packages before the code: a change of the code builds anew in seconds.
ARG INSTALL=models
ARG PIP_EXTRA_INDEX_URL
ENV ADDEND_VENV=/addend/.venv PIP_NO_CACHE_DIR=1
COPY --chown=addend install.sh requirements*.txt requirements.lock requirements-results.lock ./
RUN bash install.sh "$INSTALL"

COPY --chown=addend . .
ENV PATH=/addend/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 \
    ADDEND_HOSTED=1 ADDEND_STORE=/var/lib/addend/addend.duckdb HF_HOME=/var/lib/addend/models
# Exports say which code made them; there is no git here to ask.
ARG CODE=unknown
RUN echo "$CODE" > CODE && python -m analysis sync

EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://localhost:8501/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "dashboard/server.py", "--server.port", "8501", "--server.address", "0.0.0.0", "--server.fileWatcherType", "none"]
