// The service worker: shows notifications while no page is open, and caches static files with hashed names and one page
// for use without a network. It never caches a person's pages, responses or messages.

const HOME = "/companions/";
const KEY = "/notifications/key/";
const SUBSCRIBE = "/notifications/subscribe/";
const ICON = "/static/img/kith-192.png";
const BADGE = "/static/img/kith-badge.png";
const OFFLINE = "/offline/";
const HASHED = /^\/static\/.+\.[0-9a-f]{12}\.\w+$/; // such a name stands for one content for ever
const FILES_KEPT = 300;

self.addEventListener("install", (event) => event.waitUntil(keepOfflinePage().then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(show(read(event.data))));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const told = event.notification.data;
  event.waitUntil(event.action === "mute" ? mute(told) : open(told.url));
});
self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== self.location.origin) return;
  if (mode === "navigate") event.respondWith(fetch(event.request).catch(findOfflinePage));
  else if (HASHED.test(pathname)) event.respondWith(findFile(event.request));
});
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event.newSubscription)));

// Cache the offline page and its files; fetched without cookies, since it is the same for everyone.
async function keepOfflinePage() {
  const page = await fetch(OFFLINE, { credentials: "omit", cache: "reload" });
  const html = await page.clone().text();
  const kept = await caches.open("offline");
  await kept.addAll([...html.matchAll(/"(\/static\/[^"]+)"/g)].map(([, path]) => path));
  await kept.put(OFFLINE, page);
}

async function findOfflinePage() {
  return (await caches.match(OFFLINE)) ?? Response.error();
}

async function findFile(request) {
  const found = await caches.match(request).catch(() => null);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await keepFile(request, response.clone()).catch(() => {}); // e.g. where there is no room
  return response;
}

async function keepFile(request, response) {
  const files = await caches.open("files");
  await files.put(request, response);
  const [oldest, ...rest] = await files.keys();
  if (rest.length >= FILES_KEPT) await files.delete(oldest);
}

// Return the notification of a push. Browsers demand that one is shown for every push, even if it cannot be read.
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
  self.navigator.setAppBadge?.().catch(() => {});
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

// Mute the companion. If that fails, e.g. because nobody is signed in, open the page where it can be muted.
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

// Return the public key and a CSRF token. Throws if nobody is signed in.
async function ask() {
  const response = await fetch(KEY, { cache: "no-store", redirect: "error" });
  return response.json();
}
