"""Where the system's Chromium is; None where it has none. The one without windows draws pages with half the work."""

import shutil

WITH_WINDOWS = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMIUM = shutil.which("chromium-headless-shell") or WITH_WINDOWS
