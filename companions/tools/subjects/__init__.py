"""The tools, a module for each subject; `documents` is a part of the tool `look_up`."""
