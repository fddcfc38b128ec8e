"""Where the parts are put together: settings, URLs, ASGI, Celery, `up`."""
