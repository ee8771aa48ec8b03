// What htmx does not do: focus after a swap, progress of jobs, keys, copying, plots, dropped files. No state: that is the server's.
(() => {
  "use strict";
  const on = (type, handler) => document.addEventListener(type, handler);

  // What is said to those who listen, and stands nowhere.
  const said = document.createElement("p");
  said.className = "hidden-label";
  said.setAttribute("role", "status");
  on("DOMContentLoaded", () => document.body.append(said));

  // A panel that was swapped in gets the focus on its title; Escape goes back to where it was opened from. Where there is
  // no room beside the table, the panel stands in a modal dialog, with the notices: a refusal has to be seen there.
  let opener = null;
  const narrow = matchMedia("(max-width: 67.99rem)");
  const here = () => (opener && opener.isConnected ? opener : opener && opener.id && document.getElementById(opener.id));
  on("htmx:beforeRequest", (event) => {
    if (event.target.closest("[data-opens]")) opener = event.target.closest("[data-opens]");
  });
  const dialog = document.createElement("dialog");
  const places = new Map();
  const openDialog = (panel) => {
    if (dialog.open) return;
    for (const part of [document.getElementById("notices"), panel]) {
      const place = document.createComment("");
      part.replaceWith(place);
      places.set(part.id, place);
      dialog.append(part);
    }
    dialog.append(said); // what is outside of the dialog is not heard
    document.body.append(dialog);
    dialog.setAttribute("aria-label", "Column");
    dialog.showModal();
  };
  dialog.addEventListener("close", () => {
    for (const [id, place] of places) place.replaceWith(document.getElementById(id));
    places.clear();
    document.body.append(said);
    dialog.remove();
    if (here()) here().focus();
  });
  narrow.addEventListener("change", () => { if (!narrow.matches && dialog.open) dialog.close(); });
  const markRow = () => {
    for (const row of document.querySelectorAll("tr.chosen")) if (row.closest(".columns")) row.classList.remove("chosen");
    if (here() && here().closest("tr")) here().closest("tr").classList.add("chosen");
  };
  on("htmx:afterSwap", (event) => {
    draw(event.target);
    const title = event.target.id === "panel" && event.target.querySelector("[data-focus]");
    if (!title) return;
    if (narrow.matches) openDialog(event.target);
    markRow();
    if (!event.target.contains(document.activeElement)) title.focus(); // not away from the button that saved
  });
  on("htmx:oobAfterSwap", (event) => {
    draw(event.target);
    if (document.querySelector("#panel [data-focus]")) markRow(); // the row of the open panel may be a new one
  });
  on("keydown", (event) => {
    if (event.key === "Escape" && !dialog.open && event.target.closest("#panel") && here()) here().focus();
  });
  on("click", (event) => {
    const back = event.target.closest("[data-back]");
    if (!back) return;
    event.preventDefault();
    if (dialog.open) dialog.close(); else if (here()) here().focus();
  });

  // What was typed into a panel is given up for another column only if its owner says so.
  const typed = (field) => {
    if (field.options) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((one) => one.defaultSelected));
    if (field.type === "radio" || field.type === "checkbox") return field.checked !== field.defaultChecked;
    return "defaultValue" in field && field.value !== field.defaultValue;
  };
  on("htmx:confirm", (event) => {
    const form = document.querySelector("#panel [data-unsaved]");
    if (!form || event.detail.target.id !== "panel" || event.target.closest("[data-reverts]")) return;
    if (![...form.elements].some(typed)) return;
    event.preventDefault();
    if (window.confirm(form.dataset.unsaved)) event.detail.issueRequest(true);
  });

  // A swap may take away what has the focus. htmx finds it again by its id; what has none is found by its likeness in the
  // same place, and where it is gone for good its surroundings get the focus, so that nobody is sent back to the top.
  let focused = null;
  const likeness = (it) => it.tagName + ["name", "type", "value", "href", "hx-get", "hx-post", "aria-label"]
    .filter((name) => it.hasAttribute(name)).map((name) => `[${name}="${CSS.escape(it.getAttribute(name))}"]`).join("");
  on("focusin", (event) => {
    const around = [];
    for (let place = event.target; place; place = place.parentElement) if (place.id) around.push(place.id);
    focused = { it: event.target, like: likeness(event.target), around };
  });
  on("focusout", (event) => setTimeout(() => { // left on purpose, and not because it was taken away
    if (focused && focused.it === event.target && event.target.isConnected) focused = null;
  }));
  const refocus = () => {
    if (!focused || focused.it.isConnected || (document.activeElement && document.activeElement !== document.body)) return;
    const { like, around } = focused;
    const places = around.map((id) => document.getElementById(id)).filter(Boolean);
    const found = places.length ? places[0].querySelector(like) || places[0] : null;
    if (!found) return;
    if (!found.matches("a, button, input, select, textarea, summary, [tabindex]")) found.tabIndex = -1;
    found.focus({ preventScroll: true });
  };
  on("htmx:afterSettle", refocus);
  on("htmx:afterRequest", refocus);

  // A press takes a tenth of a second. Where an answer swaps what is pressed meanwhile, the browser counts no click: it
  // is one on what stands in its place now.
  const control = (place) => place.closest("a, button, summary, input, label");
  let pressed = null;
  const cutPress = () => { if (pressed) pressed.cut = true; };
  on("htmx:beforeSwap", cutPress);
  on("htmx:oobBeforeSwap", cutPress);
  on("pointerdown", (event) => {
    const it = event.button === 0 && event.pointerType === "mouse" && control(event.target);
    pressed = it ? { it, id: it.id, like: likeness(it), cut: false } : null;
  });
  on("pointercancel", () => { pressed = null; });
  on("click", () => { if (pressed && pressed.released) pressed = null; });
  on("pointerup", (event) => {
    const now = control(event.target), last = pressed;
    if (last) last.released = true;
    setTimeout(() => { // after the click, if there is one
      if (!last || last !== pressed) return;
      pressed = null;
      if (last.cut && now && now.isConnected && (now === last.it || (last.id ? now.id === last.id : likeness(now) === last.like))) now.click();
    });
  });

  // The progress of jobs. Markup asks for it as for events of the server, and each job would have a connection of its
  // own. A browser has six for all tabs together: here a page asks for all its jobs in one short request, and again.
  const feeds = new Set();
  let waiting = null, asking = false;
  const [often, seldom] = [500, 2000]; // milliseconds, in view and behind another tab
  class Feed extends EventTarget {
    constructor(address) {
      super();
      this.job = address.split("/")[2];
      this.readyState = EventSource.OPEN;
      feeds.add(this);
      askSoon(0);
    }
    close() {
      this.readyState = EventSource.CLOSED;
      feeds.delete(this);
    }
    take(now) {
      if (now.text && now.stamp !== this.stamp) {
        this.stamp = now.stamp;
        this.announce(now);
        this.dispatchEvent(new MessageEvent("progress", { data: now.text }));
      }
      if (!now.ended || !feeds.has(this)) return;
      this.close();
      this.dispatchEvent(new MessageEvent("ended", { data: "" }));
    }
    announce(now) { // every 10 %; where no share is known, what it does, and that not more often than it can be heard
      const tenth = now.share === null ? now.doing : Math.floor(10 * now.share);
      if (tenth === this.tenth || (now.share === null && Date.now() - (this.heard || 0) < 10_000)) return;
      this.tenth = tenth;
      this.heard = Date.now();
      said.textContent = now.share === null ? now.doing : `${now.doing}: ${10 * tenth} %`;
    }
  }
  const askSoon = (after) => {
    if (asking) return;
    clearTimeout(waiting);
    if (feeds.size) waiting = setTimeout(ask, after);
  };
  const ask = async () => {
    const jobs = [...new Set([...feeds].map((feed) => feed.job))];
    if (!jobs.length) return;
    asking = true;
    let found = {}, wait = document.hidden ? seldom : often;
    try {
      const answer = await fetch(`/jobs/${jobs.join()}/progress`);
      if (answer.ok) found = await answer.json(); else wait = seldom;
    } catch { wait = seldom; } // it is not there at the moment; jobs go on
    asking = false;
    for (const feed of [...feeds]) if (found[feed.job]) feed.take(found[feed.job]);
    askSoon([...feeds].some((feed) => !jobs.includes(feed.job)) ? 0 : wait);
  };
  on("visibilitychange", () => { if (!document.hidden) askSoon(0); });
  htmx.createEventSource = (address) => new Feed(address);
  // The progress that is there is changed in place: a button that is pressed, or has the focus, stays what it is. It is
  // announced above, and not at each change.
  on("htmx:sseBeforeMessage", (event) => {
    event.target.setAttribute("aria-live", "off");
    const there = event.target.querySelector(":scope > .progress");
    const next = new DOMParser().parseFromString(event.detail.data, "text/html").querySelector(".progress");
    if (!next || !there || !there.querySelector(".doing")) return;
    event.preventDefault();
    for (const part of [".doing", ".left"]) there.querySelector(part).textContent = next.querySelector(part).textContent;
    const bar = there.querySelector("progress"), to = next.querySelector("progress");
    for (const name of ["value", "aria-label"]) {
      if (to.hasAttribute(name)) bar.setAttribute(name, to.getAttribute(name)); else bar.removeAttribute(name);
    }
    const button = there.querySelector("button"), after = next.querySelector("button");
    if (button) button.ariaDisabled = String(!after || after.ariaDisabled === "true"); // `disabled` would lose the focus
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

  // A figure with a specification, in a script of type application/json or in data-spec where it was swapped in, is drawn
  // by Vega in the colours of the page; its table stays beside it.
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    const axis = { labelColor: of("--ink-2"), titleColor: of("--ink-2"), gridColor: of("--line"), domainColor: of("--edge"), tickColor: of("--edge") };
    return {
      background: "transparent", font: getComputedStyle(document.body).fontFamily, axis, view: { stroke: null },
      legend: { labelColor: of("--ink"), titleColor: of("--ink-2") }, rule: { color: of("--accent") },
      range: { category: [of("--d1"), of("--d2"), of("--d3"), of("--d4")] },
    };
  };
  const draw = (root) => {
    for (const place of root.querySelectorAll("[data-plot]:not([data-drawn])")) {
      const text = place.dataset.spec || (document.getElementById(place.dataset.plot) || {}).textContent;
      if (!text || !window.sfumatoEmbed) continue;
      place.dataset.drawn = "";
      window.sfumatoEmbed(place, JSON.parse(text), { renderer: "canvas", defaultStyle: false, tooltip: false, config: colours() }).then((drawn) => {
        const said = document.getElementById(place.dataset.hover || "");
        if (said) drawn.view.addEventListener("mouseover", (_, item) => { if (item && item.datum && item.datum.words) said.textContent = item.datum.words; });
        place.dataset.drawn = "whole";
      }).catch(() => { place.textContent = "The plot could not be drawn; its numbers are in the table."; });
    }
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const place of document.querySelectorAll("[data-plot][data-drawn]")) { delete place.dataset.drawn; place.replaceChildren(); }
    draw(document);
  });
  on("DOMContentLoaded", () => draw(document));
  // Vega is large: a page that loads it with `async` works before it is there, and draws when it is.
  const vega = document.querySelector('script[src="/static/vega/vega.js"]');
  if (vega) vega.addEventListener("load", () => draw(document));
  on("sfumato:plots", () => draw(document)); // a page may load Vega with `async`, and not wait for it

  // A marginal is counted when it is seen, and the others after that, one by one: a page that is printed has them all.
  const counted = "figure[hx-trigger='revealed']";
  const countNext = () => {
    const next = document.querySelector(`${counted}:not([data-hx-revealed])`);
    if (!next) return;
    next.setAttribute("data-hx-revealed", "true"); // as htmx marks it
    htmx.trigger(next, "revealed");
  };
  on("htmx:afterRequest", (event) => { if (event.target.matches(counted) && event.detail.successful) countNext(); });
  on("DOMContentLoaded", () => setTimeout(countNext, often));

  // The slider of ε and its exact field: one says to the other what it holds; both are sent as the exact text.
  const short = (value) => String(Number(value.toPrecision(2)));
  const spoken = (value) => `ε ${short(value)}: odds change by a factor of at most ${Number((Math.exp(value) * 1.0005).toPrecision(3))}`;
  on("input", (event) => {
    const slider = event.target.closest("[data-epsilon-slider]");
    if (slider) {
      const value = 10 ** Number(slider.value);
      document.getElementById(slider.dataset.epsilonSlider).value = short(value);
      slider.setAttribute("aria-valuetext", spoken(value));
    }
    const exact = event.target.closest("[data-epsilon]");
    if (exact) {
      const parts = exact.value.split("/").map(Number);
      const value = parts.length === 2 ? parts[0] / parts[1] : parts[0];
      const other = document.querySelector(`[data-epsilon-slider="${exact.id}"]`);
      if (other && value > 0) { other.value = Math.log10(value); other.setAttribute("aria-valuetext", spoken(value)); }
    }
  });
  on("click", (event) => {
    const set = event.target.closest("[data-set]");
    if (!set) return;
    const field = document.getElementById(set.dataset.set);
    field.value = set.dataset.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });

  // A button that needs typed confirmations works once they match; the server checks them again.
  const confirmed = (form) => {
    const fields = [...form.querySelectorAll("[data-matches]")];
    const same = (field) => field.value.trim() === field.dataset.matches;
    for (const field of fields) field.setAttribute("aria-invalid", String(field.value !== "" && !same(field)));
    const button = form.querySelector("[type=submit]");
    if (button && fields.length) button.disabled = !fields.every(same);
  };
  on("input", (event) => { if (event.target.closest("[data-confirm]")) confirmed(event.target.closest("[data-confirm]")); });

  on("DOMContentLoaded", () => {
    for (const form of document.querySelectorAll("[data-confirm]")) confirmed(form); // a browser may have kept what was typed
    document.documentElement.dataset.ready = ""; // from here on every press and every letter counts
  });
})();
