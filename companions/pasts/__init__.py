"""Earlier talk from files of other programs: previewed, imported with its own dates, learnt from at night, and undone.

plan        what the talks of a file become: messages with roles, times, sessions and alternatives; pure functions
uploads     uploaded files, kept while their user looks at them
preview     what an import would do, in plain words
imports     saving an import's messages in batches; resumes after a crash at any point
placement   where messages go in a conversation: into its chosen path by their times, alternatives on branches
budget      how many tokens learning from an import may spend in a night
learning    learning from an import's sessions, one after the other
undo        deleting an import with all that was drawn from it

log_import    a log that a program sends, imported at once
job_progress  how far a job is: the import of a log or a past, or the closing of a session

The files are read by the package `pasts`, which knows nothing of Kith.
"""
