"""A companion's life between talks: timers, wakings, reflection, and delivery of what it says unprompted.

timers       when it wakes: timers, and schedules as people and models write them
triggers     occasions to wake by itself
wakings      one waking, from its claim to its end in speech or silence
eligibility  whether it may wake, and whether it may write first now
outreach     unread messages, and their delivery over other channels
inner_state  how it feels and sees the present, and the mood of a session
first_state  the first one, without a model
reflection   revises the inner state every twelve turns
log          what it did by itself and why, for its person
leases       all rows that workers lease
clock        brings back what a wrong clock put off
"""
