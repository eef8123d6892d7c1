"use strict";
// A box above each long table that leaves the rows with its words. Without scripts all rows are there.
const LONG = 12;
for (const table of document.querySelectorAll("main table")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < LONG) continue;
  const line = document.createElement("p");
  line.className = "filter";
  const label = document.createElement("label");
  label.append("Rows with ");
  const input = document.createElement("input");
  input.type = "search";
  label.append(input);
  const count = document.createElement("output");
  line.append(label, count);
  table.parentElement.before(line);
  const texts = rows.map((row) => row.textContent.toLowerCase());
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      if (!row.hidden) left += 1;
    });
    count.textContent = words.length ? `${left} of ${rows.length} rows` : "";
  });
}
