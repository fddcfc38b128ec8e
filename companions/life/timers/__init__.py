"""Timers: when they are due, how people and models write that, and how it is told.

timers          set, cancel, fire and restart timers, and make wakings of due ones
schedules       schedules as people and models write them
schedule_words  schedules in plain words
"""
