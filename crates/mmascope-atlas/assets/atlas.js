// The search box of every page. It finds pages by any accepted name; it computes nothing.
"use strict";
(() => {
  const input = document.getElementById("search");
  const list = document.getElementById("search-results");
  const count = document.getElementById("search-count");
  const MOST = 40;
  // Words of full spellings that say nothing about the arithmetic, and words that mean another.
  const SILENT = new Set(["sync", "aligned", "row", "col", "mmaasync", "blockscale", "ctagroup::1", "rn"]);
  const SAME = { "scalevec::1x": "block32", "scalevec::2x": "block32", "scalevec::4x": "block16" };
  let entries = null;

  // Names are compared without case, underscores and hyphens; both spellings of a shape with blocks are the same.
  const folded = (text) => text.toLowerCase().replace(/[_-]/g, "");
  const slug = (text) => text.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "");

  const build = (index) => {
    const found = index.pages.map(([page, title, words]) => ({ page, title, small: "", hay: folded(title + " " + words), rank: 0 }));
    for (const it of index.architectures) {
      const names = folded([it.name, it.names, it.title].join(" "));
      found.push({ page: it.page, title: it.title, small: it.names, hay: names, rank: 1 });
      for (const [name, shapes, unit] of it.rows) {
        const page = (unit < 0 ? it.page : index.units[unit]) + "#" + slug(it.name + ":" + name);
        const plain = name.replace(/_\d+b(?=_|$)/, "");
        const hay = names + " " + folded([name, plain, shapes].join(" "));
        found.push({ page, title: name, small: it.name + (unit < 0 ? ", no model" : ""), hay, rank: unit < 0 ? 3 : 2 });
      }
    }
    return found;
  };

  const words = (query) =>
    query.split(/\s+|(?<!:):(?!:)|[.,]+/).map(folded).filter((word) => word && !SILENT.has(word)).map((word) => SAME[word] || word);

  const search = (query) => {
    const wanted = words(query);
    if (!wanted.length) return [];
    const whole = folded(query.trim());
    const hits = entries.filter((entry) => wanted.every((word) => entry.hay.includes(word)));
    const score = (entry) => (folded(entry.title) === whole ? -1 : entry.rank);
    return hits.map((entry, at) => [score(entry), at, entry]).sort((x, y) => x[0] - y[0] || x[1] - y[1]).map((it) => it[2]);
  };

  const load = () =>
    new Promise((done, failed) => {
      if (entries) return done();
      const script = document.createElement("script");
      script.src = "atlas-search.js";
      script.onload = () => { entries = build(window.atlasIndex); done(); };
      script.onerror = failed;
      document.head.append(script);
    });

  const show = () => {
    const hits = search(input.value);
    list.replaceChildren(...hits.slice(0, MOST).map((hit) => {
      const link = document.createElement("a");
      link.href = hit.page;
      link.textContent = hit.title;
      if (hit.small) link.append(Object.assign(document.createElement("small"), { textContent: hit.small }));
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    list.hidden = !hits.length;
    count.textContent = input.value.trim() ? (hits.length ? `${hits.length} found` : "nothing found") : "";
  };

  const update = () => load().then(show, () => { count.textContent = "the search index is missing"; });
  input.addEventListener("focus", load, { once: true });
  input.addEventListener("input", update);
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    update().then(() => list.querySelector("a")?.click());
  });
  input.form.addEventListener("keydown", (event) => {
    const links = [input, ...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && at >= 0 && links[at + step]) { event.preventDefault(); links[at + step].focus(); }
    if (event.key === "Escape") { list.hidden = true; input.focus(); }
  });
  document.addEventListener("click", (event) => { if (!input.form.contains(event.target)) list.hidden = true; });
  // "/" leads to the search, unless something is being typed.
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(input|textarea|select)$/i.test(event.target.tagName)) { event.preventDefault(); input.focus(); }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { input.value = asked; update(); }
})();
