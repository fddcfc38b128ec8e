// Small things kept in this browser. Without storage everything works, only nothing is kept.

const PRIVATE = ["kith.draft.", "kith.unsent.", "kith.recording.", "kith.attached."];

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
      if (PRIVATE.some((one) => name.startsWith(one))) localStorage.removeItem(name);
    }
  } catch {
    // nothing was kept
  }
}
