"""A whole companion as one ZIP file, and back: `docs/archive.md` tells the format.

sections   what travels: for each table the fields, named one by one, and what stays behind, and why
values     a row from the file, checked field by field, with new ids in place of those it had
journal    rows of the journal, which hold rows themselves
export     the file, made from one snapshot and sent as a stream
manifest   what a file says of itself, checked, and told in plain words
restore    a companion of a file: all of it in one transaction, or nothing
uploads    a file that came: kept, looked at, and restored by a worker that may be killed at any line
"""
