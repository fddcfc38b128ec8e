"""A program that runs another and writes to a file how much memory it had at most, in kilobytes."""

import resource
import subprocess
import sys

report, *command = sys.argv[1:]
code = subprocess.call(command)
with open(report, "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code if code >= 0 else 128 - code)
