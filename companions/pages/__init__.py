"""The pages of a person's own companions. What belongs to somebody else gives 404."""
