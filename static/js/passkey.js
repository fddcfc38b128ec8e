// Passkeys: hides their buttons where they cannot work, and says what to do when a passkey was not used.

const IDS = {
  loginForm: { login: "passkey_login", credential: "mfa_credential" },
  authenticateForm: { authenticate: "passkey_use", credential: "id_credential", data: "js_data" },
  addForm: { add: "passkey_add", passwordless: "id_passwordless", credential: "id_credential", data: "js_data" },
};
const line = document.querySelector("[data-passkey-says]");
const isAddress = /^[\d.]+$|^\[/.test(location.hostname); // a passkey belongs to a name
const canPasskey = window.isSecureContext && "PublicKeyCredential" in window && !isAddress;

function say(words) {
  line.textContent = words;
  line.hidden = false;
}

document.addEventListener("allauth.error", (event) => {
  event.preventDefault(); // a person who closes the browser's dialogue is no fault to be logged
  say(line.dataset.failed);
});

if (!canPasskey) {
  for (const button of document.querySelectorAll("[data-passkey]")) button.hidden = true;
  const field = document.getElementById("passkey_add")?.form.querySelector(".field");
  if (field) field.hidden = true; // no passkey can be made that would bear this name
  if (line.dataset.form !== "loginForm") say(line.dataset.lacking);
} else {
  const { form } = line.dataset;
  window.allauth.webauthn.forms[form]({ ids: IDS[form] });
}
