"""Simplified Chinese: Django puts nothing between the thousands, so that 1284000 must be counted out."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
