"""From a cue to the memories that it brings to mind, and why."""
