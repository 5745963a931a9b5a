// The table of verdicts: chosen rows alone, a name before each cell for narrow screens, and an open
// section where a link leads into it. Without this script all rows show.
"use strict";
{
  const chosen = { language: "languages", component: "components" };

  const choice = (label, options, renew) => {
    const field = document.createElement("select");
    field.append(...options.map((option) => new Option(option.text, option.value)));
    field.addEventListener("change", renew);
    const named = document.createElement("label");
    named.append(`${label} `, field);
    return { field, named };
  };

  for (const table of document.querySelectorAll(".filtered table")) {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const rows = [...table.tBodies[0].rows];
    const at = (row, name) => row.cells[names.indexOf(name)].textContent;
    for (const row of rows) {
      [...row.cells].forEach((cell, index) => { cell.dataset.label = names[index]; });
    }
    const count = document.createElement("output");
    const renew = () => {
      for (const row of rows) {
        const failed = at(row, "driven") === "FAIL" || at(row, "recorded") === "FAIL";
        row.hidden = !fields.every(({ field, fits }) => !field.value || fits(row, field.value))
          || (verdict.field.value !== "" && failed !== (verdict.field.value === "FAIL"));
      }
      count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    };
    const fields = Object.entries(chosen).map(([name, all]) => {
      const values = [...new Set(rows.flatMap((row) => at(row, name).split(", ")))].sort();
      const options = values.map((value) => ({ text: value, value }));
      return {
        ...choice(name, [{ text: `all ${all}`, value: "" }, ...options], renew),
        fits: (row, value) => at(row, name).split(", ").includes(value),
      };
    });
    const verdict = choice("verdict", [
      { text: "all verdicts", value: "" },
      { text: "PASS: nothing failed", value: "PASS" },
      { text: "FAIL: driven or recorded", value: "FAIL" },
    ], renew);
    const form = document.createElement("form");
    form.append(...fields.map(({ named }) => named), verdict.named, count);
    table.closest(".filtered").prepend(form);
    renew();
  }

  const open = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section = place?.matches("h2") ? place.nextElementSibling?.nextElementSibling : place;
    const closed = section?.closest("details:not([open])");
    if (closed) {
      closed.open = true;
      place.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  addEventListener("DOMContentLoaded", open);
  open();
}
