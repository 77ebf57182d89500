// The filter of the table of feature levels. What is chosen stands in the address, so that it can be passed on.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("level-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("#levels tbody tr")].map((row) => ({
    row,
    level: Number(row.dataset.level),
    family: row.dataset.family,
    types: row.dataset.types.split(" "),
    operator: row.cells[1].textContent.toUpperCase(),
  }));
  const fields = form.elements;

  function show() {
    const text = fields.text.value.trim().toUpperCase().replace(/^DML_OPERATOR_/, "");
    const level = Number(fields.level.value);
    let count = 0;
    for (const one of rows) {
      const fits =
        one.operator.includes(text) &&
        (!level || one.level === level || (fields.before.checked && one.level < level)) &&
        (!fields.type.value || one.types.includes(fields.type.value)) &&
        (!fields.family.value || one.family === fields.family.value);
      one.row.hidden = !fits;
      count += fits;
    }
    fields.count.value = `${count} of ${rows.length} rows`;
  }

  function changed() {
    const chosen = new URLSearchParams();
    for (const name of ["text", "level", "type", "family"]) {
      if (fields[name].value) chosen.set(name, fields[name].value);
    }
    if (!fields.before.checked) chosen.set("only", "1");
    history.replaceState(null, "", chosen.size ? `#${chosen}` : location.pathname);
    show();
  }

  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of ["text", "level", "type", "family"]) {
    if (given.has(name)) fields[name].value = given.get(name);
  }
  fields.before.checked = !given.has("only");
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
});
