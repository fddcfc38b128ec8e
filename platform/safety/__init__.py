"""What protects people: notices, checks of what is written to them, and the record of what operators looked at."""
