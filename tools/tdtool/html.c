#include <math.h>
#include <string.h>

#include "report.h"

/* In two parts: C99 promises no longer literals. */
static const char frame_style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1c2430;--soft:#5d6b7c;--line:#dfe4ea;--page:#f6f7f9;--card:#fff;"
    "--c0:#2f6fde;--c1:#d9663b;--c2:#2a9d76;--c3:#8a5cd1;--warn:#b4560a;--warnbg:#fdf1e3}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e9f0;--soft:#93a1b3;--line:#2c3542;--page:#"
    "12161c;"
    "--card:#1a2029;--c0:#6ea3ff;--c1:#f08f67;--c2:#58c9a1;--c3:#b794f4;--warn:#f0b26b;--warnbg:#"
    "2c2317}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    ".page{display:grid;grid-template-columns:230px "
    "minmax(0,1fr);gap:36px;max-width:1240px;margin:0 auto;"
    "padding:32px 28px 80px}\n"
    "nav{position:sticky;top:24px;align-self:start;max-height:calc(100vh - "
    "48px);overflow:auto;font-size:13px}"
    "nav ol{list-style:none;margin:0;padding:0}nav li{padding:2px "
    "0;white-space:nowrap;overflow:hidden;"
    "text-overflow:ellipsis}nav "
    ".head{margin-top:14px;color:var(--soft);font-size:11px;letter-spacing:.07em;"
    "text-transform:uppercase}\n"
    "a{color:inherit;text-decoration:none}a:hover{color:var(--c0);text-decoration:underline}\n"
    "h1{font-size:27px;line-height:1.25;margin:0 0 "
    "4px;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}"
    ".sub{color:var(--soft);margin:0 0 22px}\n"
    "h2{font-size:18px;margin:40px 0 "
    "12px;font-weight:620}h3{font-size:15px;margin:0;font-weight:620;"
    "overflow-wrap:anywhere}.kind{color:var(--soft);font-size:13px;font-weight:400;white-space:"
    "nowrap}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(120px,1fr));gap:1px;"
    "background:var(--line);"
    "border:1px solid var(--line);border-radius:10px;overflow:hidden}.figures "
    "div{background:var(--card);"
    "padding:13px 16px}.figures "
    "b{display:block;font-size:21px;font-weight:600;font-variant-numeric:tabular-nums;"
    "letter-spacing:-.01em}.figures span{color:var(--soft);font-size:12.5px}\n";
static const char part_style[] =
    ".card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:18px "
    "20px;margin:0 0 16px;"
    "overflow-x:auto}.card>header{display:flex;justify-content:space-between;gap:16px;align-items:"
    "baseline;"
    "margin-bottom:12px;flex-wrap:wrap}\n"
    "table{border-collapse:collapse;width:100%;font-size:13.5px}th{font-weight:500;color:var(--"
    "soft);text-align:left;"
    "font-size:12.5px}th,td{padding:5px 14px 5px 0;border-bottom:1px solid "
    "var(--line);white-space:nowrap;"
    "vertical-align:middle}tr:last-child "
    "td{border-bottom:0}.n{text-align:right;font-variant-numeric:tabular-nums}"
    "td:last-child,th:last-child{padding-right:0}.dim{color:var(--soft)}.key{font-weight:500}\n"
    ".warn{color:var(--warn)}.notes{list-style:none;margin:0;padding:0}.notes li{padding:5px 0 5px "
    "20px;"
    "position:relative}.notes "
    "li:before{content:'';position:absolute;left:2px;top:13px;width:7px;height:7px;"
    "border-radius:50%;background:var(--warn)}\n"
    ".charts{display:grid;grid-template-columns:minmax(0,1fr) 260px;gap:24px;align-items:start}"
    ".charts.one{grid-template-columns:minmax(0,1fr)}figure{margin:0}figcaption{color:var(--soft);"
    "font-size:12.5px;"
    "margin-bottom:4px}svg{display:block;width:100%;height:auto;overflow:visible}"
    "svg "
    "text{fill:var(--soft);font-size:11px;font-variant-numeric:tabular-nums}.grid{stroke:var(--"
    "line)}"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.f0{fill:"
    "var(--c0)}"
    ".f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.curve{fill:none;stroke-width:1.4;"
    "stroke-linejoin:round;stroke-linecap:round}.band{opacity:.22}.mark{display:inline-block;width:"
    "9px;height:9px;"
    "border-radius:2px;margin:0 4px 0 "
    "10px}.b0{background:var(--c0)}.b1{background:var(--c1)}.b2{background:var(--c2)}"
    ".b3{background:var(--c3)}\n"
    ".facts{display:flex;flex-wrap:wrap;gap:4px 26px;margin:14px 0 0;font-size:13.5px}.facts "
    "dt{color:var(--soft);"
    "font-size:12px}.facts dd{margin:0;font-variant-numeric:tabular-nums}.facts "
    "div{min-width:52px}\n"
    ".pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(96px,1fr));gap:10px;"
    "margin:4px 0 18px}"
    ".pictures "
    "img{display:block;width:100%;height:auto;image-rendering:pixelated;border-radius:4px;"
    "background:var(--line)}"
    ".pictures figcaption{margin:3px 0 0;text-align:center;font-variant-numeric:tabular-nums}\n"
    "details{margin-top:12px;font-size:13.5px}summary{cursor:pointer;color:var(--soft)}details "
    "table{margin-top:6px;"
    "width:auto}.spark{width:110px;height:22px}footer{color:var(--soft);font-size:12.5px;margin-"
    "top:36px}\n"
    "@media(max-width:900px){.page{grid-template-columns:minmax(0,1fr);padding:20px 16px "
    "60px}nav{position:static;"
    "max-height:240px;border:1px solid var(--line);border-radius:10px;padding:8px 14px}"
    ".charts{grid-template-columns:minmax(0,1fr)}}\n"
    "@media print{nav{display:none}.page{display:block}.card{break-inside:avoid}}\n";

void html_text(const char *utf8) {
  text clean = {NULL, 0, 0};
  add(&clean, "");
  add_escaped(&clean, utf8); /* control characters, and those that turn the direction of text */
  for (const char *at = clean.data; *at; at++) {
    switch (*at) {
      case '&': fputs("&amp;", stdout); break;
      case '<': fputs("&lt;", stdout); break;
      case '>': fputs("&gt;", stdout); break;
      case '"': fputs("&quot;", stdout); break;
      case '\'': fputs("&#39;", stdout); break;
      default: putchar(*at);
    }
  }
  text_free(&clean);
}

void html_key(const key *path) {
  text name = {NULL, 0, 0};
  add_key(&name, path->names, path->length);
  html_text(name.data && *name.data ? name.data : "\"\"");
  text_free(&name);
}

void html_count(uint64_t number) {
  char digits[32];
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0)
      fputs("\xE2\x80\xAF", stdout); /* a narrow space that does not break */
    putchar(digits[i]);
  }
}

void html_real(double value) {
  if (isnan(value))
    fputs("–", stdout);
  else if (isinf(value))
    fputs(value < 0 ? "−∞" : "∞", stdout);
  else
    printf("%s%.4g", value < 0 ? "−" : "", fabs(value));
}

void html_fact(const char *name, double value) {
  printf("<div><dt>%s</dt><dd>", name);
  html_real(value);
  fputs("</dd></div>", stdout);
}

void html_begin(const char *title) {
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; "
      "img-src data:\">\n<title>",
      stdout);
  html_text(title);
  printf("</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<div class=\"page\">\n", frame_style,
         part_style);
}

void html_end(void) {
  printf(
      "<footer>Written by tdtool %d.%d.%d. Values that are not finite are counted and not drawn. "
      "Where rows share a "
      "dot, the band spans from the least to the greatest of them and the line is their "
      "mean.</footer>\n"
      "</main>\n</div>\n</body>\n</html>\n",
      TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH);
}
