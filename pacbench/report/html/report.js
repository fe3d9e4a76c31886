// Sorting, filtering, zooming, comparing and copying; everything else is plain HTML.
"use strict";

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

document.getElementById("theme").addEventListener("click", switchTheme);

// What is wider than its place scrolls in a box, whose edges tell that there is more.
function tellMore(scroll) {
  const left = scroll.scrollLeft > 1;
  const right = scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1;
  scroll.parentElement.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
}
const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) tellMore(entry.target.closest(".scroll"));
});
for (const scroll of all(".scroll")) {
  scroll.addEventListener("scroll", () => tellMore(scroll), { passive: true });
  sizes.observe(scroll);
  sizes.observe(scroll.firstElementChild);
}

// Tables: a heading sorts its column, first up, then down; cells without a value stay last.
function sortBy(table, heading) {
  const column = Number(heading.dataset.column);
  const down = heading.getAttribute("aria-sort") === "ascending";
  const compare = heading.hasAttribute("data-numbers")
    ? (one, other) => one - other
    : (one, other) => one.localeCompare(other, undefined, { numeric: true });
  const key = (row) => row.cells[column].dataset.value;
  const rows = all("tr", table.tBodies[0]).sort((first, second) => {
    const [one, other] = [key(first), key(second)];
    if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
    return down ? compare(other, one) : compare(one, other);
  });
  for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}
for (const heading of all("th[data-column]")) {
  heading.firstElementChild.addEventListener("click", () => sortBy(heading.closest("table"), heading));
}

// Filters: what has all words stays; what is folded opens where it has any such, and folds again.
for (const input of all("input[data-filters]")) {
  const place = document.getElementById(input.dataset.filters);
  const rows = all("tbody tr, .commands > li", place);
  const folds = all("details", place);
  const count = input.parentElement.querySelector("output");
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = (row.dataset.words ?? row.textContent).toLowerCase(); // each command says "pacbench"
      row.hidden = !words.every((word) => text.includes(word));
    }
    for (const fold of folds) fold.open = words.length > 0 && fold.querySelector("li:not([hidden])") !== null;
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  });
}

// Figures: a click opens one as large as the window holds; + and - zoom, 0 fits it again, Escape closes.
const dialog = document.getElementById("zoom");
const [title, canvas, picture] = ["span", ".canvas", "img"].map((part) => dialog.querySelector(part));
let scale = 1;
function zoom(to) {
  scale = Math.min(8, Math.max(0.25, to));
  const { naturalWidth: width, naturalHeight: height } = picture;
  canvas.style.overflow = "hidden"; // so that the room is that without scroll bars
  const fit = Math.min(canvas.clientWidth / width, canvas.clientHeight / height);
  canvas.style.overflow = "";
  picture.style.width = `${Math.floor(fit * scale * width)}px`;
}
for (const button of all("figure button")) {
  button.addEventListener("click", async () => {
    const shown = button.querySelector("img");
    picture.src = shown.src;
    picture.alt = shown.alt;
    title.textContent = shown.alt;
    dialog.showModal();
    await picture.decode();
    zoom(1);
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
addEventListener("resize", () => { if (dialog.open) zoom(scale); });

// Pictures: two of a row's pictures over each other, a slider between them.
for (const compare of all(".compare")) {
  const pictures = JSON.parse(compare.querySelector("script").textContent);
  const [under, over] = all(".stage img", compare);
  const [left, right] = all("select", compare);
  const stage = compare.querySelector(".stage");
  const slider = compare.querySelector("input[type=range]");
  const name = (select) => select.selectedOptions[0].textContent;
  const move = () => {
    stage.style.setProperty("--at", `${slider.value}%`);
    slider.setAttribute("aria-valuetext", `${slider.value} % ${name(left)}, the rest ${name(right)}`);
  };
  const show = () => {
    for (const [image, select] of [[under, left], [over, right]]) {
      image.src = pictures[select.value];
      image.alt = `${compare.getAttribute("aria-label")}: ${name(select)}`;
    }
    move();
  };
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
    stage.onpointerup = stage.onpointercancel = () => { stage.onpointermove = null; };
  });
  show();
}

// Commands: copied with a click, or selected where a browser does not let files copy.
for (const button of all(".commands button")) {
  const code = button.closest("li").querySelector("code");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}
