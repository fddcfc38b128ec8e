// The service worker: shows what companions write while no page is open. It keeps no page and no word.

const HOME = "/companions/";
const KEY = "/notifications/key/";
const SUBSCRIBE = "/notifications/subscribe/";
const ICON = "/static/img/kith-192.png";
const BADGE = "/static/img/kith-badge.png";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(show(read(event.data))));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const told = event.notification.data;
  event.waitUntil(event.action === "mute" ? mute(told) : open(told.url));
});
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event.newSubscription)));

// Browsers want something shown for every push, also for one that cannot be read.
function read(data) {
  try {
    const told = data.json();
    return { ...told, title: String(told.title), url: ours(told.url) };
  } catch {
    return { title: "Kith", body: "", url: HOME };
  }
}

function ours(url) {
  const whole = new URL(url, self.location.origin);
  return whole.origin === self.location.origin ? whole.pathname : HOME;
}

function show(told) {
  const actions = told.mute ? [{ action: "mute", title: told.mute.title }] : [];
  return self.registration.showNotification(told.title, {
    body: told.body,
    tag: told.tag,
    renotify: Boolean(told.tag),
    icon: ICON,
    badge: BADGE,
    data: told,
    actions,
  });
}

async function open(url) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => new URL(one.url).pathname === url);
  return page ? page.focus() : self.clients.openWindow(url);
}

// Where it does not work, as when nobody is signed in, the page on which it can be done opens.
async function mute(told) {
  try {
    const { csrf } = await ask();
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": csrf };
    const body = "is_muted=yes";
    const response = await fetch(ours(told.mute.url), { method: "POST", headers, body, redirect: "manual" });
    if (!response.ok && response.type !== "opaqueredirect") throw new Error(response.status);
  } catch {
    await open(ours(told.life));
  }
}

async function renew(given) {
  const { key, csrf } = await ask();
  const asked = { userVisibleOnly: true, applicationServerKey: key };
  const found = given ?? (await self.registration.pushManager.subscribe(asked));
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrf };
  await fetch(SUBSCRIBE, { method: "POST", headers, body: JSON.stringify(found) });
}

// Kith's key and the token that its forms carry; an error where nobody is signed in.
async function ask() {
  const response = await fetch(KEY, { cache: "no-store", redirect: "error" });
  return response.json();
}
