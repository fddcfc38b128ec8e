"""The tools, a module for each subject, which lists them in its `TOOLS`; `documents` is a part of the tool `look_up`."""
