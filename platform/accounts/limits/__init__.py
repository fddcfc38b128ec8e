"""What each person may do at once, per minute and per day.

admission  visits under way at once, and the queue for the process's places
rates      requests per minute and hour for expensive work
usage      tokens and seconds of sound, checked before costly work and recorded afterwards
"""
