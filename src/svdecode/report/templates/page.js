(function () {
  "use strict";
  function all(root, what) { return Array.prototype.slice.call(root.querySelectorAll(what)); }
  document.documentElement.classList.add("js");

  var tabs = all(document, "[role=tab]");
  function part(tab) { return document.getElementById(tab.getAttribute("aria-controls")); }
  function show(tab) {
    tabs.forEach(function (other) {
      var on = other === tab;
      other.setAttribute("aria-selected", on ? "true" : "false");
      other.tabIndex = on ? 0 : -1;
      part(other).classList.toggle("off", !on);
    });
  }
  tabs.forEach(function (tab, i) {
    part(tab).setAttribute("role", "tabpanel");
    part(tab).setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", function () { show(tab); });
    tab.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) { return; }
      var next = tabs[(i + step + tabs.length) % tabs.length];
      show(next);
      next.focus();
    });
  });
  function fromAddress() {
    var wanted = tabs.filter(function (tab) { return "#" + part(tab).id === location.hash; });
    if (tabs.length) { show(wanted.length ? wanted[0] : tabs[0]); }
  }
  window.addEventListener("hashchange", fromAddress);
  fromAddress();

  all(document, ".browser").forEach(function (browser) {
    var columns = Number(browser.dataset.columns), rows = Number(browser.dataset.rows);
    var names = browser.dataset.names.split("|");
    var layers = all(browser, ".store img"), views = all(browser, ".view");
    var selects = all(browser, "select"), slider = browser.querySelector("input");
    function draw() {
      var slice = Number(slider.value), told = [];
      browser.querySelector("output").textContent = names[slice];
      views.forEach(function (view, i) {
        var layer = layers[Number(selects[i].value)];
        if (view.src !== layer.src) { view.src = layer.src; }
        view.alt = layer.alt + ", slice " + names[slice];
        view.style.width = 100 * columns + "%";
        view.style.height = 100 * rows + "%";
        view.style.left = -100 * (slice % columns) + "%";
        view.style.top = -100 * Math.floor(slice / columns) + "%";
        if (told.indexOf(layer.dataset.legend) === -1) { told.push(layer.dataset.legend); }
      });
      browser.querySelector(".legend").textContent = told.join(" ");
    }
    selects.forEach(function (select) { select.addEventListener("change", draw); });
    slider.addEventListener("input", draw);
    if (names.length === 1) { slider.parentNode.hidden = true; }
    draw();
  });

  all(document, ".excerpt").forEach(function (excerpt) {
    var button = excerpt.querySelector("button");
    button.addEventListener("click", function () {
      var range = document.createRange(), selection = window.getSelection();
      range.selectNodeContents(excerpt.querySelector("blockquote"));
      selection.removeAllRanges();
      selection.addRange(range);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    });
  });
})();
