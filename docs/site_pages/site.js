// Dark and light, the list of pages, tabs of languages that are remembered, and the search.
(function () {
  'use strict';
  var root = document.documentElement;
  function stored(key, value) {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch (error) { /* a browser may forbid it for files */ }
    return null;
  }
  function theme() {
    return stored('theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  }
  root.dataset.theme = theme();

  function choose(language, from) {
    document.querySelectorAll('.tabs').forEach(function (set) {
      var tabs = Array.from(set.querySelectorAll('[role=tab]'));
      var chosen = tabs.find(function (tab) { return tab.dataset.language === language; });
      if (!chosen) return;
      tabs.forEach(function (tab) {
        var on = tab === chosen;
        tab.setAttribute('aria-selected', on);
        tab.tabIndex = on ? 0 : -1;
        document.getElementById(tab.getAttribute('aria-controls')).hidden = !on;
      });
    });
    if (from) {
      stored('language', language);
      from.scrollIntoView({block: 'nearest'});
    }
  }

  function tabs() {
    document.querySelectorAll('[role=tablist]').forEach(function (list) {
      var all = Array.from(list.querySelectorAll('[role=tab]'));
      all.forEach(function (tab, place) {
        tab.addEventListener('click', function () { choose(tab.dataset.language, tab); });
        tab.addEventListener('keydown', function (event) {
          var step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
          if (!step) return;
          var next = all[(place + step + all.length) % all.length];
          choose(next.dataset.language, next);
          next.focus();
        });
      });
    });
    if (stored('language')) choose(stored('language'));
  }

  function find(words) {
    var found = [];
    window.searchIndex.forEach(function (entry) {
      var title = entry[0].toLowerCase(), page = entry[2].toLowerCase(), text = entry[3].toLowerCase(), score = 0;
      for (var i = 0; i < words.length; i++) {
        var word = words[i], at = title.indexOf(word);
        if (title === word) score += 60;
        else if (at === 0) score += 30;
        else if (at > 0) score += 15;
        else if (page.indexOf(word) >= 0) score += 6;
        else if (text.indexOf(word) >= 0) score += 2;
        else return;
      }
      found.push([score - title.length / 100, entry]);
    });
    return found.sort(function (a, b) { return b[0] - a[0]; }).slice(0, 12).map(function (each) { return each[1]; });
  }

  function search() {
    var input = document.getElementById('search'), list = document.getElementById('found'), at = -1, asked = false;
    function show() {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      list.textContent = '';
      at = -1;
      list.hidden = !words.length || !window.searchIndex;
      input.setAttribute('aria-expanded', !list.hidden);
      input.removeAttribute('aria-activedescendant');
      if (list.hidden) return;
      var results = find(words);
      results.forEach(function (entry, place) {
        var item = document.createElement('li'), link = document.createElement('a'), title = document.createElement('b');
        var where = document.createElement('span'), text = document.createElement('p');
        item.id = 'found-' + place;
        item.setAttribute('role', 'option');
        item.setAttribute('aria-selected', 'false');
        link.href = root.dataset.base + '/' + entry[1];
        link.tabIndex = -1;
        title.textContent = entry[0];
        where.textContent = entry[2] === entry[0] ? '' : '  ' + entry[2];
        text.textContent = entry[3];
        link.append(title, where, text);
        item.append(link);
        list.append(item);
      });
      if (!results.length) {
        var none = document.createElement('li');
        none.className = 'none';
        none.setAttribute('role', 'option');
        none.textContent = 'Nothing has these words.';
        list.append(none);
      }
    }
    function load() {
      if (asked) return;
      asked = true;
      var script = document.createElement('script');
      script.src = root.dataset.base + '/search.js';
      script.onload = show;
      document.head.append(script);
    }
    function select(step) {
      var items = list.querySelectorAll('li a');
      if (!items.length) return;
      if (at >= 0) items[at].parentNode.setAttribute('aria-selected', 'false');
      at = (at + step + items.length) % items.length;
      items[at].parentNode.setAttribute('aria-selected', 'true');
      items[at].scrollIntoView({block: 'nearest'});
      input.setAttribute('aria-activedescendant', 'found-' + at);
    }
    input.addEventListener('focus', load);
    input.addEventListener('input', show);
    input.addEventListener('keydown', function (event) {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        select(event.key === 'ArrowDown' ? 1 : -1);
      } else if (event.key === 'Enter') {
        var items = list.querySelectorAll('li a');
        if (items.length) items[Math.max(at, 0)].click();
      } else if (event.key === 'Escape') {
        input.value = '';
        show();
        input.blur();
      }
    });
    document.addEventListener('keydown', function (event) {
      if (event.key !== '/' || /input|textarea/i.test(document.activeElement.tagName)) return;
      event.preventDefault();
      input.focus();
    });
    document.addEventListener('click', function (event) {
      if (!event.target.closest('.search')) list.hidden = true;
    });
  }

  document.addEventListener('DOMContentLoaded', function () {
    document.getElementById('theme').addEventListener('click', function () {
      root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
      stored('theme', root.dataset.theme);
    });
    var menu = document.getElementById('menu'), pages = document.getElementById('pages');
    menu.addEventListener('click', function () {
      menu.setAttribute('aria-expanded', pages.classList.toggle('open'));
    });
    var here = pages.querySelector('[aria-current]');
    if (here && here.offsetTop > pages.clientHeight - 80) pages.scrollTop = here.offsetTop - pages.clientHeight / 2;
    tabs();
    search();
  });
})();
