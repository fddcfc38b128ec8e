"""Outside model services, and the models that come with Kith."""

import os

# Read once, as the libraries are loaded. On two busy cores a short text took 115 ms with OpenBLAS's own threads
# and 15 ms without: many texts run side by side in Kith's worker threads, so one text needs no second core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
