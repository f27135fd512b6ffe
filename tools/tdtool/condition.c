/* Conditions as people type them: 'next/reward > 1 and not done'. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { MOST_DEPTH = 100 };

typedef struct reader {
  const char *text, *at;
  int depth;
} reader;

static condition *either(reader *from);

static void refuse(const reader *from, const char *wanted) {
  size_t place = (size_t)(from->at - from->text);
  if (*from->at)
    die_usage("grep: at character %zu of '%s': %s expected, found '%.20s'", place + 1, from->text,
              wanted, from->at);
  die_usage("grep: '%s' ends where %s is expected", from->text, wanted);
}

static void skip(reader *from) {
  while (isspace((unsigned char)*from->at)) from->at++;
}

static bool ends_word(char c) {
  return c == '\0' || isspace((unsigned char)c) || strchr("()<>=!&|\"", c);
}

/* Whether a word or a sign comes next; takes it. */
static bool take(reader *from, const char *what) {
  size_t length = strlen(what);
  skip(from);
  if (strncmp(from->at, what, length) != 0) return false;
  if (isalpha((unsigned char)*what) && !ends_word(from->at[length])) return false;
  from->at += length;
  return true;
}

static condition *make(operation is, bool truth, condition *left, condition *right) {
  condition *made = xcalloc(1, sizeof *made);
  *made = (condition){.is = is, .truth = truth, .left = left, .right = right};
  return made;
}

static condition *number(long double value) {
  condition *made = make(IS_NUMBER, false, NULL, NULL);
  made->number = value;
  return made;
}

/* A key up to the next blank or sign; in quotes, anything. */
static condition *key_or_number(reader *from) {
  text word = {NULL, 0, 0};
  skip(from);
  add(&word, "");
  bool quoted = *from->at == '"';
  if (quoted) {
    for (from->at++; *from->at && *from->at != '"'; from->at++) add_bytes(&word, from->at, 1);
    if (!*from->at) refuse(from, "a closing quote");
    from->at++;
  } else {
    while (!ends_word(*from->at)) add_bytes(&word, from->at++, 1);
  }
  if (!word.length && !quoted) refuse(from, "a key or a number");
  char *end = NULL;
  long double value = strtold(word.data, &end);
  condition *made = NULL;
  if (!quoted && strcmp(word.data, "true") == 0)
    made = number(1);
  else if (!quoted && strcmp(word.data, "false") == 0)
    made = number(0);
  else if (!quoted && !*end)
    made = number(value);
  if (!made) {
    made = make(IS_KEY, false, NULL, NULL);
    made->path = key_parse(word.data);
    made->typed = xstrdup(word.data);
  }
  text_free(&word);
  return made;
}

static condition *in_brackets(reader *from) {
  if (!take(from, "(")) refuse(from, "'('");
  condition *inner = either(from);
  if (!take(from, ")")) refuse(from, "')'");
  return inner;
}

static bool calls(const reader *from, const char *name) {
  reader look = *from;
  return take(&look, name) && take(&look, "(");
}

static condition *operand(reader *from) {
  static const struct {
    const char *name;
    operation is;
    bool of_truth, truth;
  } functions[] = {{"abs", IS_ABS, false, false},
                   {"isnan", IS_NAN, false, true},
                   {"any", IS_ANY, true, true},
                   {"all", IS_ALL, true, true}};
  for (size_t i = 0; i < COUNT_OF(functions); i++) {
    if (!calls(from, functions[i].name)) continue;
    take(from, functions[i].name);
    const char *before = from->at;
    condition *inner = in_brackets(from);
    if (!functions[i].of_truth && inner->truth) {
      from->at = before;
      refuse(from, "a key or a number in the brackets");
    }
    return make(functions[i].is, functions[i].truth, inner, NULL);
  }
  skip(from);
  if (*from->at == '(') return in_brackets(from);
  return key_or_number(from);
}

static condition *comparison(reader *from) {
  static const struct {
    const char *sign;
    operation is;
  } signs[] = {{"<=", IS_LESS_EQUAL}, {">=", IS_GREATER_EQUAL}, {"==", IS_EQUAL},
               {"!=", IS_NOT_EQUAL},  {"<", IS_LESS},           {">", IS_GREATER}};
  condition *left = operand(from);
  for (size_t i = 0; i < COUNT_OF(signs); i++) {
    if (!take(from, signs[i].sign)) continue;
    const char *before = from->at;
    condition *right = operand(from);
    from->at = left->truth || right->truth ? before : from->at;
    if (left->truth || right->truth) refuse(from, "numbers on both sides of a comparison");
    return make(signs[i].is, true, left, right);
  }
  return left;
}

static condition *negation(reader *from) {
  if (++from->depth > MOST_DEPTH)
    die_usage("grep: the condition is nested deeper than %d levels", MOST_DEPTH);
  condition *result;
  skip(from);
  bool sign = from->at[0] == '!' && from->at[1] != '=';
  if (sign) from->at++;
  if (sign || take(from, "not"))
    result = make(IS_NOT, true, negation(from), NULL);
  else
    result = comparison(from);
  from->depth--;
  return result;
}

static condition *both(reader *from) {
  condition *left = negation(from);
  while (take(from, "and") || take(from, "&&")) left = make(IS_AND, true, left, negation(from));
  return left;
}

static condition *either(reader *from) {
  condition *left = both(from);
  while (take(from, "or") || take(from, "||")) left = make(IS_OR, true, left, both(from));
  return left;
}

condition *condition_parse(const char *text) {
  reader from = {text, text, 0};
  condition *result = either(&from);
  skip(&from);
  if (*from.at) refuse(&from, "and, or, or the end");
  return result;
}

void condition_free(condition *of) {
  if (!of) return;
  condition_free(of->left);
  condition_free(of->right);
  key_free(&of->path);
  free(of->typed);
  free(of);
}
