"""Moving: everything of a companion taken along as a file, and other systems' memories moved in and out.

archive       all of one companion, as JSON, piece by piece
digital_life  DigitalLife's own eight fields; digital_life_import and digital_life_export go both ways
"""
