"""Life between talks: timers, wakings, reflection, drives, and how what a companion says reaches its person."""
