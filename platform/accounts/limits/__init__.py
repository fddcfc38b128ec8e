"""What each person may do at once, per minute and per day.

admission  visits under way at once
places     the process's few places for work, and the queue for them
rates      requests per minute and hour for expensive work
usage      tokens and seconds of sound, checked before costly work and recorded afterwards
"""
