// The tree of a taxonomy: nodes are moved by pointer or by keys, and the server is told which nodes are open.
(() => {
  "use strict";
  const on = (type, handler, options) => document.addEventListener(type, handler, options);
  const form = () => document.querySelector("[data-taxonomy]");
  const say = (text) => { const said = document.getElementById("tree-said"); if (said) said.textContent = text; };
  const item = (grip) => grip.closest("[data-node]");
  const name = (node) => node.querySelector(".name").firstChild.textContent;
  let held = null, drag = null, focus = null;

  const hold = (node) => {
    for (const old of document.querySelectorAll(".node.held")) old.classList.remove("held");
    for (const old of document.querySelectorAll('[data-grip][aria-pressed="true"]')) old.setAttribute("aria-pressed", "false");
    held = node;
    if (!node) return;
    node.querySelector(".node").classList.add("held");
    node.querySelector("[data-grip]").setAttribute("aria-pressed", "true");
  };
  const mark = (node) => {
    for (const old of document.querySelectorAll(".node.target")) old.classList.remove("target");
    if (node) node.querySelector(".node").classList.add("target");
  };
  const drop = (node, onto) => {
    hold(null); mark(null);
    if (!onto || onto === node || node.contains(onto)) { say("Not moved."); return; }
    focus = node.dataset.node;
    const place = form();
    window.htmx.ajax("POST", place.getAttribute("hx-post"), { source: place, target: "#editor", values: { do: "drop", node: node.dataset.node, onto: onto.dataset.node } });
  };

  on("click", (event) => {
    const grip = event.target.closest("[data-grip]");
    if (!grip || !form()) return;
    if (drag && drag.moved) { drag = null; return; }
    if (!held) { hold(item(grip)); say(`${name(held)} is picked up. Go to a node and press Space, or Escape to cancel.`); return; }
    drop(held, item(grip));
  });
  on("keydown", (event) => {
    if (!form()) return;
    if (event.key === "Escape" && held) { hold(null); mark(null); say("Not moved."); event.preventDefault(); return; }
    const grip = event.target.closest("[data-grip]");
    if (!grip || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    const grips = [...document.querySelectorAll("#tree [data-grip]")].filter((one) => one.offsetParent !== null);
    const next = grips[grips.indexOf(grip) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) { next.focus(); mark(held ? item(next) : null); }
    event.preventDefault();
  });

  on("pointerdown", (event) => {
    const grip = event.target.closest("[data-grip]");
    drag = grip && event.button === 0 ? { node: item(grip), x: event.clientX, y: event.clientY, moved: false } : null;
  });
  on("pointermove", (event) => {
    if (!drag) return;
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 5) return;
    if (!drag.moved) { drag.moved = true; hold(drag.node); }
    const below = document.elementFromPoint(event.clientX, event.clientY);
    drag.onto = below && below.closest("#tree [data-node]");
    mark(drag.onto);
    event.preventDefault();
  });
  on("pointerup", () => {
    if (!drag) return;
    const { node, onto, moved } = drag;
    if (moved) { drop(node, onto); setTimeout(() => { drag = null; }, 0); } else drag = null;
  });
  on("pointercancel", () => { if (drag && drag.moved) { hold(null); mark(null); } drag = null; });

  // Which nodes are open, and how many of their children are shown, goes with each edit.
  on("htmx:configRequest", (event) => {
    const place = form();
    if (!place || !place.contains(event.target) || event.detail.verb !== "post") return;
    const open = [...place.querySelectorAll("details[data-open][open]")].map((one) => `${one.dataset.open}:${one.querySelectorAll(":scope > ul > li.branch").length}`);
    event.detail.parameters.open = open.join(",");
    const used = document.activeElement;
    if (!focus && used && place.contains(used)) focus = used.id ? `#${used.id}` : used.name === "do" ? `button[name=do][value=${used.value}]` : null;
  });
  on("htmx:afterSwap", (event) => {
    if (event.target.id !== "editor" || !focus) return;
    const wanted = /^\d+$/.test(focus) ? document.querySelector(`[data-node="${focus}"] > [data-grip]`) : document.querySelector(`#editor ${focus}`);
    focus = null;
    (wanted && !wanted.disabled ? wanted : document.getElementById("tree-title")).focus();
  });

  // A chosen file is read here, and shown before it is imported.
  on("change", (event) => {
    const from = event.target.closest("[data-read-into]");
    if (!from || !from.files.length) return;
    const file = from.files[0];
    file.arrayBuffer().then((bytes) => {
      let text;
      try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { text = new TextDecoder("windows-1252").decode(bytes); }
      document.getElementById(from.dataset.readInto).value = text;
      document.getElementById(from.dataset.form).value = /\.(ya?ml|json)$/i.test(file.name) ? "yaml" : "csv";
    });
  });
})();
