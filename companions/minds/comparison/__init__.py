"""A comparison of two models: both answer a companion's newest exchanges.

comparison  begins it, and lets both models answer
measures    each answer in numbers
statistics  whether two models differ
report      the comparison in numbers and in plain words
"""
