// Zooming and reading values. The page is complete without this script, which redraws plots only when they are zoomed.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg", WIDE = 1000, HIGH = 100, ROUND = [1, 2, 2.5, 5, 10];
  const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
  const put = (parent, name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const label = v => {
    const size = Math.abs(v);
    if (v && (size < 1e-3 || size >= 1e6)) return v.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
    return size >= 1000 ? Math.round(v).toLocaleString("en-US") : String(+v.toPrecision(4));
  };
  const shown = v => typeof v === "number" ? (v && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? label(v) : String(v)) : v;
  const whole = v => Math.round(v).toLocaleString("en-US");
  const share = (axis, v) => axis.log ? Math.log(v / axis.low) / Math.log(axis.high / axis.low)
    : (v / 2 - axis.low / 2) / (axis.high / 2 - axis.low / 2);

  // Steps come as differences; null is a break of the line.
  const line = raw => {
    const summed = differences => { let at = 0; return differences.map(d => d === null ? NaN : (at += d)); };
    return { name: raw.name, x: summed(raw.x), y: raw.y, mx: summed(raw.mx), my: raw.my };
  };

  const ticks = (axis, about) => {
    let first = axis.low, last = axis.high;
    if (axis.log) {
      first = Math.log10(first); last = Math.log10(last);
      if (last - first >= 2) {
        const each = Math.ceil((last - first) / about), powers = [];
        for (let p = Math.ceil(first); p <= last; p += each) powers.push(10 ** p);
        return powers;
      }
      if (last - first > .5) {
        const some = [];
        for (let p = Math.floor(first); p <= last; p++) some.push(...[1, 2, 5].map(digit => digit * 10 ** p));
        return some.filter(v => v >= axis.low && v <= axis.high);
      }
      first = axis.low; last = axis.high;
    }
    const span = axis.high / about - axis.low / about, unit = 10 ** Math.floor(Math.log10(span));
    const size = ROUND.find(r => r * unit >= span * .999) * unit, found = [];
    for (let k = Math.ceil(axis.low / size); k * size <= axis.high && found.length < 40; k++) found.push(k * size + 0);
    return found;
  };

  // The first position whose step is not below `step`. Breaks (NaN) are skipped.
  const search = (xs, step) => {
    let low = 0, high = xs.length;
    while (low < high) {
      let middle = (low + high) >> 1, at = middle;
      while (at < high && isNaN(xs[at])) at++;
      if (at < high && xs[at] < step) low = at + 1; else high = middle;
    }
    return low;
  };

  // The path data of a line within the axes. Dense points are reduced to the lowest and highest of each half unit.
  const path = (x, y, xs, ys, from, to) => {
    let d = "", pen = false;
    const dense = to - from > 4 * WIDE ? Math.ceil((to - from) / WIDE / 2) : 1;
    const add = i => {
      if (typeof ys[i] !== "number" || isNaN(xs[i])) { pen = false; return; }
      const up = clamp((1 - share(y, ys[i])) * HIGH, -HIGH, 2 * HIGH);
      d += `${pen ? "L" : "M"}${(share(x, xs[i]) * WIDE).toFixed(1)} ${up.toFixed(1)}`;
      pen = true;
    };
    for (let i = from; i < to; i += dense) {
      if (dense === 1) { add(i); continue; }
      let low = -1, high = -1, lost = -1;
      for (let k = i; k < Math.min(i + dense, to); k++) {
        if (typeof ys[k] !== "number" || isNaN(xs[k])) { lost = k; continue; }
        if (low < 0 || ys[k] < ys[low]) low = k;
        if (high < 0 || ys[k] > ys[high]) high = k;
      }
      if (low >= 0) [Math.min(low, high), ...(low === high ? [] : [Math.max(low, high)])].forEach(add);
      if (lost >= 0) pen = false;
    }
    return d;
  };

  class Panel {
    constructor(figure, data) {
      this.figure = figure; this.data = data; this.axis = figure.dataset.axis;
      this.stage = figure.querySelector(".stage"); this.svg = figure.querySelector("svg.plot");
      this.height = +this.svg.getAttribute("height");
      this.outputs = [...figure.querySelectorAll("output")];
      this.grid = this.svg.querySelector(".ticks"); this.first = this.grid.cloneNode(true);
      this.paths = [...this.svg.querySelectorAll(".lines path")]; this.drawn = this.paths.map(p => p.getAttribute("d"));
      this.rings = [...this.svg.querySelectorAll("[data-y] circle")].map(c => [c, c.getAttribute("cy")]);
      this.lines = data && data.lines ? data.lines.map(line) : [];
      this.cursor = put(this.svg, "g", { class: "cursor" });
    }
    values() { // the value axis for the visible steps
      const { low, high } = this.x, all = [this.data.y, this.data.log];
      if (low === this.whole.low && high === this.whole.high) return { low: all[0][0], high: all[0][1], log: all[1] };
      let least = Infinity, most = -Infinity;
      for (const l of this.lines) {
        for (let i = search(l.x, low); i < l.x.length && !(l.x[i] > high); i++) {
          if (typeof l.y[i] === "number") { least = Math.min(least, l.y[i]); most = Math.max(most, l.y[i]); }
        }
      }
      if (least > most) return { low: all[0][0], high: all[0][1], log: all[1] };
      if (all[1]) { const air = Math.max((most / least) ** .05, 1.02); return { low: least / air, high: most * air, log: true }; }
      const air = (most - least) * .05 || Math.abs(most) * .05 || 1;
      return { low: least - air, high: most + air, log: false };
    }
    show(x, whole) {
      const zoomed = x.low !== whole.low || x.high !== whole.high;
      this.x = x; this.whole = whole;
      this.figure.classList.toggle("zoomed", zoomed);
      if (this.lines.length) this.redraw(zoomed);
      const image = this.svg.querySelector("image.heat");
      if (image) {
        image.setAttribute("x", 100 * share(x, whole.low) + "%");
        image.setAttribute("width", 100 * (share(x, whole.high) - share(x, whole.low)) + "%");
      }
      if (!this.lines.length) this.steps(zoomed);
      for (const mark of this.svg.querySelectorAll(".at")) {
        const at = share(x, +mark.dataset.at);
        mark.setAttribute("x", 100 * at + "%");
        mark.setAttribute("visibility", at >= 0 && at <= 1 ? "visible" : "hidden");
      }
      for (const over of this.svg.querySelectorAll(".over")) {
        const from = clamp(share(x, +over.dataset.from), 0, 1), to = clamp(share(x, +over.dataset.to), 0, 1);
        over.setAttribute("x", 100 * from + "%");
        over.setAttribute("width", 100 * (to - from) + "%");
      }
      this.button(zoomed);
    }
    redraw(zoomed) {
      const y = this.y = this.values();
      this.rings.forEach(([ring, first]) => ring.setAttribute("cy",
        zoomed ? this.height * (1 - share(y, +ring.parentNode.dataset.y)) : first));
      if (!zoomed) {
        this.paths.forEach((p, i) => p.setAttribute("d", this.drawn[i]));
      } else {
        let k = 0;
        for (const l of this.lines) {
          const from = Math.max(search(l.x, this.x.low) - 2, 0), to = Math.min(search(l.x, this.x.high) + 2, l.x.length);
          for (; k < this.paths.length && this.paths[k].classList.contains("k" + this.lines.indexOf(l)); k++) {
            const sort = this.paths[k].classList;
            if (sort.contains("middle")) this.paths[k].setAttribute("d", to - from > 150 ? path(this.x, y, l.mx, l.my, 0, l.mx.length) : "");
            else if (sort.contains("dots")) this.paths[k].setAttribute("d", path(this.x, y, l.x, l.y, from, to).replace(/[ML]([^ ]+ [^ML]+)/g, "M$1h0"));
            else this.paths[k].setAttribute("d", path(this.x, y, l.x, l.y, from, to));
          }
        }
      }
      this.steps(zoomed);
    }
    steps(zoomed) {
      if (!zoomed) { this.grid.replaceChildren(...this.first.cloneNode(true).childNodes); return; }
      this.grid.replaceChildren();
      if (this.lines.length) {
        for (const v of ticks(this.y, this.height < 100 ? 2 : 4)) {
          const at = this.height * (1 - share(this.y, v));
          put(this.grid, "line", { x1: 0, x2: "100%", y1: at, y2: at });
          put(this.grid, "text", { x: -8, y: at + 3.5, class: "y" }, label(v));
        }
      }
      for (const v of ticks(this.x, 6).filter(Number.isInteger)) {
        const at = 100 * share(this.x, v) + "%";
        put(this.grid, "line", { x1: at, x2: at, y1: 0, y2: this.height });
        put(this.grid, "text", { x: at, y: this.height + 15, class: "x" }, whole(v));
      }
    }
    button(zoomed) {
      let reset = this.stage.querySelector(".reset");
      if (zoomed && !reset) {
        reset = document.createElement("button");
        reset.type = "button"; reset.className = "reset"; reset.textContent = "show all";
        reset.addEventListener("click", () => axes.get(this.axis).show());
        this.stage.append(reset);
      } else if (!zoomed && reset) reset.remove();
    }
    nearest(step) { // the point of each line that is nearest to a step
      return this.lines.map(l => {
        let best = -1;
        for (let i = Math.max(search(l.x, step) - 2, 0), end = Math.min(i + 5, l.x.length); i < end; i++) {
          if (!isNaN(l.x[i]) && (best < 0 || Math.abs(l.x[i] - step) < Math.abs(l.x[best] - step))) best = i;
        }
        return best;
      });
    }
    point(step, up) { // cursor and read-out; null removes them
      this.cursor.replaceChildren();
      this.outputs.forEach(o => o.textContent = "");
      if (step === null || !this.x) return;
      const at = 100 * share(this.x, step) + "%";
      put(this.cursor, "line", { x1: at, x2: at, y1: 0, y2: this.height });
      this.nearest(step).forEach((i, k) => {
        if (i < 0) return;
        const l = this.lines[k], where = share(this.x, l.x[i]);
        if (this.outputs[k]) this.outputs[k].textContent = `${shown(l.y[i])} at ${whole(l.x[i])}`;
        if (typeof l.y[i] !== "number" || where < 0 || where > 1) return;
        const y = clamp(this.height * (1 - share(this.y || { low: this.data.y[0], high: this.data.y[1], log: this.data.log }, l.y[i])), 0, this.height);
        put(this.cursor, "circle", { cx: 100 * where + "%", cy: y, r: 4, class: "k" + k });
      });
      if (this.data && this.data.layers) {
        const { layers, values } = this.data, row = clamp(Math.floor((up ?? 0) * layers.length), 0, layers.length - 1);
        const column = clamp(Math.floor(share(this.whole, step) * values[0].length), 0, values[0].length - 1);
        this.outputs[0].textContent = `${layers[row]}: ${shown(values[row][column]) ?? "not logged"} at ${whole(step)}`;
      }
    }
  }

  // Panels with the same step axis zoom and show values together.
  class Axis {
    constructor(panels, low, high) {
      this.panels = panels; this.whole = { low, high }; this.at = null;
      panels.forEach(p => this.listen(p));
      this.show();
    }
    show(low = this.whole.low, high = this.whole.high) {
      const least = Math.max((this.whole.high - this.whole.low) / 1e6, Math.min(4, this.whole.high - this.whole.low));
      low = Math.max(low, this.whole.low); high = Math.min(high, this.whole.high);
      if (high - low < least) { const middle = clamp((low + high) / 2, this.whole.low + least / 2, this.whole.high - least / 2); low = middle - least / 2; high = middle + least / 2; }
      this.x = { low, high };
      this.panels.forEach(p => p.show(this.x, this.whole));
      this.point(null);
    }
    zoom(factor, at) {
      const { low, high } = this.x;
      this.show(at - (at - low) * factor, at + (high - at) * factor);
    }
    point(step, up) { this.at = step; this.panels.forEach(p => p.point(step, up)); }
    listen(p) {
      const place = e => { const box = p.svg.getBoundingClientRect(); return { part: clamp((e.clientX - box.left) / box.width, 0, 1), up: (e.clientY - box.top) / p.height }; };
      const step = part => this.x.low + part * (this.x.high - this.x.low);
      let from = null, chosen = null;
      p.stage.addEventListener("pointermove", e => {
        const { part, up } = place(e);
        if (from === null) { this.point(step(part), up); return; }
        if (!chosen) chosen = put(p.svg, "rect", { class: "selection", height: p.height });
        chosen.setAttribute("x", 100 * Math.min(from, part) + "%");
        chosen.setAttribute("width", 100 * Math.abs(part - from) + "%");
      });
      p.stage.addEventListener("pointerdown", e => {
        if (e.button !== 0 || e.target.closest("button")) return;
        from = place(e).part;
        p.stage.setPointerCapture(e.pointerId);
      });
      const drop = e => {
        if (from === null) return;
        const { part } = place(e), [low, high] = [Math.min(from, part), Math.max(from, part)];
        from = null;
        if (chosen) { chosen.remove(); chosen = null; }
        if (e.type === "pointerup" && high - low > .01) this.show(step(low), step(high));
      };
      p.stage.addEventListener("pointerup", drop);
      p.stage.addEventListener("pointercancel", drop);
      p.stage.addEventListener("pointerleave", () => from === null && this.point(null));
      p.stage.addEventListener("dblclick", () => this.show());
      p.stage.addEventListener("wheel", e => {
        if (!(e.ctrlKey || document.activeElement === p.stage)) return;
        e.preventDefault();
        this.zoom(e.deltaY > 0 ? 1.25 : .8, step(place(e).part));
      }, { passive: false });
      p.stage.addEventListener("keydown", e => this.key(e, p));
      p.stage.addEventListener("blur", () => this.point(null));
    }
    key(e, p) {
      if (e.target !== p.stage || e.ctrlKey || e.metaKey || e.altKey) return;
      const middle = this.at ?? (this.x.low + this.x.high) / 2;
      const move = { ArrowLeft: -1, ArrowRight: 1 }[e.key], grow = { "+": .6, "=": .6, "-": 1 / .6 }[e.key];
      if (move) this.point(this.next(p, middle, move, e.shiftKey));
      else if (grow) { this.zoom(grow, middle); this.point(clamp(middle, this.x.low, this.x.high)); }
      else if (e.key === "Escape") this.show();
      else return;
      e.preventDefault();
    }
    next(p, at, direction, far) { // the next logged step, or a fiftieth of the width further
      const l = p.lines[0], jump = (this.x.high - this.x.low) / 50;
      if (!l || far) return clamp(at + direction * jump, this.x.low, this.x.high);
      let i = p.nearest(at)[0];
      if (this.at === null || direction * (l.x[i] - at) <= 0) do { i += direction; } while (isNaN(l.x[i]) && i > 0 && i < l.x.length);
      const found = l.x[clamp(i, 0, l.x.length - 1)];
      return clamp(isNaN(found) ? at : found, this.x.low, this.x.high);
    }
  }

  const axes = new Map();
  for (const article of document.querySelectorAll("article")) {
    const block = article.querySelector("script.data");
    if (!block) continue;
    const data = JSON.parse(block.textContent), by = new Map();
    for (const figure of article.querySelectorAll("figure[data-axis]")) {
      const name = figure.dataset.axis = `${article.id}-${figure.dataset.axis}`;
      if (figure.querySelector(".stage")) by.set(name, [...by.get(name) ?? [], new Panel(figure, data[figure.dataset.panel])]);
    }
    for (const [name, panels] of by) {
      const known = panels.find(p => p.data);
      if (known) axes.set(name, new Axis(panels, ...known.data.x));
    }
  }
  addEventListener("beforeprint", () => axes.forEach(a => a.point(null)));
})();
