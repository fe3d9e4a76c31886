// Sorting, filtering, zooming, comparing and the theme of a report; everything else is plain HTML.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Theme: the reader's own setting, until the button says otherwise.
const darkness = matchMedia("(prefers-color-scheme: dark)");
const setTheme = (dark) => { document.documentElement.dataset.theme = dark ? "dark" : "light"; };
setTheme(darkness.matches);
darkness.addEventListener("change", (event) => setTheme(event.matches));
document.getElementById("theme").addEventListener("click", () => {
  setTheme(document.documentElement.dataset.theme !== "dark");
});

// Tables: a heading sorts its column, first up, then down; cells without a value stay last.
function sortBy(table, heading) {
  const column = Number(heading.dataset.column);
  const down = heading.getAttribute("aria-sort") === "ascending";
  const key = (row) => row.cells[column].dataset.value ?? "";
  const numeric = all("tr", table.tBodies[0]).every((row) => key(row) === "" || !isNaN(key(row)));
  const rows = all("tr", table.tBodies[0]).sort((first, second) => {
    const [one, other] = [key(first), key(second)];
    if (one === "" || other === "") return (one === "") - (other === "");
    const order = numeric ? one - other : one.localeCompare(other, undefined, { numeric: true });
    return down ? -order : order;
  });
  for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}

for (const heading of all("th[data-column]")) {
  heading.firstElementChild.addEventListener("click", () => sortBy(heading.closest("table"), heading));
}

for (const input of all("input[data-filters]")) {
  const rows = all("tbody tr", document.getElementById(input.dataset.filters));
  const count = input.parentElement.querySelector("output");
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  });
}

// Figures: a click opens one as large as the window; + and - zoom, Escape closes.
const dialog = document.getElementById("zoom");
const [title, picture] = [dialog.querySelector("span"), dialog.querySelector("img")];
let scale = 1;
const zoom = (to) => {
  scale = Math.min(8, Math.max(0.25, to));
  picture.style.width = `${100 * scale}%`;
};
for (const button of all("figure button")) {
  button.addEventListener("click", () => {
    const shown = button.querySelector("img");
    picture.src = shown.src;
    picture.alt = shown.alt;
    title.textContent = shown.alt;
    zoom(1);
    dialog.showModal();
  });
}
for (const button of all("[data-zoom]", dialog)) {
  button.addEventListener("click", () => zoom(scale * Number(button.dataset.zoom)));
}
dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
dialog.addEventListener("keydown", (event) => {
  if (event.key === "+" || event.key === "=") zoom(scale * 1.5);
  if (event.key === "-") zoom(scale / 1.5);
  if (event.key === "0") zoom(1);
});

// Pictures: two of a row's pictures over each other, a slider between them.
for (const compare of all(".compare")) {
  const pictures = JSON.parse(compare.querySelector("script").textContent);
  const [under, over] = all(".stage img", compare);
  const [left, right] = all("select", compare);
  const stage = compare.querySelector(".stage");
  const slider = compare.querySelector("input[type=range]");
  const show = () => {
    for (const [image, select] of [[under, left], [over, right]]) {
      image.src = pictures[select.value];
      image.alt = select.selectedOptions[0].textContent;
    }
  };
  const move = () => stage.style.setProperty("--at", `${slider.value}%`);
  left.addEventListener("change", show);
  right.addEventListener("change", show);
  slider.addEventListener("input", move);
  stage.addEventListener("pointerdown", (event) => {
    const follow = (at) => {
      const box = stage.getBoundingClientRect();
      slider.value = (100 * (at.clientX - box.left)) / box.width;
      move();
    };
    stage.setPointerCapture(event.pointerId);
    follow(event);
    stage.onpointermove = follow;
    stage.onpointerup = () => { stage.onpointermove = null; };
  });
  show();
  move();
}

// Commands: copied with a click, or selected where a browser does not let files copy.
for (const button of all("button[data-copy]")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(button.closest("tr").querySelector("code"));
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}
