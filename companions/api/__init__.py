"""REST for companions, what is said with them and what they remember. One router a noun."""
