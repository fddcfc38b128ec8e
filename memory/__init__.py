"""What is remembered, and how it comes to mind. Nothing here knows a companion but by its key."""
