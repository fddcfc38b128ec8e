"""English: dates as on all of Kith's pages, instead of "Nov. 29, 2026, 10:24 p.m."."""

DATE_FORMAT = "j F Y"
DATETIME_FORMAT = "j F Y, H:i"
TIME_FORMAT = "H:i"
