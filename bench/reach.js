/* What cannot be reached: what is wider than the page, and each control that lies outside or under something. */
(menu) => {
  const faults = [];
  const root = document.documentElement;
  const name = (element) => {
    const words = (element.getAttribute("aria-label") || element.textContent || element.name || "").trim();
    return `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""} “${words.replace(/\s+/g, " ").slice(0, 40)}”`;
  };
  if (root.scrollWidth > root.clientWidth + 1) {
    const widest = [...document.body.querySelectorAll("*")]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > root.clientWidth + 1)
      .filter((element) => !element.closest("pre, .table-scroll, table"));
    faults.push(`the page is ${root.scrollWidth - root.clientWidth} px too wide: ${widest.slice(0, 2).map(name).join(", ")}`);
  }
  const dialog = document.querySelector("dialog[open]");
  const controls = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  for (const control of (menu ?? dialog ?? document.body).querySelectorAll(controls)) {
    if (control.disabled || control.closest("[inert], [hidden]")) continue;
    if (!control.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) continue;
    control.focus({ preventScroll: true });
    control.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    const box = [...control.getClientRects()].find((one) => one.width > 2 && one.height > 2);
    if (!box) continue; // for screen readers alone
    const x = box.left + box.width / 2;
    const y = box.top + box.height / 2;
    if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) {
      faults.push(`out of reach: ${name(control)}`);
      continue;
    }
    const hit = document.elementFromPoint(x, y);
    if (hit?.closest(".menu[open]") && !control.closest(".menu[open]")) continue; // a menu that is open lies over the page
    const label = control.labels?.length ? [...control.labels] : [];
    if (hit && (control.contains(hit) || hit.contains(control) || label.some((one) => one.contains(hit)))) continue;
    faults.push(`covered: ${name(control)} by ${hit ? name(hit) : "nothing"}`);
  }
  const talk = document.querySelector("html.talking .talk");
  if (talk && !dialog && !menu) {
    const bars = [...document.querySelectorAll(".talk-top, .composer, .places")].filter((bar) => bar.checkVisibility());
    const taken = bars.reduce((sum, bar) => sum + bar.getBoundingClientRect().height, 0);
    if (taken > innerHeight / 2) faults.push(`the talk has ${Math.round(innerHeight - taken)} of ${innerHeight} px`);
  }
  return faults;
}
