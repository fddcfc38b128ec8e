"""Background work: enqueue a task, take a row on a lease, retry. It knows nothing of Kith."""
