"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  /* Tables: a click on a heading sorts, the box above filters, and only as many rows as are looked at are laid out. */
  const PAGE = 100;
  const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  const INFINITE = { inf: Infinity, "+inf": Infinity, "-inf": -Infinity };

  const valueOf = (cell) => {
    const text = cell ? cell.dataset.v ?? cell.textContent.trim() : "";
    if (NUMBER.test(text)) return Number(text);
    const small = text.toLowerCase();
    if (small in INFINITE) return INFINITE[small];
    return small === "nan" || small === "" ? null : text;
  };

  const order = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return one.localeCompare(other, undefined, { numeric: true });
  };

  const prepareTable = (section) => {
    if (section.dataset.ready) return;
    section.dataset.ready = "yes";
    const table = section.querySelector("table");
    const rows = all("tbody > tr", table);
    const body = table.tBodies[0];
    all("tbody.rest", table).forEach((rest) => rest.remove());
    const filter = section.querySelector(".filter");
    const count = section.querySelector(".count");
    const more = section.querySelector("button.more");
    let sorted = rows;
    let limit = PAGE;
    let texts = null;

    const draw = () => {
      const wanted = filter ? filter.value.trim().toLowerCase() : "";
      let found = sorted;
      if (wanted) {
        texts ??= new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
        found = sorted.filter((row) => texts.get(row).includes(wanted));
      }
      const shown = found.slice(0, limit);
      body.replaceChildren(...shown);
      if (count) count.textContent = count.dataset.text.replace("{shown}", shown.length).replace("{all}", rows.length);
      if (more) more.hidden = shown.length === found.length;
    };

    const sortBy = (heading, place) => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      all("thead th", table).forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const known = [];
      const unknown = [];
      rows.forEach((row) => {
        const value = valueOf(row.cells[place]);
        (value === null ? unknown : known).push([value, row]);
      });
      known.sort((one, other) => (down ? order(other[0], one[0]) : order(one[0], other[0])));
      sorted = [...known, ...unknown].map((pair) => pair[1]);
      draw();
    };

    if (section.classList.contains("sortable")) {
      all("thead th", table).forEach((heading, place) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...heading.childNodes);
        heading.append(button);
        button.addEventListener("click", () => sortBy(heading, place));
      });
    }
    if (filter) filter.addEventListener("input", () => { limit = PAGE; draw(); });
    if (more) more.addEventListener("click", () => { limit += 5 * PAGE; draw(); });
    if (rows.length > PAGE) draw();
  };

  /* Curves: the values at the step under the pointer, or at the one the arrow keys have come to. */
  const prepareCurves = (section) => {
    const box = section.querySelector(".plot-box");
    if (!box) return;
    const data = JSON.parse(box.dataset.points);
    const plot = box.querySelector(".plot");
    const cursor = box.querySelector(".cursor");
    const readout = section.querySelector(".readout");
    const hint = readout.textContent;
    const first = data.steps[0];
    const span = data.steps[data.steps.length - 1] - first;
    let at = -1;

    const part = (name, value) => {
      const span = document.createElement("span");
      const strong = document.createElement("b");
      strong.textContent = value;
      span.append(name ? `${name} ` : "", strong);
      return span;
    };

    const point = (place) => {
      at = Math.max(0, Math.min(data.steps.length - 1, place));
      const step = data.steps[at];
      const share = `${span > 0 ? ((step - first) / span) * 100 : 50}%`;
      cursor.setAttribute("x1", share);
      cursor.setAttribute("x2", share);
      box.classList.add("pointed");
      const values = data.rows.filter((row) => row.at[at] !== null).map((row) => part(row.name, row.at[at]));
      readout.replaceChildren(part("", data.step.replace("{step}", data.names ? data.names[at] : step)), ...values);
    };

    const leave = () => {
      at = -1;
      box.classList.remove("pointed");
      readout.textContent = hint;
    };

    const nearest = (step) => {
      let low = 0;
      let high = data.steps.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (data.steps[middle] <= step) low = middle; else high = middle;
      }
      return Math.abs(data.steps[high] - step) < Math.abs(step - data.steps[low]) ? high : low;
    };

    const follow = (event) => {
      const area = plot.getBoundingClientRect();
      point(nearest(first + ((event.clientX - area.left) / area.width) * span));
    };
    box.addEventListener("pointermove", follow);
    box.addEventListener("pointerdown", follow);
    box.addEventListener("pointerleave", leave);
    box.addEventListener("blur", leave);
    box.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: data.steps.length - 1 };
      if (event.key === "Escape") leave();
      if (!(event.key in moves)) return;
      event.preventDefault();
      point(moves[event.key]);
    });
  };

  /* Strips: a cell opens its layer's details below, arrow keys go from cell to cell. */
  const prepareStrip = (section) => {
    const strip = section.querySelector(".strip");
    const cells = all(".cell", strip);
    const readout = section.querySelector(".readout");
    const rest = readout.textContent;
    let chosen = null;

    const layerOf = (cell) => {
      const target = cell.hash && document.getElementById(cell.hash.slice(1));
      return target ? target.closest(".layer") : null;
    };

    const close = () => {
      if (!chosen) return;
      chosen.removeAttribute("aria-expanded");
      layerOf(chosen).classList.remove("chosen");
      layerOf(chosen).open = false;
      chosen = null;
    };

    const choose = (cell) => {
      const layer = layerOf(cell);
      const again = cell === chosen;
      close();
      if (!layer || again) return;
      all(".block.table", layer).forEach(prepareTable);
      layer.classList.add("chosen");
      layer.open = true;
      cell.setAttribute("aria-expanded", "true");
      chosen = cell;
    };

    const go = (cell) => {
      cells.forEach((one) => { one.tabIndex = one === cell ? 0 : -1; });
      cell.focus();
    };

    /* The cell in the next or previous row that is nearest. */
    const beside = (cell, down) => {
      const here = cell.getBoundingClientRect();
      let best = null;
      cells.forEach((one) => {
        const there = one.getBoundingClientRect();
        const rows = down ? there.top - here.top : here.top - there.top;
        if (rows <= 1) return;
        const far = [rows, Math.abs(there.left - here.left)];
        if (!best || far[0] < best[1][0] - 1 || (far[0] < best[1][0] + 1 && far[1] < best[1][1])) best = [one, far];
      });
      return best ? best[0] : cell;
    };

    const cellOf = (event) => event.target.closest(".cell");
    strip.addEventListener("click", (event) => {
      const cell = cellOf(event);
      if (!cell) return;
      event.preventDefault();
      go(cell);
      choose(cell);
    });
    ["pointerover", "focusin"].forEach((kind) => strip.addEventListener(kind, (event) => {
      const cell = cellOf(event);
      if (cell) readout.textContent = cell.title;
    }));
    /* Closed by its own heading; the event does not bubble. */
    section.addEventListener("toggle", (event) => {
      if (chosen && event.target === layerOf(chosen) && !event.target.open) close();
    }, true);
    strip.addEventListener("pointerleave", () => { readout.textContent = rest; });
    strip.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      if (!cell) return;
      const place = cells.indexOf(cell);
      const moves = {
        ArrowLeft: () => cells[Math.max(0, place - 1)],
        ArrowRight: () => cells[Math.min(cells.length - 1, place + 1)],
        ArrowUp: () => beside(cell, false),
        ArrowDown: () => beside(cell, true),
        Home: () => cells[0],
        End: () => cells[cells.length - 1],
      };
      if (event.key === "Escape") close();
      else if (event.key === " " || event.key === "Enter") choose(cell);
      else if (event.key in moves) go(moves[event.key]());
      else return;
      event.preventDefault();
    });
  };

  all(".block.table").forEach((section) => { if (!section.closest(".layer")) prepareTable(section); });
  all(".block.curves").forEach(prepareCurves);
  all(".layers-of-network").forEach(prepareStrip);
})();
