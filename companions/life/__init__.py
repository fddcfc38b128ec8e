"""A companion's life between talks: timers, wakings, reflection, drives, and delivery of what it says unprompted."""
