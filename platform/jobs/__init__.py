"""Background work: a thread, a task, a row taken on a lease, a retry. It knows nothing of Kith."""
