"""A call: a person and a companion speak with each other, hands free."""
