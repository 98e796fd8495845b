// Sorting, filtering and opening rows. Only the rows in sight are drawn. Text is set as text, never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.querySelector("script.data").textContent);
  const table = document.querySelector("table.runs"), body = table.tBodies[0], cut = document.querySelector(".cut");
  const tools = document.querySelector(".tools"), search = tools.querySelector("[type=search]");
  const boxes = [...tools.querySelectorAll("[type=checkbox]")], only = tools.querySelector(".only");
  const heads = [...table.tHead.querySelectorAll("th")], keys = heads.map(th => th.dataset.key);
  const n = data.status.length, OVER = 12, SEARCHED = ["run", "what", "node", "cause", "job"];
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const all = Array.from({ length: n }, (_, i) => i);

  const text = (key, i) => { const [words, at] = data.texts[key]; return at[i] < 0 ? "" : words[at[i]]; };
  const whole = v => v.toLocaleString("en-US");
  const make = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...children);
    return made;
  };

  // The sort key of a column: a number for each run. NaN (nothing there) comes last in either direction.
  const ranks = key => {
    if (key === "status") return data.status;
    if (key === "sure") return all.map(i => text("sure", i) ? data.numbers.confidence[i] : NaN);
    const [words, at] = data.texts[key], rank = new Array(words.length);
    words.map((_, k) => k).sort((a, b) => collator.compare(words[a].replaceAll(",", ""), words[b].replaceAll(",", "")))
      .forEach((k, place) => rank[k] = place);
    return at.map(k => k < 0 ? NaN : rank[k]);
  };
  const known = new Map();
  const by = ({ key, down }) => {
    if (!key) return all;
    if (!known.has(key)) known.set(key, ranks(key));
    const rank = known.get(key), sign = down ? -1 : 1;
    return [...all].sort((a, b) => isNaN(rank[a]) - isNaN(rank[b]) || sign * (rank[a] - rank[b]) || a - b);
  };

  const hay = all.map(i => SEARCHED.map(key => text(key, i)).join("\n").toLowerCase());
  let sort = { key: null, down: false }, sorted = all, order = all; // runs, by number
  let group = null, open = null, current = 0, high = 36, more = 0, drawn = [-1, -1];
  let rows = new Map();

  // Height of the window that the filters cover, and that the filters and the table head cover.
  const under = () => getComputedStyle(tools).position === "sticky" ? tools.offsetHeight : 0;
  const roof = () => under() + table.tHead.offsetHeight;

  const filter = () => {
    const states = new Set(boxes.filter(box => box.checked).map(box => +box.value));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    order = sorted.filter(i => states.has(data.status[i]) && (group === null || data.numbers.group[i] === group)
      && words.every(word => hay[i].includes(word)));
    tools.querySelector("output").textContent = order.length === n ? `${whole(n)} runs` : `${whole(order.length)} of ${whole(n)} runs`;
    table.setAttribute("aria-rowcount", order.length + 1);
    if (!order.includes(open)) open = null;
    current = 0;
    scrollBy({ top: Math.min(body.getBoundingClientRect().top - roof(), 0), behavior: "instant" });
    draw(true);
  };

  const row = (i, place) => {
    const [name, sign, words] = data.statuses[data.status[i]], path = text("run", i), end = path.lastIndexOf("/") + 1;
    const button = make("button", { type: "button", title: path, "aria-expanded": i === open },
      ...end ? [make("span", { class: "folder" }, path.slice(0, end))] : [], make("b", {}, path.slice(end)));
    const cells = {
      status: [make("span", { class: "sign", title: words, "aria-hidden": "true" }, sign), make("span", { class: "hidden" }, words)],
      run: [button],
    };
    const report = text("report", i);
    if (report) cells.what = [make("div", {}, make("span", { title: text("what", i) }, text("what", i)),
      make("a", { href: report, tabindex: -1 }, "report"))];
    const made = make("tr", { class: `run s-${name}${i === open ? " open" : ""}`, "aria-rowindex": place + 2 });
    for (const key of keys) made.append(make("td", { class: `c-${key}` }, ...cells[key] ?? [text(key, i)]));
    for (const cell of made.cells) if (!cell.querySelector("[title]") && cell.textContent.length > 20) cell.title = cell.textContent;
    made.addEventListener("click", e => { if (getSelection().isCollapsed && !e.target.closest("a")) toggle(place); });
    return made;
  };

  const details = i => {
    const line = data.numbers.line[i], file = text("file", i), points = data.numbers.points[i];
    const facts = [
      ["Says", text("says", i), "code"], ["Why", text("why", i)],
      ["Where", [file && (line ? `${file}:${line}` : file), file && line ? "" : text("where", i)].filter(Boolean).join(" · "), "code"],
      ["Cause", [text("cause", i), text("severity", i), text("verdict", i), text("sure", i) && `${text("sure", i)} sure`].filter(Boolean).join(" · ")],
      ["Run", [[text("started", i), text("ended", i)].filter(Boolean).join(" to "), text("ended_as", i), text("framework", i)].filter(Boolean).join(" · ")],
      ["Machine", [...new Set([text("node", i), text("host", i)])].filter(Boolean).join(" · ")],
      ["Job", text("job", i)], ["Points", points ? whole(points) : ""],
    ];
    const list = make("dl");
    for (const [label, words, name] of facts) if (words) list.append(make("dt", {}, label), make("dd", {}, name ? make(name, {}, words) : words));
    const code = make("code", {}, `loganalyst diagnose ${text("argument", i)}`), copy = make("button", { type: "button", class: "copy" }, "Copy");
    copy.addEventListener("click", () => copied(code, copy));
    const report = text("report", i), link = report ? [make("a", { href: report }, "Open it"), "or"] : [];
    list.append(make("dt", {}, "Report"), make("dd", { class: "command" }, ...link, code, copy));
    return make("tr", { class: "details" }, make("td", { colspan: keys.length }, list));
  };

  const copied = async (code, button) => {
    try { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; }
    catch { getSelection().selectAllChildren(code); button.textContent = "Selected"; } // the reader can copy it
  };

  const space = height => {
    const cell = make("td", { colspan: keys.length }), made = make("tr", { class: "space", "aria-hidden": "true" }, cell);
    cell.style.height = `${height}px`;
    return made;
  };

  // A place is an index in `order`. The details of the open row push the rows below down by `more` pixels.
  const at = () => open === null ? Infinity : order.indexOf(open);
  const place = down => {
    const below = (at() + 1) * high;
    return Math.floor((down > below ? Math.max(down - more, below - 1) : down) / high);
  };
  const fill = (from, to) => {
    const before = rows, made = [];
    rows = new Map();
    for (let k = from; k < to; k++) {
      const i = order[k];
      rows.set(i, before.get(i) ?? row(i, k));
      made.push(rows.get(i));
      if (i === open) made.push(details(i));
    }
    return made;
  };
  const draw = redraw => {
    const down = -body.getBoundingClientRect().top;
    const from = Math.max(Math.min(place(down), order.length) - OVER, 0), to = Math.min(place(down + innerHeight) + OVER, order.length);
    if (!redraw && from === drawn[0] && to === drawn[1]) return;
    if (redraw) rows = new Map();
    const held = body.contains(document.activeElement) ? document.activeElement : null;
    const opened = at(), made = fill(from, to);
    if (current < from || current >= to) current = Math.min(Math.max(place(down + roof()), from), to - 1);
    rows.forEach((tr, i) => tr.querySelector("button").tabIndex = i === order[current] ? 0 : -1); // one stop of the Tab key
    body.replaceChildren(space(from * high + (opened < from ? more : 0)), ...made,
      space((order.length - to) * high + (opened >= to && opened < Infinity ? more : 0)));
    drawn = [from, to];
    if (held && body.contains(held)) held.focus({ preventScroll: true });
    const shown = body.querySelector("tr.details");
    if (shown) more = shown.getBoundingClientRect().height;
  };

  const fit = () => {
    table.style.setProperty("--under", `${under()}px`);
    high = body.querySelector("tr.run")?.getBoundingClientRect().height || high;
    draw(true);
  };

  const focus = place => {
    current = Math.min(Math.max(place, 0), order.length - 1);
    if (current < 0) return;
    const top = body.getBoundingClientRect().top + current * high + (current > at() ? more : 0);
    if (top < roof()) scrollBy({ top: top - roof(), behavior: "instant" });
    else if (top + high > innerHeight) scrollBy({ top: top + high - innerHeight + 8, behavior: "instant" });
    draw(true);
    rows.get(order[current])?.querySelector("button").focus({ preventScroll: true });
  };
  const toggle = place => {
    open = open === order[place] ? null : order[place];
    focus(place);
  };

  const turn = key => {
    const first = key === "sure"; // the surest runs first
    if (sort.key !== key) sort = { key, down: first };
    else sort = sort.down === first ? { key, down: !first } : { key: null, down: false };
    for (const th of heads) {
      if (th.dataset.key === sort.key) th.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
    sorted = by(sort);
    filter();
  };

  const choose = (number, words) => {
    group = number;
    only.hidden = number === null;
    only.textContent = number === null ? "" : `✕ only: ${words}`;
    filter();
  };

  // Paper shows the first of the chosen rows, and how many there are in all.
  const paper = () => {
    const most = Math.min(order.length, +cut.dataset.most);
    table.classList.remove("live");
    open = null; rows = new Map();
    body.replaceChildren(...fill(0, most));
    cut.textContent = most < order.length ? `The first ${whole(most)} of ${whole(order.length)} runs.` : "";
  };
  const screen = () => {
    table.classList.add("live");
    cut.textContent = "";
    draw(true);
  };

  const start = () => {
    tools.hidden = false;
    document.querySelectorAll(".show").forEach(button => {
      button.hidden = false;
      button.addEventListener("click", () => {
        choose(+button.dataset.group, button.closest("li").querySelector("h3").textContent);
        tools.scrollIntoView({ block: "start" });
      });
    });
    heads.forEach(th => {
      const button = make("button", { type: "button" }, th.textContent);
      button.addEventListener("click", () => turn(th.dataset.key));
      th.replaceChildren(button);
    });
    search.addEventListener("input", filter);
    boxes.forEach(box => box.addEventListener("change", filter));
    only.addEventListener("click", () => choose(null));
    body.addEventListener("keydown", e => {
      const page = Math.max(Math.floor((innerHeight - 120) / high), 1);
      const move = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -n, End: n }[e.key];
      if (e.ctrlKey || e.metaKey || e.altKey || !e.target.closest("tr.run")) return;
      if (move) focus(current + move);
      else if (e.key === "Escape" && open !== null) { open = null; draw(true); focus(current); }
      else return;
      e.preventDefault();
    });
    let waiting = false;
    addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; draw(); });
    }, { passive: true });
    addEventListener("resize", fit);
    addEventListener("beforeprint", paper);
    addEventListener("afterprint", screen);
    table.classList.add("live");
    filter();
    fit();
  };
  start();
})();
