// Dark mode: that of the system, or what the reader chose.

/** Remember what the reader chose; a page from a file may have no storage. */
function remembered(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {
    // Then the page follows the system.
  }
  return null;
}

const system = matchMedia("(prefers-color-scheme: dark)");

function useTheme(name) {
  document.documentElement.dataset.theme = name;
  $("#theme").setAttribute("aria-pressed", String(name === "dark"));
  dispatchEvent(new Event("theme"));
}

useTheme(remembered("lasthop-theme") ?? (system.matches ? "dark" : "light"));
system.addEventListener("change", () => { if (!remembered("lasthop-theme")) useTheme(system.matches ? "dark" : "light"); });
$("#theme").addEventListener("click", () => {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  remembered("lasthop-theme", name);
  useTheme(name);
});
