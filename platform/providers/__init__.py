"""Outside model services, and the models that come with Kith."""

import os

# The libraries read these once, when they are loaded. Kith's worker threads embed many texts in parallel, so one text
# needs no second core: on two busy cores, OpenBLAS's own threads made it eight times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
