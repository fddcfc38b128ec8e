"""How fast timers are claimed, and what a tick costs that finds nothing due."""
