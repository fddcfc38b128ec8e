"""Two long books made from templates, and whether ten questions about each find their page."""
