// SPDX-License-Identifier: MIT
// The search of the site. mkdocs' own loads its index in a worker, which a browser refuses to a page that was opened from
// a disk. This one gets the index from a script: search/search_index.js.
(function () {
  const input = document.getElementById("mkdocs-search-query");
  const results = document.getElementById("mkdocs-search-results");
  if (!input || !results) return;

  const documents = new Map(search_index.docs.map((page) => [page.location, page]));
  const index = lunr(function () {
    this.ref("location");
    this.field("title", { boost: 10 });
    this.field("text");
    search_index.docs.forEach((page) => this.add(page));
  });

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  // The text around the first word that was asked for.
  function excerpt(text, words) {
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
    const from = Math.max(0, Math.min(...places, text.length) - 80);
    const begin = places.length ? from : 0;
    return (begin ? "… " : "") + text.substr(begin, 240) + " …";
  }

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
    results.replaceChildren();
    if (!words.length) return;
    // Any word, the whole or its beginning; pages that have all words come first by their score.
    const found = index.query((query) => {
      words.forEach((word) => {
        query.term(lunr.tokenizer(word), { boost: 10 });
        query.term(word, { wildcard: lunr.Query.wildcard.TRAILING });
      });
    });
    found.slice(0, 40).forEach((hit) => {
      const page = documents.get(hit.ref);
      const link = element("a", page.title);
      link.href = hit.ref;
      const heading = document.createElement("h3");
      heading.append(link);
      results.append(heading, element("p", excerpt(page.text, words)));
    });
    if (!found.length) results.append(element("p", "Nothing found."));
  }

  input.value = new URLSearchParams(location.search).get("q") || "";
  input.addEventListener("input", show);
  show();
})();
