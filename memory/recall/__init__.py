"""Recall: finds the memories that a cue brings to mind, and tells why."""
