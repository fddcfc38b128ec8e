"""What protects people: for now the record of operators looking at private data."""
