"""Where the parts are put together: settings, URLs, ASGI, Celery, `up`."""

import gc

# Python's 700, 10, 10 looks through everything that was imported so far again and again while a process starts, a fifth
# of what that takes, and stops all streams of a busy one for 50 ms every other second.
gc.set_threshold(20_000, 20, 50)
