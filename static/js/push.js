// "Notify me on this device". The browser's permission is requested only when the person presses the button. In a
// talk the button is offered once, after an answer that took long, until it is pressed or dismissed.

import { headers } from "./request.js";
import { keep, kept } from "./storage.js";

const SYSTEMS = { Android: "Android", iPhone: "iPhone", iPad: "iPad", Mac: "Mac", Windows: "Windows", Linux: "Linux" };
const BROWSERS = { "Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari" };

const LONG_SECONDS = 10; // as the server has it, which tells of no quicker answer
const OFFERED = "kith.push.offered";
const offer = document.querySelector("[data-push-offer]");
const place = document.querySelector("[data-push]");
const canPush = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

function browserName() {
  const known = (names) => Object.keys(names).find((part) => navigator.userAgent.includes(part));
  return [BROWSERS[known(BROWSERS)], SYSTEMS[known(SYSTEMS)]].filter(Boolean).join(" · ");
}

function show(state) {
  place.querySelector("[data-push-says]").textContent = place.dataset[state];
  place.querySelector("[data-push-on]").hidden = !["off", "failed"].includes(state);
  place.querySelector("[data-push-off]").hidden = state !== "on";
}

function send(url, body) {
  const json = { ...headers(), "Content-Type": "application/json" };
  return fetch(url, { method: "POST", headers: json, body: JSON.stringify(body), credentials: "same-origin" });
}

async function subscription() {
  const registration = await navigator.serviceWorker.getRegistration("/");
  return registration?.pushManager.getSubscription();
}

// Send the browser's subscription to the server, which may have lost it. Throws an Error with the server's sentence.
async function tell(found) {
  const response = await send(place.dataset.subscribe, { ...found.toJSON(), browser: browserName() });
  if (response.status === 201) return;
  const { detail } = await response.json();
  throw new Error(detail);
}

async function subscribe() {
  await navigator.serviceWorker.register(place.dataset.worker, { scope: "/" });
  const { pushManager } = await navigator.serviceWorker.ready;
  const asked = { userVisibleOnly: true, applicationServerKey: place.dataset.push };
  try {
    return await pushManager.subscribe(asked);
  } catch (error) {
    const stale = error.name === "InvalidStateError" && (await pushManager.getSubscription());
    if (!stale) throw error;
    await stale.unsubscribe(); // made with an earlier key of Kith's
    return pushManager.subscribe(asked);
  }
}

async function turnOn() {
  if ((await Notification.requestPermission()) !== "granted") return show(Notification.permission === "denied" ? "blocked" : "off");
  try {
    await tell(await subscribe());
  } catch (error) {
    console.info(error);
    return show("failed");
  }
  done("on");
}

async function turnOff() {
  const found = await subscription();
  if (found) await send(place.dataset.unsubscribe, { endpoint: found.endpoint });
  await found?.unsubscribe();
  done("off");
}

function done(state) {
  show(state);
  if (document.querySelector("[data-devices]")) location.reload();
}

async function begin() {
  if (!window.isSecureContext) return show("unsafe");
  if (!canPush) return show("lacking");
  if (Notification.permission === "denied") return show("blocked");
  const found = Notification.permission === "granted" && (await subscription());
  show(found ? "on" : "off");
  if (found) tell(found).catch(() => show("failed"));
}

if (offer && canPush && window.isSecureContext && Notification.permission === "default" && !kept(OFFERED)) {
  document.addEventListener("answer-done", ({ detail }) => {
    if (detail.seconds >= LONG_SECONDS) offer.hidden = false;
  });
  offer.addEventListener("click", ({ target }) => {
    if (target.closest("[data-push-on], [data-push-dismiss]")) keep(OFFERED, "yes");
    if (target.closest("[data-push-dismiss]")) offer.remove();
  });
}

if (place) {
  place.querySelector("[data-push-on]").addEventListener("click", turnOn);
  place.querySelector("[data-push-off]").addEventListener("click", turnOff);
  begin();
  // Signing out ends the notifications in this browser.
  for (const form of document.querySelectorAll("form[data-forgets]")) {
    form.addEventListener("submit", () => canPush && subscription().then((found) => found?.unsubscribe()));
  }
}
