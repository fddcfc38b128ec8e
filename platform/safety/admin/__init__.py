"""Operators' pages, and what the admin of every model that holds people's words is made of."""

from safety.admin import people, providers, records
from safety.admin.private import PrivateAdmin, describe_name, link, link_to, marks, moment, number, state

__all__ = [
    "PrivateAdmin",
    "describe_name",
    "link",
    "link_to",
    "marks",
    "moment",
    "number",
    "people",
    "providers",
    "records",
    "state",
]
