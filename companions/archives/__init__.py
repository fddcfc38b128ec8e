"""Export a whole companion to one ZIP file, and restore it: `docs/archive.md` describes the format.

sections   what is archived: the fields of each table, listed one by one, and what is left out, with the reason
shapes     checks of JSON fields
values     read a row of an archive: check it field by field, and replace its ids with new ones
journal    read rows of the journal, which contain rows themselves
contents   check the files in an archive by their kind
export     write the ZIP file from one snapshot of the database, as a stream
manifest   read and check an archive's list of contents, and describe it in plain words
limits     check a restored companion, and what its user has, against the limits of this Kith
restore    create a companion from an archive, in one transaction
uploads    keep an uploaded archive, preview it, and have a worker restore it, which may be killed at any line
"""
