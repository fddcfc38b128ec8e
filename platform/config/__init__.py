"""The Django project: settings, URLs, ASGI and Celery applications, the admin's own pages, and `make up`."""

import atexit
import gc

# Python's defaults (700, 10, 10) scan all imported objects again and again: a fifth of the time that a process takes to
# start, and a pause of 50 ms for all streams of a busy one every other second.
gc.set_threshold(20_000, 20, 50)
# As a process ends, Python would scan all objects several times more: a quarter of the time that a command takes.
atexit.register(gc.freeze)
