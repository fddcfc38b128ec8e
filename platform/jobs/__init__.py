"""Plumbing of background work: threads, tasks, leases on rows, retries, a sandbox. It knows nothing of Kith."""
