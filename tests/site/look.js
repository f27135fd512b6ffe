// Runs on a page: what a person with weak eyes or a small screen would meet.
(() => {
  const problems = [];
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 1) {
    const far = [...document.querySelectorAll('main *')].find(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, pre, [role=tablist]'));
    problems.push(`is ${wide} pixels wider than the screen` + (far ? `: <${far.tagName.toLowerCase()}> ${far.textContent.trim().slice(0, 50)}` : ''));
  }
  const numbers = color => {
    const parts = color.match(/[\d.]+/g).map(Number);
    return parts.length === 4 && parts[3] === 0 ? null : parts.slice(0, 3);
  };
  const light = rgb => {
    const [r, g, b] = rgb.map(v => (v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const found = numbers(getComputedStyle(at).backgroundColor);
      if (found) return found;
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  for (const element of document.querySelectorAll('body *')) {
    if (![...element.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || element.closest('script, style')) continue;
    const style = getComputedStyle(element);
    if (style.visibility === 'hidden' || style.opacity === '0' || !element.getClientRects().length) continue;
    const drawing = element.closest('svg');
    const ink = numbers(drawing ? style.fill : style.color);
    const box = drawing && drawing.querySelector('.box');
    const ground = box ? numbers(getComputedStyle(box).fill) : behind(element);
    if (!ink || !ground) continue;
    const [a, b] = [light(ink), light(ground)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 600) ? 3 : 4.5;
    const key = `${ink}/${ground}`;
    if (ratio < needed && !seen.has(key)) {
      seen.add(key);
      problems.push(`contrast ${ratio.toFixed(1)} of "${element.textContent.trim().slice(0, 30)}" (${style.color})`);
    }
    if (size < 11.5 && !drawing) problems.push(`letters of ${size} pixels: "${element.textContent.trim().slice(0, 30)}"`);
  }
  for (const pre of document.querySelectorAll('pre, .scroll'))
    if (pre.scrollWidth > pre.clientWidth && pre.tabIndex < 0) problems.push('a part that scrolls cannot be reached by the keyboard');
  for (const button of document.querySelectorAll('button, input, a[href]'))
    if (!button.textContent.trim() && !button.getAttribute('aria-label')) problems.push(`no name: ${button.outerHTML.slice(0, 60)}`);
  return problems;
})()
