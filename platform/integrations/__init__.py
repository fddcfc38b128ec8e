"""Other front doors to the same rooms."""
