"""Fitting and measuring the check of what companions write unprompted."""
