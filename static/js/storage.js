// Small values kept in this browser's storage. Without storage everything works, but nothing is kept.

const PREFERENCES = ["kith.theme", "kith.recognition", "kith.push.offered"]; // of this browser; all else is words

export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // full or forbidden
  }
}

export function forgetAll() {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith("kith.") && !PREFERENCES.includes(name)) localStorage.removeItem(name);
    }
  } catch {
    // nothing was kept
  }
}
