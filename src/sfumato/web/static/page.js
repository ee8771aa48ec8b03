// What htmx does not do: focus after a swap, keys, copying, plots, dropped files. No state: that is the server's.
(() => {
  "use strict";
  const on = (type, handler) => document.addEventListener(type, handler);

  // A panel that was swapped in gets the focus on its title; Escape goes back to where it was opened from.
  let opener = null;
  on("htmx:beforeRequest", (event) => {
    if (event.target.closest("[data-opens]")) opener = event.target.closest("[data-opens]");
  });
  on("htmx:afterSwap", (event) => {
    draw(event.target);
    const title = event.target.id === "panel" && event.target.querySelector("[data-focus]");
    if (title) title.focus();
  });
  on("keydown", (event) => {
    if (event.key === "Escape" && event.target.closest("#panel") && opener && opener.isConnected) opener.focus();
  });

  on("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard.writeText(copy.dataset.copy).then(() => { copy.textContent = "Copied"; });
    const all = event.target.closest("[data-pick-all]");
    if (all) for (const box of document.querySelectorAll(all.dataset.pickAll)) box.checked = all.checked;
  });

  // A file that is dropped on the page, or chosen, is sent as it is; the answer says where its study is.
  const upload = (area, file) => {
    const said = area.querySelector("[data-said]");
    said.textContent = `Copying ${file.name} to a private folder of this computer …`;
    const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "X-File-Name": encodeURIComponent(file.name), "HX-Request": "true" };
    fetch("/open/upload", { method: "POST", headers, body: file }).then(async (answer) => {
      if (answer.ok) { location.href = answer.headers.get("location"); return; }
      said.textContent = "";
      document.getElementById("notices").innerHTML = await answer.text();
    }).catch(() => { said.textContent = "The workbench did not take the file: it may be too large. Open it by its path."; });
  };
  on("dragover", (event) => { if (event.target.closest("[data-drop]")) event.preventDefault(); });
  on("drop", (event) => {
    const area = event.target.closest("[data-drop]");
    if (!area || !event.dataTransfer.files.length) return;
    event.preventDefault();
    upload(area, event.dataTransfer.files[0]);
  });
  on("change", (event) => {
    const area = event.target.closest("[data-drop]");
    if (area && event.target.files && event.target.files.length) upload(area, event.target.files[0]);
  });

  // A figure with a specification in a script of type application/json is drawn by Vega; its table stays beside it.
  const draw = (root) => {
    for (const place of root.querySelectorAll("[data-plot]:not([data-drawn])")) {
      const spec = document.getElementById(place.dataset.plot);
      if (!spec || !window.sfumatoEmbed) continue;
      place.dataset.drawn = "";
      window.sfumatoEmbed(place, JSON.parse(spec.textContent), {}).catch(() => { place.textContent = "The plot could not be drawn; its numbers are in the table."; });
    }
  };
  on("DOMContentLoaded", () => draw(document));
})();
