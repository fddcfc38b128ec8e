"""Work of this process that no request waits for: tasks apart from whoever began them."""

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any

TASKS: set[asyncio.Task[None]] = set()


def run_in_background(work: Coroutine[Any, Any, None]) -> None:
    """Run the coroutine as a task with a context of its own."""
    task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)
