"""Outside model services, and the models that come with Kith.

models         the providers that operators and people have entered (chat_provider: what is needed to ask one)
selection      which of them are in force (admission: which may be asked now; discovery: which models there are)
chat           talking with a model (tokens: how much is sent; rehearsal: the model without a model)
embedding      texts as vectors
speech         a sentence as sound; transcription, the reverse; sound_server, what both ask; sound, what both handle
engine         the server of a model file on this machine; downloads, how such files are fetched
http           how requests go out (errors: what may go wrong; failures: what that means for whoever runs Kith)
"""

import os

# The libraries read these once, when they are loaded. Kith's worker threads embed many texts in parallel, so one text
# needs no second core: on two busy cores, OpenBLAS's own threads made it eight times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
