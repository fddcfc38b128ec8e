"""Safety: notices to people, checks of what companions write unasked, operators' rights, and their audit trail."""
