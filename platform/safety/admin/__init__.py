"""Operators' pages, and the base classes and columns for the admin of models that contain people's words."""

from safety.admin import people, providers, records
from safety.admin.actions import ActionAdmin
from safety.admin.columns import (
    code_column,
    code_filter,
    data_column,
    describe_name,
    filled_filter,
    link,
    marks,
    may_open,
    moment,
    number,
    state,
    yes_filter,
)
from safety.admin.private import PrivateAdmin
from safety.descriptions import link_to

__all__ = [
    "ActionAdmin",
    "PrivateAdmin",
    "code_column",
    "code_filter",
    "data_column",
    "describe_name",
    "filled_filter",
    "link",
    "link_to",
    "marks",
    "may_open",
    "moment",
    "number",
    "people",
    "providers",
    "records",
    "state",
    "yes_filter",
]
