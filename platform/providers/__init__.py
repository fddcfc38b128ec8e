"""Outside model services, and the models that come with Kith."""

import os

# Read once, as the libraries are loaded. Many texts run side by side in Kith's worker threads, so one needs no second
# core: on two busy ones, OpenBLAS's own threads made eight times as long of it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
