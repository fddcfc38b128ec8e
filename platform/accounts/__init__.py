"""Users, API tokens, invitations, usage and limits.

authentication  by session or bearer token; the language and time zone of who is authenticated
signup          who may sign up, invitations, and the creation of accounts
mfa             the second step of signing in
pages           signing in, and a person's own settings
limits          what each person may do at once, per minute and per day
idempotency     a request that is sent again is carried out once
time_zones      time zones by the names of cities
"""
