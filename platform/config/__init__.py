"""Where the parts are put together: settings, URLs, ASGI, Celery, `up`."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
