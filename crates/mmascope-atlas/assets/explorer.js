// The explorer: puts what the reader chooses to the module, and shows what it answers. All arithmetic is the module's.
"use strict";
(() => {
  const script = document.currentScript;
  const $ = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const it = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) it.addEventListener(name.slice(2), value);
      else if (name in it && typeof value !== "string") it[name] = value;
      else it.setAttribute(name, value);
    }
    it.append(...children);
    return it;
  };
  const MOST_UNITS = 4;
  const FIRST = "hopper:mma.m16n8k16.f32.f16.f16.f32";
  const SIDES = ["a", "b", "c", "sa", "sb"];
  // scaleD goes from 0 to -15 (PTX, scale-input-d).
  const MOST_SCALED = 15;

  // ---- the module ----
  let source = null;
  let exports = null;
  const bytesOfModule = async () => {
    await new Promise((done, failed) => {
      const tag = make("script", { src: "atlas-module.js", onload: done, onerror: () => failed(new Error("atlas-module.js is missing")) });
      document.head.append(tag);
    });
    const zipped = Uint8Array.from(atob(window.atlasModule), (digit) => digit.charCodeAt(0));
    const plain = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(plain).arrayBuffer();
  };
  const start = async () => {
    source ??= await WebAssembly.compile(await bytesOfModule());
    exports = (await WebAssembly.instantiate(source, {})).exports;
    // The units of a catalogue with texts beside the shipped ones.
    const texts = JSON.parse($("texts")?.textContent ?? "[]");
    if (texts.length) ask({ do: "base", texts });
  };
  const ask = (question, file = new Uint8Array(0)) => {
    const text = new TextEncoder().encode(JSON.stringify(question));
    try {
      const place = exports.reserve(text.length + file.length);
      const input = new Uint8Array(exports.memory.buffer, place, text.length + file.length);
      input.set(text);
      input.set(file, text.length);
      const length = exports.ask(text.length);
      return JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.answer(), length)));
    } catch (error) {
      // A fault of the module: it begins anew.
      start().then(() => { if (state.own) ask({ do: "load", text: state.own }); });
      return { error: `the module failed: ${error.message}` };
    }
  };

  // ---- what was chosen ----
  const state = {
    units: [FIRST], mods: new Set(), picture: 0, chosen: null, view: "dot", own: "", about: null, unit: null,
    words: { a: [], b: [], c: [], sa: [], sb: [] }, arrays: {}, steps: 0,
  };
  const problem = (id, answer) => {
    const place = $(id);
    place.hidden = !answer?.error;
    place.textContent = !answer?.error ? "" : (answer.line ? `line ${answer.line}, column ${answer.column}: ` : "") + answer.error;
    return Boolean(answer?.error);
  };

  // ---- links ----
  const fragment = () => {
    const link = new URLSearchParams();
    const [arch, ...inst] = state.units[0].split(":");
    link.set("arch", arch);
    link.set("inst", inst.join(":"));
    for (const side of SIDES) if (state.words[side].length) link.set(side, state.words[side].join(""));
    for (const other of state.units.slice(1)) link.append("against", other);
    if (state.mods.size) link.set("mods", [...state.mods].join(","));
    // Without it a link with several units shows the second beside the first.
    if (state.units.length > 1) link.set("picture", state.picture);
    if (state.own) link.set("own", state.own);
    if (state.view !== "dot") link.set("view", state.view);
    if (state.view === "cast") {
      for (const name of CAST) link.set(name, $("cast-" + name).value);
      const flags = FLAGS.filter((name) => $("cast-" + name).checked);
      if (flags.length) link.set("flags", flags.join(","));
    }
    return link.toString();
  };
  const remember = () => history.replaceState(null, "", "#" + fragment());
  const follow = () => {
    const link = new URLSearchParams(location.hash.slice(1));
    const own = link.get("own") ?? "";
    if (own !== state.own) { $("own-text").value = own; $("own").open = true; load(); }
    const arch = link.get("arch");
    const first = link.get("unit") ?? (arch ? `${arch}:${link.get("inst") ?? "f16"}` : null);
    if (first) state.units = [first, ...link.getAll("against")].slice(0, MOST_UNITS);
    state.mods = new Set((link.get("mods") ?? "").split(",").filter(Boolean));
    const picture = Number(link.get("picture") ?? (state.units.length > 1 ? 1 : 0));
    state.picture = Number.isInteger(picture) && picture > 0 ? picture : 0;
    const unknown = [];
    for (const name of CAST) {
      const value = link.get(name) ?? state.casts[name];
      const field = $("cast-" + name);
      const before = field.value;
      // A format may be named by another of its names.
      field.value = name === "from" || name === "to" ? ask({ do: "bits", format: value, word: "0" }).format ?? value : value;
      if (field.value === "" && value !== "") { field.value = before; unknown.push(`${name}=${value}`); }
    }
    const flags = (link.get("flags") ?? "").split(",").filter(Boolean);
    for (const name of FLAGS) $("cast-" + name).checked = flags.includes(name);
    unknown.push(...flags.filter((name) => !FLAGS.includes(name)).map((name) => `flags=${name}`));
    show(["dot", "matrix", "cast", "reveal"].includes(link.get("view")) ? link.get("view") : "dot", false);
    if (unknown.length) {
      const other = $("cast-problem").hidden ? "" : `${$("cast-problem").textContent}; `;
      problem("cast-problem", { error: `${other}${unknown.join(", ")} of the link is unknown and left out` });
    }
    drawUnits();
    // What the link leaves out is 0 (scales 1), whatever was there before.
    state.words = { a: [], b: [], c: [], sa: [], sb: [] };
    const given = Object.fromEntries(SIDES.filter((side) => link.has(side)).map((side) => [side, link.get(side)]));
    takeUnit(given);
  };

  // ---- units ----
  const drawUnits = () => {
    $("units").replaceChildren(...state.units.map((name, at) => {
      const id = `unit-${at}`;
      const list = make("datalist", { id: id + "-list" });
      const suggest = (text) => list.replaceChildren(...(ask({ do: "suggest", text }).units ?? []).map((value) => make("option", { value })));
      const input = make("input", {
        id, class: "unit-input mono", list: id + "-list", value: name, spellcheck: "false", autocomplete: "off",
        oninput: (event) => suggest(event.target.value),
        onchange: (event) => { state.units[at] = event.target.value.trim(); at ? compute() : takeUnit({}); drawProducts(); },
      });
      input.value = name;
      const parts = [make("label", { for: id }, at ? `Unit ${at + 1}` : "Unit 1"), input, list];
      const field = make("div", { class: "field" }, ...parts);
      if (!at) return field;
      const away = make("button", { type: "button", "aria-label": `Remove unit ${at + 1}`, onclick: () => { state.units.splice(at, 1); state.picture = 0; drawUnits(); compute(); drawProducts(); $("add-unit").focus(); } }, "Remove");
      return make("div", { class: "row" }, field, away);
    }));
    $("add-unit").disabled = state.units.length >= MOST_UNITS;
  };
  $("add-unit").addEventListener("click", () => {
    const arch = ["ampere", "cdna3", "volta", "blackwell"][state.units.length - 1] ?? "ampere";
    const types = state.unit ? [state.unit.a.name, state.unit.b.name, state.unit.c.name].join(",") : "f16";
    const found = ask({ do: "unit", unit: `${arch}:${types}` });
    state.units.push(found.unit ?? state.units[0]);
    state.picture = state.units.length - 1;
    drawUnits();
    compute();
    drawProducts();
    $(`unit-${state.units.length - 1}`).focus();
  });

  // The first unit decides formats and K: the operands get its fields. Words that fit are kept.
  const takeUnit = (given) => {
    const unit = ask({ do: "unit", unit: state.units[0] });
    const refused = unit.error ? unit : unit.refused ? { error: unit.refused } : null;
    if (problem("problem", refused)) {
      for (const id of ["results", "exact", "picture", "pictures"]) $(id).replaceChildren();
      state.unit = null;
      return;
    }
    const before = state.unit;
    const same = before && ["a", "b", "c"].every((side) => before[side].name === unit[side].name) && before.k === unit.k && before.scales === unit.scales;
    state.unit = unit;
    const has = (name) => unit.mods.some((own) => own === name.split("=")[0]);
    const unknown = [...state.mods].filter((name) => !has(name));
    state.mods = new Set([...state.mods].filter(has));
    if (!same) state.words = { a: [], b: [], c: [], sa: [], sb: [] };
    drawMods();
    if (!same || !$("operands").firstChild) drawOperands();
    compute(given);
    if (unknown.length) problem("problem", { error: `${state.units[0]} has no modifier ${unknown.join(", ")}: it is left out` });
  };
  const drawMods = () => {
    $("mods").replaceChildren(...state.unit.mods.map((name) => {
      if (name === "scaleD") {
        const now = [...state.mods].find((own) => own.startsWith("scaleD="));
        const choose = make("select", { id: "mod-scaleD", onchange: (event) => { state.mods = new Set([...state.mods].filter((own) => !own.startsWith("scaleD"))); if (event.target.value !== "0") state.mods.add(`scaleD=${event.target.value}`); compute(); } },
          ...Array.from({ length: MOST_SCALED + 1 }, (_, places) => make("option", { value: places ? `-${places}` : "0" }, places ? `2^-${places}` : "none")));
        choose.value = now ? now.split("=")[1] : "0";
        return make("div", { class: "field" }, make("label", { for: "mod-scaleD" }, "scale of c"), choose);
      }
      const box = make("input", { type: "checkbox", id: `mod-${name}`, onchange: (event) => { event.target.checked ? state.mods.add(name) : state.mods.delete(name); compute(); } });
      box.checked = state.mods.has(name);
      return make("span", {}, box, " ", make("label", { for: `mod-${name}` }, name));
    }));
  };

  // ---- operands ----
  const fields = new Map();
  const cell = (side, at, name) => {
    const format = side === "sa" || side === "sb" ? state.unit.scale : state.unit[side];
    const value = make("input", { class: "value", "aria-label": `${name}, value`, spellcheck: "false", autocomplete: "off" });
    const word = make("input", { class: "hex mono", "aria-label": `${name}, word`, spellcheck: "false", autocomplete: "off", style: `--digits:${format.digits}` });
    const edited = (input, text) => () => edit(side, at, text(input.value));
    value.addEventListener("input", edited(value, (text) => text));
    word.addEventListener("input", edited(word, (text) => (text.startsWith("0x") ? text : "0x" + text)));
    for (const input of [value, word]) {
      input.addEventListener("focus", () => choose(side, at, name));
      input.addEventListener("blur", () => refresh(side, at));
    }
    fields.set(side + at, { value, word, format: format.name });
    return [make("td", {}, value), make("td", {}, word)];
  };
  const drawOperands = () => {
    fields.clear();
    state.chosen = null;
    const { k, scales } = state.unit;
    const head = (text, span) => make("th", { scope: "col", ...(span ? { colspan: "2" } : {}) }, text);
    const rows = [];
    const count = (many) => Array.from({ length: many }, (_, at) => at);
    rows.push(make("tr", {}, make("th", { scope: "row" }, "c"), ...cell("c", 0, "c"), make("td", { colspan: "2" })));
    for (const at of count(k)) rows.push(make("tr", {}, make("th", { scope: "row" }, String(at)), ...cell("a", at, `a${at}`), ...cell("b", at, `b${at}`)));
    for (const at of count(scales)) rows.push(make("tr", {}, make("th", { scope: "row" }, `scale ${at}`), ...cell("sa", at, `scale of a, block ${at}`), ...cell("sb", at, `scale of b, block ${at}`)));
    const { a, b } = state.unit;
    $("operands").replaceChildren(make("table", {}, make("caption", {}, "Operands"),
      make("thead", {}, make("tr", {}, head("k"), head(`a (${a.name})`, true), head(`b (${b.name})`, true))), make("tbody", {}, ...rows)));
    $("bits").replaceChildren(make("p", {}, make("small", {}, "Choose an operand to see its bits; every bit is a switch.")));
  };
  const lists = () => Object.fromEntries(SIDES.map((side) => [side, state.words[side].map((word) => "0x" + word).join(",")]));
  const edit = (side, at, text) => {
    const changed = state.words[side].map((word) => "0x" + word);
    changed[at] = text.trim() || "0";
    compute({ [side]: changed.join(",") });
  };
  const refresh = (side, at) => {
    const field = fields.get(side + at);
    const shown = state.shown?.[side]?.[at];
    if (!field || !shown) return;
    const active = document.activeElement;
    if (field.value !== active) field.value.value = shown[1];
    if (field.word !== active) field.word.value = shown[0];
  };
  const choose = (side, at, name) => {
    state.chosen = { side, at, name };
    drawBits();
  };
  const bitRow = (bits, flip) => make("div", { class: "bits" }, ...bits.fields.map((field) =>
    make("div", { class: "group" }, make("span", {}, field.name), ...[...field.digits].map((digit, place) => {
      const bit = field.low + field.digits.length - 1 - place;
      return flip
        ? make("button", { type: "button", class: "bit", role: "switch", "aria-checked": String(digit === "1"), "aria-label": `bit ${bit}, ${field.name}`, "data-bit": String(bit), onclick: () => flip(bit) }, digit)
        : make("span", { class: `bit button${digit === "1" ? " set" : ""}`, title: `bit ${bit}` }, digit);
    }))));
  const drawBits = () => {
    if (!state.chosen) return;
    const { side, at, name } = state.chosen;
    const format = fields.get(side + at)?.format;
    const word = state.words[side][at];
    if (!format || word === undefined) return;
    const focused = document.activeElement?.dataset?.bit;
    const bits = ask({ do: "bits", format, word });
    const flip = (bit) => { const changed = ask({ do: "flip", format, word, bit }); if (!changed.error) edit(side, at, "0x" + changed.word); };
    $("bits").replaceChildren(make("p", {}, make("b", {}, name), ` = ${bits.value}, ${format}, word `, make("code", {}, bits.word)), bitRow(bits, flip));
    if (focused !== undefined) $("bits").querySelector(`[data-bit="${focused}"]`)?.focus();
  };

  // ---- results ----
  const compute = (given = {}) => {
    if (!state.unit) return;
    const operands = { ...lists(), ...given };
    const question = { do: "compute", units: state.units, ...operands, mods: [...state.mods], picture: state.picture };
    if (!state.unit.scales) { delete question.sa; delete question.sb; }
    const answer = ask(question);
    if (problem("problem", answer)) return;
    state.shown = { a: answer.a, b: answer.b, c: [answer.c], sa: answer.sa, sb: answer.sb };
    for (const side of SIDES) state.words[side] = state.shown[side].map((it) => it[0]);
    for (const side of SIDES) state.shown[side].forEach((_, at) => refresh(side, at));
    $("exact").replaceChildren("Exact: ", make("b", { class: "mono" }, answer.exact));
    $("results").replaceChildren(...answer.results.map((it, at) => {
      const differs = it.differs ? "differs" : "";
      if (it.refused) return make("div", { class: "result" }, make("small", {}, it.unit), make("span", {}, it.refused));
      const parts = [make("small", {}, it.unit), make("b", { "data-word": it.word }, it.value), make("code", {}, it.word)];
      if (it.error !== null) parts.push(make("small", {}, `error ${it.error}, ${it.ulps}`));
      for (const note of it.notes) parts.push(make("small", {}, note));
      if (at) parts.push(make("span", { class: "parting-words" }, it.differs ? `parts from unit 1 ${it.parting}` : "every step as unit 1"));
      return make("div", { class: `result ${differs}` }, ...parts);
    }));
    if (state.picture >= state.units.length) state.picture = 0;
    $("pictures").replaceChildren(...(state.units.length > 1 ? state.units.map((name, at) => make("button", {
      type: "button", "aria-pressed": String(state.picture === at), onclick: () => { state.picture = at; compute(); $("pictures").children[at].focus(); },
    }, at ? `against unit ${at + 1}` : "unit 1 alone")) : []));
    const host = $("picture");
    const tree = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    // Long numbers break, and what cannot break scrolls in its own place.
    tree.innerHTML = `<style>${state.about.style}:host{display:block;overflow-x:auto;overflow-wrap:anywhere}</style>${answer.picture ?? ""}`;
    drawBits();
    remember();
  };
  const draw = () => {
    const [seed, index] = ["seed", "index"].map((id) => ($(id).value === "" ? NaN : Number($(id).value)));
    for (const [name, value] of [["seed", seed], ["index", index]]) {
      if (Number.isSafeInteger(value) && value >= 0) continue;
      return problem("problem", { error: `${name}: a whole number from 0 to ${Number.MAX_SAFE_INTEGER} is needed` });
    }
    const answer = ask({ do: "draw", unit: state.units[0], family: $("family").value, seed, index });
    if (problem("problem", answer)) return;
    compute(Object.fromEntries(Object.entries(answer).filter(([, text]) => text !== null)));
  };
  $("draw").addEventListener("click", draw);
  $("next").addEventListener("click", () => { $("index").stepUp(); draw(); });
  for (const id of ["seed", "index", "family"]) $(id).addEventListener("change", draw);
  $("clear").addEventListener("click", () => compute({ a: "0", b: "0", c: "0", ...(state.unit?.scales ? { sa: "1", sb: "1" } : {}) }));
  $("share").addEventListener("click", async () => {
    remember();
    try { await navigator.clipboard.writeText(location.href); $("shared").textContent = "copied"; }
    catch { $("shared").textContent = "the address of this page is the link"; }
  });

  // ---- own units ----
  const load = () => {
    const text = $("own-text").value;
    const answer = ask({ do: "load", text });
    $("own-loaded").textContent = "";
    if (problem("own-error", answer)) {
      // The cursor goes to the place.
      const lines = text.split("\n").slice(0, (answer.line ?? 1) - 1);
      const at = lines.join("\n").length + (lines.length ? 1 : 0) + (answer.column ?? 1) - 1;
      $("own-text").setSelectionRange(at, at + 1);
      return false;
    }
    state.own = text;
    $("own-loaded").textContent = `${answer.units.length} loaded: ${answer.units.slice(0, 3).join(" ")}`;
    state.loaded = answer.units;
    return true;
  };
  $("own-load").addEventListener("click", () => {
    if (!load()) return $("own-text").focus();
    if (state.loaded[0]) state.units[0] = state.loaded[0];
    drawUnits();
    state.unit = null;
    takeUnit({});
    drawProducts();
  });

  // ---- matrices ----
  const give = async (files) => {
    problem("file-problem", null);
    for (const file of files) {
      const name = ["A", "B", "C"].find((it) => !state.arrays[it]) ?? "A";
      const answer = ask({ do: "array", name, file: file.name }, new Uint8Array(await file.arrayBuffer()));
      if (problem("file-problem", answer)) break;
      state.arrays[name] = answer;
    }
    drawArrays();
  };
  const drawArrays = () => {
    $("arrays").replaceChildren(...Object.values(state.arrays).map((it) => make("span", { class: "row" }, make("span", {}, `${it.name}: ${it.file}, ${it.shape.join(" × ")}, ${it.type}`),
      make("button", { type: "button", "aria-label": `Remove ${it.name}`, onclick: () => { ask({ do: "drop", name: it.name }); delete state.arrays[it.name]; drawArrays(); } }, "Remove"))));
    drawProducts();
  };
  const drawProducts = () => {
    if (state.view !== "matrix") return;
    $("products").replaceChildren();
    if (!state.arrays.A || !state.arrays.B) return;
    const answer = ask({ do: "product", units: state.units });
    // What is said of a file stays, what is said of a product goes with it.
    if (answer.error || state.refused) problem("file-problem", answer);
    state.refused = Boolean(answer.error);
    if (answer.error) return;
    $("products").replaceChildren(...answer.results.map((it, at) => {
      if (it.error) return make("div", { class: "panel" }, make("h3", {}, it.unit), make("p", { class: "error" }, it.error));
      const differs = new Set((it.differing?.places ?? []).map(([row, column]) => `${row},${column}`));
      const words = [`${it.m} × ${it.n}, K = ${it.k}, ${it.type}. Errors relative to Σ|a·b|: mean ${it.errors.mean}, largest ${it.errors.max}, bias ${it.errors.bias}; mean ulp ${it.errors.ulps}.`];
      if (at) words.push(` ${it.differing?.count ?? 0} elements differ from unit 1.`);
      if (it.d.length < it.m || it.d[0].length < it.n) words.push(" The first rows and columns are shown.");
      const rows = it.d.map((row, i) => make("tr", {}, make("th", { scope: "row" }, String(i)), ...row.map(([word, value], j) =>
        make("td", {}, make("button", { type: "button", title: word, class: differs.has(`${i},${j}`) ? "differs" : "", "aria-label": `element ${i}, ${j}: ${value}${differs.has(`${i},${j}`) ? ", differs from unit 1" : ""}`, onclick: () => open(i, j) }, (differs.has(`${i},${j}`) ? "≠ " : "") + value)))));
      const head = make("tr", {}, make("th", { scope: "col" }, "row"), ...it.d[0].map((_, j) => make("th", { scope: "col" }, String(j))));
      return make("div", { class: "panel" }, make("h3", {}, it.unit), make("p", {}, words.join("")),
        make("div", { class: "matrix-view", tabindex: "0", role: "region", "aria-label": `D of ${it.unit}` }, make("table", {}, make("caption", {}, `D of ${it.unit}`), make("thead", {}, head), make("tbody", {}, ...rows))));
    }));
  };
  // The step that decides an element becomes the operands of the first view.
  const open = (row, column) => {
    const answer = ask({ do: "element", units: state.units, row, column });
    if (problem("file-problem", answer)) return;
    show("dot", true);
    compute(Object.fromEntries(Object.entries(answer.operands).filter(([, text]) => text !== null)));
  };
  $("files").addEventListener("change", (event) => give(event.target.files).then(() => { event.target.value = ""; }));
  for (const kind of ["dragenter", "dragover"]) $("drop").addEventListener(kind, (event) => { event.preventDefault(); $("drop").classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) $("drop").addEventListener(kind, () => $("drop").classList.remove("over"));
  $("drop").addEventListener("drop", (event) => { event.preventDefault(); give(event.dataTransfer.files); });

  // ---- casts ----
  const CAST = ["from", "to", "value", "rounding", "policy", "overflow"];
  const FLAGS = ["relu", "sat", "ftz", "pzo"];
  const cast = () => {
    const question = { do: "cast", flags: FLAGS.filter((name) => $("cast-" + name).checked) };
    for (const name of CAST) question[name] = $("cast-" + name).value;
    const answer = ask(question);
    if (problem("cast-problem", answer)) { $("cast-bits").replaceChildren(); $("cast-words").textContent = ""; return; }
    const flip = (bit) => { const changed = ask({ do: "flip", format: answer.from.format, word: answer.from.word, bit }); $("cast-value").value = "0x" + changed.word; cast(); $("cast-bits").querySelector(`[data-bit="${bit}"]`)?.focus(); };
    const line = (bits, change) => [make("p", {}, `${bits.format} word `, make("code", {}, bits.word), " = ", make("b", { class: "mono" }, bits.value), bits.decimal === bits.value ? "" : ` ≈ ${bits.decimal}`), bitRow(bits, change)];
    $("cast-bits").replaceChildren(...line(answer.from, flip), ...line(answer.to, null));
    const words = [answer.exact ? "The cast keeps the value." : "The cast changes the value."];
    if (answer.rounded) words.push("The source format does not have the value that was written; it was rounded to nearest even first.");
    words.push(`Rounding ${answer.rounding}, rules ${answer.policy}.`);
    if (answer.instruction) words.push(`PTX: ${answer.instruction}.`);
    $("cast-words").textContent = words.join(" ");
    if (state.view === "cast") remember();
  };

  // ---- reveal ----
  const reveal = () => {
    const answer = ask({ do: "reveal", unit: state.units[0] });
    $("revealed").hidden = Boolean(answer.error);
    if (problem("reveal-problem", answer)) return;
    state.steps = answer.steps;
    const facts = [`${answer.unit}: ${answer.nature === "tree" ? `the order is ${answer.pattern}` : `${answer.nature}: ${answer.reason}`}.`];
    facts.push(answer.steps ? `${answer.steps} masked inputs were asked, checks included.` : "Its order was found without masks.");
    if (answer.trials) facts.push(`${answer.mismatches} of ${answer.trials} random inputs contradict the tree (${answer.arithmetic}).`);
    $("reveal-facts").textContent = [...facts, ...answer.notes].join(" ");
    $("tree").innerHTML = answer.tree;
    $("step").max = answer.steps || 1;
    $("step").value = 1;
    step();
  };
  const step = () => {
    const number = Number($("step").value);
    for (const id of ["step", "step-back", "step-on"]) $(id).disabled = !state.steps;
    $("step-number").textContent = state.steps ? `${number} of ${state.steps}` : "";
    const answer = state.steps ? ask({ do: "step", index: number - 1 }) : { words: "", picture: "" };
    if (problem("reveal-problem", answer)) return;
    $("step-words").textContent = answer.words;
    $("step-picture").innerHTML = answer.picture;
  };
  $("reveal").addEventListener("click", reveal);
  $("step").addEventListener("input", step);
  $("step-back").addEventListener("click", () => { $("step").stepDown(); step(); });
  $("step-on").addEventListener("click", () => { $("step").stepUp(); step(); });

  // ---- views ----
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const show = (view, focus) => {
    state.view = view;
    for (const tab of tabs) {
      const is = tab.id === "tab-" + view;
      tab.setAttribute("aria-selected", String(is));
      tab.tabIndex = is ? 0 : -1;
      $(tab.getAttribute("aria-controls")).hidden = !is;
      if (is && focus) tab.focus();
    }
    if (view === "matrix") drawProducts();
    if (view === "cast") cast();
    if (state.unit) remember();
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => show(tab.id.slice(4), true));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: tabs[at + 1] ?? tabs[0], ArrowLeft: tabs.at(at - 1), Home: tabs[0], End: tabs.at(-1) }[event.key];
      if (to) { event.preventDefault(); show(to.id.slice(4), true); }
    });
  });

  // ---- begin ----
  const options = (id, names, first) => $(id).replaceChildren(...(first ? [make("option", { value: "" }, first)] : []), ...names.map((name) => make("option", { value: name }, name)));
  const begin = async () => {
    try { await start(); } catch (error) {
      $("status").textContent = `The module could not be loaded: ${error.message}`;
      return;
    }
    state.about = ask({ do: "about" });
    const stale = script.dataset.catalogue !== state.about.catalogue;
    $("status").textContent = stale ? `The module computes with another catalogue (${state.about.catalogue}) than the pages show (${script.dataset.catalogue}).` : "";
    $("status").hidden = !stale;
    options("family", state.about.families);
    $("family").value = "normal";
    options("cast-from", state.about.formats);
    options("cast-to", state.about.formats);
    [$("cast-from").value, $("cast-to").value] = ["f32", ask({ do: "bits", format: "e4m3", word: "0" }).format];
    options("cast-rounding", state.about.roundings, "nearest even");
    options("cast-policy", state.about.policies, "PTX, else IEEE");
    options("cast-overflow", state.about.overflows, "by the rules");
    $("cast-flags").replaceChildren(...FLAGS.map((name) => make("span", {}, make("input", { type: "checkbox", id: "cast-" + name, onchange: cast }), " ", make("label", { for: "cast-" + name }, name), " ")));
    for (const name of CAST) $("cast-" + name).addEventListener("input", cast);
    // What a link without these fields shows.
    state.casts = Object.fromEntries(CAST.map((name) => [name, $("cast-" + name).value]));
    $("explorer").hidden = false;
    follow();
    window.addEventListener("hashchange", follow);
    document.documentElement.dataset.ready = "true";
    // For tests: the same questions as the page's own.
    window.atlasAsk = ask;
  };
  begin();
})();
