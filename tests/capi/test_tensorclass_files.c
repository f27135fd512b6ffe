/* Fields of a saved tensorclass that are no tensors: in its meta.json, as older writers left them there, and in
 * a file that Python has pickled. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td_files.h"
#include "td_random.h"
#include "td_values.h"

typedef struct bytes {
  const char *data;
  size_t size;
} bytes;
#define BYTES(text) ((bytes){(text), sizeof(text) - 1})

/* {"table": {1: "one", -2: [None, True, 2.5]}, "pair": ("a", {"b": 1})} */
#define PLAIN                                                                            \
  BYTES(                                                                                 \
      "\x80\x04\x95\x43\0\0\0\0\0\0\0}\x94(\x8c\x05table\x94}\x94(K\x01\x8c\x03one\x94J" \
      "\xfe\xff\xff\xff]\x94(N\x88G@\x04\0\0\0\0\0\0eu\x8c\x04pair\x94\x8c\x01"          \
      "a\x94}\x94\x8c\x01"                                                               \
      "b\x94K\x01s\x86\x94u.")

/* {"table": {1: "one"}, "when": complex(1, 2), "tags": {"a"}, "raw": bytearray(b"ab")} */
#define MIXED                                                                                  \
  BYTES(                                                                                       \
      "\x80\x05\x95\x6d\0\0\0\0\0\0\0}\x94(\x8c\x05table\x94}\x94K\x01\x8c\x03one\x94s\x8c"    \
      "\x04when\x94\x8c\x08"                                                                   \
      "builtins\x94\x8c\x07"                                                                   \
      "complex\x94\x93\x94G?\xf0\0\0\0\0\0\0G@\0\0\0\0\0\0\0\x86\x94R\x94\x8c\x04tags\x94\x8f" \
      "\x94(\x8c\x01"                                                                          \
      "a\x94\x90\x8c\x03raw\x94\x96\x02\0\0\0\0\0\0\0ab\x94u.")

#define TYPE "{\"_type\":\"<class 'shop.Item'>\""

/* A tensorclass of batch [2] with the tensor x, whose folder has this meta.json and this file beside it. The
 * path is valid until the next one. */
static const char *tensorclass(const char *name, const char *meta, bytes pickle) {
  static char dir[4096];
  snprintf(dir, sizeof dir, "%s", td_here(name));
  td_tensordict *td = td_empty(TD_SIZES(2)), *saved = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  if (!td_exists(dir)) td_make_folder(dir);
  TD_DO(td_memmap(td, td_path(dir, "_tensordict"), NULL, &saved));
  td_write_text(td_path(dir, "meta.json"), meta);
  if (pickle.data) td_write_file(td_path(dir, "other.pickle"), pickle.data, pickle.size);
  td_free(saved);
  td_free(td);
  return dir;
}

static char warnings[4096];

static void take_warning(void *user, td_log_level level, const char *message) {
  const size_t length = strlen(warnings);
  (void)user;
  if (level == TD_LOG_WARNING) {
    snprintf(warnings + length, sizeof warnings - length, "%s\n", message);
  }
}

/* Loads, and keeps what was warned of. */
static td_tensordict *load(const char *path) {
  td_tensordict *td = NULL;
  warnings[0] = '\0';
  td_set_log(take_warning, NULL, NULL);
  TD_DO(td_memmap_load(path, NULL, &td));
  td_set_log(NULL, NULL, NULL);
  return td;
}

static void save(const td_tensordict *td, const char *dir) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *saved = NULL;
  options.copy_existing = 1;
  TD_DO(td_memmap(td, dir, &options, &saved));
  td_free(saved);
}

static void check_file(const char *path, bytes want) {
  size_t size = 0;
  char *got = td_read_file(path, &size);
  TD_CHECK_INT(size, want.size);
  TD_CHECK(memcmp(got, want.data, size) == 0);
  free(got);
}

static void check_text(const char *path, const char *want) {
  size_t size = 0;
  char *text = td_read_file(path, &size);
  TD_CHECK_SAME_TEXT(text, want);
  free(text);
}

static void check_plain(const td_tensordict *td) {
  TD_CHECK_JSON(td, TD_KEY("table"), "{\"1\":\"one\",\"-2\":[null,true,2.5]}");
  TD_CHECK_JSON(td, TD_KEY("pair"), "[\"a\",{\"b\":1}]");
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(1, 2));
}

static void check_count(const td_tensordict *td, size_t want) {
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), want);
  td_keys_free(keys);
}

static void expect_unsaved(const td_tensordict *td, const char *name, const char *why) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *saved = NULL;
  options.copy_existing = 1;
  TD_EXPECT_NULL(td_memmap(td, td_here(name), &options, &saved), TD_ERR_UNSUPPORTED, saved);
  TD_CHECK_TEXT(td_last_error_message(), why);
  TD_CHECK(!td_exists(td_here(name)));
}

/* Fields beside the dictionary, as before values had folders of their own. */
TD_TEST(old_fields) {
  const char *dir =
      tensorclass("old", TYPE ",\"s\":\"text\",\"none\":null,\"m\":{\"a\":[1,{}]},\"n\":-1.50}",
                  (bytes){NULL, 0});
  td_tensordict *td = load(dir);
  TD_CHECK_SAME_TEXT(warnings, "");
  TD_CHECK_JSON(td, TD_KEY("s"), "\"text\"");
  TD_CHECK_JSON(td, TD_KEY("m"), "{\"a\":[1,{}]}");
  TD_CHECK_JSON(td, TD_KEY("n"), "-1.50");
  char *text = td_printed(td);
  TD_CHECK_TEXT(text, "Item(");
  TD_CHECK_TEXT(text, "none=None");
  free(text);
  save(td, td_here("again"));
  td_free(td);
  check_text(td_here("again/meta.json"), TYPE ",\"none\":null}");
  td = load(td_here("again"));
  TD_CHECK_JSON(td, TD_KEY("m"), "{\"a\":[1,{}]}");
  /* One more row: the fields are those of the folder. */
  td_tensordict *old = load(dir);
  TD_DO(td_memmap_append(dir, old, NULL));
  TD_DO(td_set_non_tensor_json(old, TD_KEY("s"), "\"other\""));
  TD_EXPECT(td_memmap_append(dir, old, NULL), TD_ERR_KEY_NOT_FOUND);
  td_free(old);
  old = load(dir);
  TD_CHECK_BATCH(old, 4);
  TD_CHECK_JSON(old, TD_KEY("s"), "\"text\"");
}

TD_TEST(old_fields_that_are_wrong) {
  td_tensordict *td = NULL;
  const bytes none = {NULL, 0};
  TD_EXPECT_NULL(td_memmap_load(tensorclass("two", TYPE ",\"a\":1,\"a\":2}", none), NULL, &td),
                 TD_ERR_FORMAT, td);
  TD_EXPECT_NULL(td_memmap_load(tensorclass("taken", TYPE ",\"x\":1}", none), NULL, &td),
                 TD_ERR_FORMAT, td);
  TD_EXPECT_NULL(td_memmap_load(tensorclass("empty", TYPE ",\"\\u0000\":1}", none), NULL, &td),
                 TD_ERR_FORMAT, td);
  TD_EXPECT_NULL(td_memmap_load(tensorclass("cut", TYPE ",\"b\":[1", none), NULL, &td),
                 TD_ERR_FORMAT, td);
  td_load_options few = TD_LOAD_OPTIONS_INIT;
  few.max_entries = 3;
  const char *dir = tensorclass("many", TYPE ",\"a\":1,\"b\":2,\"c\":3}", none);
  TD_EXPECT_NULL(td_memmap_load(dir, &few, &td), TD_ERR_FORMAT, td);
  few.max_entries = 4;
  TD_DO(td_memmap_load(dir, &few, &td));
}

/* Plain values are read; the file goes along as long as they are those in it. */
TD_TEST(plain_pickle) {
  const char *dir = tensorclass("plain", TYPE ",\"none\":null}", PLAIN);
  td_tensordict *td = load(dir), *part = NULL, *copy = NULL;
  TD_CHECK_SAME_TEXT(warnings, "");
  check_plain(td);
  save(td, td_here("whole"));
  check_file(td_here("whole/other.pickle"), PLAIN);
  check_text(td_here("whole/meta.json"), TYPE ",\"none\":null}");
  TD_CHECK(!td_exists(td_here("whole/_tensordict/table")));
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(0, 1)), &part));
  TD_DO(td_clone(part, 0, &copy));
  save(copy, td_here("part"));
  check_file(td_here("part/other.pickle"), PLAIN);
  td_free(part);
  td_free(copy);
  td_free(td);
  /* Changed, it is stored as the values are. */
  td = load(td_here("whole"));
  check_plain(td);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("pair"), "7"));
  save(td, td_here("changed"));
  TD_CHECK(!td_exists(td_here("changed/other.pickle")));
  save(td, td_here("part")); /* over an older one */
  TD_CHECK(!td_exists(td_here("part/other.pickle")));
  td_free(td);
  td = load(td_here("changed"));
  TD_CHECK_JSON(td, TD_KEY("pair"), "7");
  TD_CHECK_JSON(td, TD_KEY("table"), "{\"1\":\"one\",\"-2\":[null,true,2.5]}");
  td_free(td);
  /* A folder that grows by itself. */
  td = load(dir);
  TD_DO(td_memmap_append(dir, td, NULL));
  check_file(td_here("plain/other.pickle"), PLAIN);
  td_free(td);
  td = load(dir);
  TD_CHECK_BATCH(td, 4);
}

/* What only Python can make is not looked at: its file is kept. */
TD_TEST(foreign_pickle) {
  const char *dir = tensorclass("foreign", TYPE "}", MIXED);
  td_tensordict *td = load(dir);
  TD_CHECK_TEXT(warnings, "foreign/other.pickle\": \"table\", \"when\", \"tags\", \"raw\"");
  check_count(td, 1);
  char *text = td_printed(td);
  TD_CHECK_TEXT(text, "when=<pickled by Python>");
  free(text);
  td_tensorclass *type = NULL;
  TD_DO(td_tensorclass_of(td, &type));
  TD_CHECK_INT(td_tensorclass_len(type), 5);
  /* Elsewhere, over itself, and over another one. */
  save(td, td_here("copy"));
  check_file(td_here("copy/other.pickle"), MIXED);
  check_text(td_here("copy/meta.json"), TYPE "}");
  save(td, dir);
  check_file(td_here("foreign/other.pickle"), MIXED);
  save(td, tensorclass("over", TYPE "}", PLAIN));
  check_file(td_here("over/other.pickle"), MIXED);
  /* With the type of one, another is no copy of it. */
  td_tensordict *fresh = td_empty(TD_SIZES(2));
  td_put(fresh, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_DO(td_set_tensorclass(fresh, type));
  save(fresh, td_here("fresh"));
  TD_CHECK(!td_exists(td_here("fresh/other.pickle")));
  /* Declared anew, it keeps what it has. */
  TD_DO(td_set_tensorclass(td, type));
  save(td, td_here("wrapped"));
  check_file(td_here("wrapped/other.pickle"), MIXED);
  td_tensorclass_free(type);
  /* A value under the name of one that cannot be read. */
  TD_DO(td_set_non_tensor_json(td, TD_KEY("when"), "1"));
  expect_unsaved(td, "refused", "\"when\" has a value, and one that Python has pickled");
  TD_DO(td_remove(td, TD_KEY("when")));
  save(td, td_here("well"));
  TD_DO(td_set_tensorclass(td, NULL)); /* no tensorclass any more */
  save(td, td_here("none"));
  TD_CHECK(!td_exists(td_here("none/other.pickle")));
}

TD_TEST(pickles_below) {
  td_tensordict *one = load(tensorclass("one", TYPE "}", MIXED)),
                *two = load(tensorclass("two", TYPE "}", PLAIN));
  td_tensordict *root = td_empty(TD_SIZES(2)), *lazy = NULL;
  td_put_dict(root, TD_KEY("one"), one);
  td_put_dict(root, TD_KEY("in", "two"), two);
  one = load(td_here("one"));
  two = load(td_here("one"));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 1, &lazy));
  td_put_dict(root, TD_KEY("stack"), lazy);
  td_free(one);
  td_free(two);
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.copy_existing = options.checksums = options.durable = 1;
  td_tensordict *saved = NULL;
  TD_DO(td_memmap(root, td_here("root"), &options, &saved));
  td_free(saved);
  td_free(root);
  check_file(td_here("root/one/other.pickle"), MIXED);
  check_file(td_here("root/in/two/other.pickle"), PLAIN);
  check_file(td_here("root/stack/1/other.pickle"), MIXED);
  size_t damaged = 9;
  TD_DO(td_memmap_verify(td_here("root"), NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
  root = load(td_here("root"));
  TD_CHECK_TEXT(warnings, "and 2 more files");
  TD_CHECK_JSON(root, TD_KEY("in", "two", "pair"), "[\"a\",{\"b\":1}]");
  TD_DO(td_memmap_append(td_here("root"), root, NULL));
  TD_DO(td_memmap_verify(td_here("root"), NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
  td_free(root);
  check_file(td_here("root/one/other.pickle"), MIXED);
  root = load(td_here("root"));
  TD_CHECK_BATCH(root, 4);
  save(root, td_here("root.tdz")); /* archives go the same way */
  td_free(root);
  root = load(td_here("root.tdz"));
  TD_CHECK_TEXT(warnings, "other.pickle\": \"table\", \"when\"");
  TD_CHECK_JSON(root, TD_KEY("in", "two", "pair"), "[\"a\",{\"b\":1}]");
  save(root, td_here("unpacked"));
  td_free(root);
  check_file(td_here("unpacked/one/other.pickle"), MIXED);
  check_file(td_here("unpacked/in/two/other.pickle"), PLAIN);
  TD_DO(td_memmap_pack(td_here("unpacked"), td_here("packed.tdz"), NULL));
  root = load(td_here("packed.tdz"));
  td_free(root);
  td_write_text(td_here("root/one/other.pickle"), "changed");
  TD_DO(td_memmap_verify(td_here("root"), NULL, &damaged));
  TD_CHECK_INT(damaged, 1);
}

/* A tensorclass over a lazy stack: a field of it is one of each element. */
TD_TEST(tensorclass_over_a_stack) {
  td_tensordict *one = td_empty(TD_SIZES(2)), *two = td_empty(TD_SIZES(2)), *lazy = NULL;
  td_tensordict *td = NULL;
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 3, TD_SIZES(2)));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &lazy));
  td_make_folder(td_here("lazy"));
  save(lazy, td_here("lazy/_tensordict"));
  td_free(lazy);
  td_write_text(td_here("lazy/meta.json"), TYPE ",\"s\":\"text\"}");
  td_write_file(td_here("lazy/other.pickle"), PLAIN.data, PLAIN.size);
  td = load(td_here("lazy"));
  TD_CHECK_TEXT(warnings, "\"table\", \"pair\"");
  TD_CHECK_JSON(td, TD_KEY("s"), "[[\"text\", \"text\"], [\"text\", \"text\"]]");
  save(td, td_here("again"));
  check_file(td_here("again/other.pickle"), PLAIN);
  check_text(td_here("again/meta.json"), TYPE "}");
  td = load(td_here("again"));
  TD_CHECK_JSON(td, TD_KEY("s"), "[[\"text\", \"text\"], [\"text\", \"text\"]]");
}

/* A writer of rows that begins with such a tensorclass. */
TD_TEST(a_new_folder_that_grows) {
  td_tensordict *td = load(tensorclass("like", TYPE "}", MIXED));
  td_writer *writer = NULL;
  TD_DO(td_writer_open_append(td_here("grown"), td, NULL, &writer));
  td_writer_free(writer);
  check_file(td_here("grown/other.pickle"), MIXED);
  TD_DO(td_memmap_append(td_here("grown"), td, NULL));
  check_file(td_here("grown/other.pickle"), MIXED);
  td_free(td);
  td = load(tensorclass("another", TYPE "}", PLAIN));
  TD_EXPECT(td_memmap_append(td_here("grown"), td, NULL), TD_ERR_WRONG_ENTRY);
  TD_CHECK_TEXT(td_last_error_message(), "pickled");
}

/* Whatever stands in the file, the tensorclass loads, and a save copies it. */
static void check_kept(bytes pickle) {
  const char *dir = tensorclass("hostile", TYPE "}", pickle);
  td_tensordict *td = load(dir);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(1, 2));
  check_count(td, 1);
  TD_CHECK_TEXT(warnings, "other.pickle");
  save(td, td_here("kept"));
  check_file(td_here("kept/other.pickle"), pickle);
  td_free(td);
}

TD_TEST(hostile_pickles) {
  check_kept(BYTES(""));
  check_kept(BYTES("x"));
  check_kept(BYTES("\x80\x04."));                 /* nothing on the stack */
  check_kept(BYTES("\x80\x04N."));                /* no dictionary */
  check_kept(BYTES("\x80\x04}N"));                /* no end */
  check_kept(BYTES("\x80\x04}(u.x"));             /* something behind it */
  check_kept(BYTES("\x80\x04}(K\x01u."));         /* a key without a value */
  check_kept(BYTES("\x80\x04}(K\x01K\x02u."));    /* no name */
  check_kept(BYTES("\x80\x04}(\x8c\x01\0Nu."));   /* a name that is none */
  check_kept(BYTES("\x80\x04}(\x8c\x01\xffNu.")); /* a text that is none */
  check_kept(
      BYTES("\x80\x04}(X\xff\xff\xff\x7f"
            "aNu."));                          /* longer than the file */
  check_kept(BYTES("\x80\x04}(\x8c\x01xNu.")); /* the name of a tensor */
  check_kept(
      BYTES("\x80\x04}(\x8c\x01"
            "aN\x8c\x01"
            "aNu.")); /* one name for two */
  check_kept(
      BYTES("\x80\x04}q\0(\x8c\x01"
            "ah\0u.")); /* holds itself */
  check_kept(
      BYTES("\x80\x04}(\x8c\x01"
            "ah\x07u.")); /* a memo that is empty */
  check_kept(
      BYTES("\x80\x04"
            "cos\nsystem\n(\x8c\x07touch /ttR.")); /* what would run */
  check_kept(
      BYTES("\x80\x04}(\x8c\x01"
            "acos\nsystem\n(\x8c\x01xtRu."));
  check_kept(BYTES("\x80\x04}cos\nsystem\n)R0.")); /* runs, and leaves a plain dictionary */
  check_kept(
      BYTES("\x80\x04}(\x8c\x01"
            "a\x8b\x09\0\0\0\1\1\1\1\1\1\1\1\1u.")); /* 72 bits */
  check_kept(
      BYTES("\x80\x04}(\x8c\x01"
            "aC\x01zu.")); /* bytes */
  check_kept(
      BYTES("\x80\x04}(\x8c\x01"
            "a}NNsu."));           /* a key that is no text */
  check_kept(BYTES("\x80\x01}.")); /* an old protocol */
}

/* Lists that name one another many times: a text of a thousand billion elements. */
TD_TEST(a_pickle_that_grows) {
  char text[2000] =
      "\x80\x04]\x94"
      "0";
  size_t n = 5;
  for (int level = 0; level < 40; level++) {
    memcpy(text + n, "]\x94(", 3);
    n += 3;
    for (int k = 0; k < 10; k++) text[n++] = 'h', text[n++] = (char)level;
    memcpy(text + n, "e0", 2);
    n += 2;
  }
  memcpy(text + n,
         "}(\x8c\x01"
         "ah\x28u.",
         9);
  check_kept((bytes){text, n + 9});
  TD_CHECK_TEXT(warnings, "\"a\"");
}

/* {"a": [[[ … ]]], "b": None} */
static bytes nested(char *text, size_t levels) {
  memcpy(text,
         "\x80\x04}(\x8c\x01"
         "a",
         7);
  memset(text + 7, ']', levels);
  memset(text + 7 + levels, 'a', levels - 1);
  memcpy(text + 6 + 2 * levels,
         "\x8c\x01"
         "bNu.",
         6);
  return (bytes){text, 12 + 2 * levels};
}

/* What is read can be stored as a value. */
TD_TEST(deep_pickles) {
  static char text[200100];
  check_kept(nested(text, 1002));
  check_kept(nested(text, 100000));
  td_tensordict *td = load(tensorclass("deep", TYPE "}", nested(text, 900)));
  TD_CHECK_SAME_TEXT(warnings, "");
  TD_CHECK_JSON(td, TD_KEY("b"), "null");
  TD_DO(td_set_non_tensor_json(td, TD_KEY("b"), "1"));
  save(td, td_here("values"));
  TD_CHECK(!td_exists(td_here("values/other.pickle")));
  td = load(td_here("values"));
  TD_CHECK_JSON(td, TD_KEY("b"), "1");
}

TD_TEST(damaged_pickles) {
  td_random random = td_random_begin();
  for (int round = 0; round < 1500; round++) {
    const bytes from = round % 2 ? MIXED : PLAIN;
    char text[256];
    memcpy(text, from.data, from.size);
    size_t size = from.size;
    for (int edits = (int)td_random_between(&random, 1, 4); edits > 0; edits--) {
      text[td_random_between(&random, 0, (int64_t)size - 1)] = (char)td_random_next(&random);
    }
    if (td_random_one_in(&random, 10)) size = (size_t)td_random_between(&random, 0, (int64_t)size);
    const bytes pickle = {text, size};
    if (round == 0) {
      tensorclass("damaged", TYPE "}", pickle);
    } else {
      td_write_file(td_here("damaged/other.pickle"), text, size);
    }
    td_tensordict *td = load(td_here("damaged"));
    free(td_printed(td));
    save(td, td_here("kept"));
    check_file(td_here("kept/other.pickle"), pickle);
    td_free(td);
  }
}

/* Too long to be held; and no file at all. */
TD_TEST(files_that_are_none) {
  td_tensordict *td = NULL;
  const char *dir = tensorclass("long", TYPE "}", MIXED), *file = td_path(dir, "other.pickle");
  TD_CHECK(truncate(file, (off_t)1 << 40) == 0);
  td = load(dir);
  TD_CHECK_TEXT(warnings, "too long");
  expect_unsaved(td, "lost", "too long");
  td_free(td);
  TD_CHECK(unlink(file) == 0);
  TD_CHECK(symlink("/etc/passwd", file) == 0);
  TD_EXPECT_NULL(td_memmap_load(dir, NULL, &td), TD_ERR_IO, td);
  TD_CHECK(unlink(file) == 0);
  td_make_folder(file);
  TD_EXPECT_NULL(td_memmap_load(dir, NULL, &td), TD_ERR_IO, td);
}
