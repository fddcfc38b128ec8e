// Whether a key goes to the composition of characters, as in Chinese, and not to the page.

const COMPOSING = 229; // Safari ends a composition with a keydown that only this tells apart

export const isComposing = (event) => event.isComposing || event.keyCode === COMPOSING;
