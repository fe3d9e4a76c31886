// Light or dark: the reader's own setting, until the button says otherwise. Runs before the page is drawn.
"use strict";

const THEME = "pacbench-theme";
const root = document.documentElement;

// Some browsers let no file keep anything; the choice then lasts until the page is left.
const kept = (use) => { try { return use(localStorage); } catch { return null; } };

const chosen = kept((store) => store.getItem(THEME));
if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function switchTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  kept((store) => store.setItem(THEME, root.dataset.theme));
}
