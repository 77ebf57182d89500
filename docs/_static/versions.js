// The list of versions in the sidebar, and the way to another one's start page.
{
  const list = document.getElementById("versions");
  list.replaceChildren(
    ...DIRECTML_PY_VERSIONS.map((name) => new Option(name, name, name === list.dataset.version, name === list.dataset.version)),
  );
  list.addEventListener("change", () => {
    location.href = `${list.dataset.root}${list.value}/index.html`;
  });
}
