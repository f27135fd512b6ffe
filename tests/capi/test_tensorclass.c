/* Tensorclasses: what they refuse, what they make, and that tensorclasses stay tensorclasses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

static td_tensorclass *make_type(const char *name, const td_field *fields, size_t count,
                                 td_tensorclass_flags flags, const td_tensorclass *base) {
  td_tensorclass_options options = TD_TENSORCLASS_OPTIONS_INIT;
  td_tensorclass *type = NULL;
  options.flags = flags;
  options.base = base;
  TD_DO(td_tensorclass_create(name, fields, count, &options, &type));
  return type;
}
#define TYPE(name, fields, flags, base) \
  make_type(name, fields, sizeof(fields) / sizeof(fields[0]), flags, base)

/* That of the examples: image, mask, label. */
static const int64_t image_sizes[] = {3, -1, -1}, mask_sizes[] = {1, -1, -1};
static const td_field data_fields[] = {
    {.name = "image",
     .dtype = TD_DTYPE_FLOAT32,
     .flags = TD_FIELD_HAS_FEATURE,
     .feature_dims = 3,
     .feature = image_sizes},
    {.name = "mask",
     .dtype = TD_DTYPE_BOOL,
     .flags = TD_FIELD_HAS_FEATURE,
     .feature_dims = 3,
     .feature = mask_sizes},
    {.name = "label", .dtype = TD_DTYPE_INT64, .flags = TD_FIELD_HAS_FEATURE | TD_FIELD_OPTIONAL},
};

static td_tensorclass *data_type(void) { return TYPE("MyData", data_fields, 0, NULL); }

static td_tensordict *data(int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("image"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(n, 3, 2, 2)));
  td_put(td, TD_KEY("mask"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(n, 1, 2, 2)));
  td_put(td, TD_KEY("label"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(n)));
  td_tensorclass *type = data_type();
  TD_DO(td_set_tensorclass(td, type));
  td_tensorclass_free(type);
  return td;
}

/* The name of the type of a dictionary; "" for a plain one. */
static const char *type_name(const td_tensordict *td) {
  static char name[64];
  td_tensorclass *type = NULL;
  size_t length = 0;
  name[0] = 0;
  TD_DO(td_tensorclass_of(td, &type));
  if (type != NULL) TD_DO(td_tensorclass_name(type, name, sizeof name, &length));
  td_tensorclass_free(type);
  return name;
}

static void check_printed(const td_tensordict *td, const char *want) {
  char *text = td_printed(td);
  TD_CHECK_SAME_TEXT(text, want);
  free(text);
}

TD_TEST(a_type_tells_its_fields) {
  td_tensorclass *type = data_type();
  td_field field;
  size_t length = 0;
  TD_CHECK_INT(td_tensorclass_len(type), 3);
  TD_DO(td_tensorclass_field(type, 1, &field));
  TD_CHECK_SAME_TEXT(field.name, "mask");
  TD_CHECK_INT(field.kind, TD_FIELD_TENSOR);
  TD_CHECK_INT(field.dtype, TD_DTYPE_BOOL);
  TD_CHECK_INT(field.flags, TD_FIELD_HAS_FEATURE);
  TD_CHECK_INT(field.feature_dims, 3);
  TD_CHECK(field.feature[0] == 1 && field.feature[1] == -1);
  TD_DO(td_tensorclass_field(type, 2, &field));
  TD_CHECK_INT(field.flags, TD_FIELD_HAS_FEATURE | TD_FIELD_OPTIONAL);
  TD_CHECK_INT(field.feature_dims, 0);
  TD_EXPECT(td_tensorclass_field(type, 3, &field), TD_ERR_INDEX);
  TD_CHECK(field.name == NULL);
  TD_EXPECT(td_tensorclass_name(type, NULL, 0, &length), TD_OK);
  TD_CHECK_INT(length, 6);
  td_tensorclass_free(type);
  td_tensorclass_free(type);
  TD_CHECK_INT(td_tensorclass_len(type), 0);
  TD_EXPECT(td_tensorclass_field(type, 0, &field), TD_ERR_BAD_HANDLE);
}

TD_TEST(a_tensorclass_stays_a_tensorclass) {
  td_tensordict *td = data(10), *part = NULL, *back = NULL;
  TD_CHECK_SAME_TEXT(type_name(td), "MyData");
  check_printed(
      td,
      "MyData(\n"
      "    image=Tensor(shape=torch.Size([10, 3, 2, 2]), device=cpu, dtype=torch.float32, "
      "is_shared=False),\n"
      "    label=Tensor(shape=torch.Size([10]), device=cpu, dtype=torch.int64, is_shared=False),\n"
      "    mask=Tensor(shape=torch.Size([10, 1, 2, 2]), device=cpu, dtype=torch.bool, "
      "is_shared=False),\n"
      "    batch_size=torch.Size([10]),\n"
      "    device=None,\n"
      "    is_shared=False)");
  td_tensor *some = td_mask((const int64_t[]){0, 1, 1, 0, 0, 0, 0, 0, 0, 1}, 10);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(some)), &part));
  TD_CHECK_BATCH(part, 3);
  TD_CHECK_SAME_TEXT(type_name(part), "MyData");
  TD_DO(td_tensorclass_check(NULL, part));
  TD_CHECK_ENTRY(part, TD_KEY("label"), TD_SIZES(3), TD_VALUES(1, 2, 9));
  td_free(part);
  TD_DO(td_index(td, TD_AT(TD_I_INT(4)), &part));
  TD_CHECK_SAME_TEXT(type_name(part), "MyData");
  TD_DO(td_reshape(td, TD_SIZES(5, 2), &part));
  TD_CHECK_SAME_TEXT(type_name(part), "MyData");
  TD_DO(td_view(part, TD_SIZES(10), &back));
  TD_CHECK_SAME_TEXT(type_name(back), "MyData");
  TD_DO(td_permute(part, TD_SIZES(1, 0), &back));
  TD_DO(td_tensorclass_check(NULL, back));
  td_free(back);
  td_free(part);
  TD_DO(td_clone(td, 0, &part));
  TD_CHECK_SAME_TEXT(type_name(part), "MyData");
  TD_DO(td_unsqueeze(td, 0, &part));
  TD_CHECK_SAME_TEXT(type_name(part), "MyData");
}

TD_TEST(tensorclasses_are_joined) {
  td_tensordict *a = data(2), *b = data(3), *result = NULL;
  const td_tensordict *both[] = {a, b}, *same[] = {a, a};
  TD_DO(td_cat(both, 2, 0, &result));
  TD_CHECK_SAME_TEXT(type_name(result), "MyData");
  TD_CHECK_BATCH(result, 5);
  TD_DO(td_stack(same, 2, 0, &result));
  TD_CHECK_SAME_TEXT(type_name(result), "MyData");
  TD_CHECK_BATCH(result, 2, 2);
  TD_DO(td_tensorclass_check(NULL, result));
  TD_DO(td_remove(b, TD_KEY("label"))); /* only one of them has a label */
  TD_EXPECT_NULL(td_cat(both, 2, 0, &result), TD_ERR_KEY_NOT_FOUND, result);
}

TD_TEST(what_is_set_is_checked) {
  td_tensordict *td = data(2), *inner = td_empty(TD_SIZES(2));
  td_tensor *label = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)),
            *narrow = td_arange(TD_DTYPE_INT32, 5, TD_SIZES(2)),
            *wide = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2, 1));
  TD_DO(td_set(td, TD_KEY("label"), label));
  TD_CHECK_ENTRY(td, TD_KEY("label"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_EXPECT(td_set(td, TD_KEY("labels"), label), TD_ERR_KEY_INVALID);
  TD_CHECK_TEXT(
      td_last_error_message(),
      "tensorclass \"MyData\" has no field \"labels\"; it has \"image\", \"mask\", \"label\"");
  TD_EXPECT(td_set(td, TD_KEY("label"), narrow), TD_ERR_DTYPE);
  TD_CHECK_TEXT(
      td_last_error_message(),
      "field \"label\" of tensorclass \"MyData\" is a tensor of torch.int64 with sizes [] behind "
      "the batch size; found a tensor of torch.int32 with sizes [2] under batch size [2]");
  TD_EXPECT(td_set(td, TD_KEY("label"), wide), TD_ERR_SHAPE);
  TD_EXPECT(td_set(td, TD_KEY("image"), label), TD_ERR_SHAPE);
  TD_EXPECT(td_set_dict(td, TD_KEY("label"), inner), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_set(td, TD_KEY("more", "label"), label), TD_ERR_KEY_INVALID);
  TD_DO(td_tensorclass_check(NULL, td));
  TD_CHECK_ENTRY(td, TD_KEY("label"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_DO(td_remove(td, TD_KEY("label")));
  TD_DO(td_tensorclass_check(NULL, td));
  char *text = td_printed(td);
  TD_CHECK_TEXT(text, "    label=None,\n    batch_size=");
  free(text);
  TD_EXPECT(td_remove(td, TD_KEY("mask")), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_lock(td));
  TD_EXPECT(td_set(td, TD_KEY("label"), label), TD_ERR_LOCKED);
}

TD_TEST(a_dictionary_is_looked_at_before_it_becomes_a_tensorclass) {
  td_tensorclass *type = data_type();
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("image"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3, 2, 2)));
  TD_EXPECT(td_set_tensorclass(td, type), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "needs a field \"mask\", a tensor of torch.bool");
  TD_EXPECT(td_tensorclass_check(type, td), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_tensorclass_check(NULL, td), TD_ERR_INVALID_ARGUMENT);
  td_put(td, TD_KEY("mask"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(2, 1, 2, 2)));
  td_put(td, TD_KEY("extra"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(2)));
  TD_EXPECT(td_set_tensorclass(td, type), TD_ERR_KEY_INVALID);
  TD_CHECK_SAME_TEXT(type_name(td), "");
  TD_DO(td_remove(td, TD_KEY("extra")));
  TD_DO(td_tensorclass_check(type, td)); /* the label is optional */
  TD_DO(td_set_tensorclass(td, type));
  TD_CHECK_SAME_TEXT(type_name(td), "MyData");
  TD_DO(td_set_tensorclass(td, NULL));
  TD_CHECK_SAME_TEXT(type_name(td), "");
  td_put(td, TD_KEY("extra"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(2)));
}

TD_TEST(tensorclasses_lie_in_tensorclasses) {
  const td_field inner_fields[] = {{.name = "x"}};
  td_tensorclass *inner = TYPE("Inner", inner_fields, 0, NULL);
  const td_field fields[] = {{.name = "one", .kind = TD_FIELD_TENSORCLASS, .tensorclass = inner},
                             {.name = "any", .kind = TD_FIELD_DICT, .flags = TD_FIELD_OPTIONAL}};
  td_tensorclass *outer = TYPE("Outer", fields, 0, NULL);
  td_tensordict *td = td_empty(TD_SIZES(2)), *part = NULL, *one = NULL;
  td_put(td, TD_KEY("one", "x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2, 2)));
  TD_DO(td_set_tensorclass(td, outer));
  TD_DO(td_index(td, TD_AT(TD_I_INT(0)), &part));
  check_printed(
      part,
      "Outer(\n"
      "    one=Inner(\n"
      "        x=Tensor(shape=torch.Size([2]), device=cpu, dtype=torch.int8, is_shared=False),\n"
      "        batch_size=torch.Size([]),\n"
      "        device=None,\n"
      "        is_shared=False),\n"
      "    any=None,\n"
      "    batch_size=torch.Size([]),\n"
      "    device=None,\n"
      "    is_shared=False)");
  one = td_take_dict(part, TD_KEY("one"));
  TD_CHECK_SAME_TEXT(type_name(one), "Inner");
  td_tensor *x = td_take(one, TD_KEY("x"));
  TD_EXPECT(td_set(part, TD_KEY("one", "y"), x), TD_ERR_KEY_INVALID); /* also through its parent */
  TD_DO(td_set(part, TD_KEY("one", "x"), x));
  TD_DO(td_set(part, TD_KEY("any", "thing"), x));
  td_tensordict *plain = td_empty(TD_NO_SIZES);
  TD_EXPECT(td_set_dict(part, TD_KEY("one"), plain), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_set_dict(part, TD_KEY("one"), part), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_set_dict(part, TD_KEY("any"), part), TD_ERR_CYCLE);
  TD_DO(td_set_dict(part, TD_KEY("one"), one));
  td_tensor_free(x);
  td_free(one);
  td_free(plain);
  td_free(part);
  TD_DO(td_set_tensorclass(td, NULL));
  one = td_take_dict(td, TD_KEY("one"));
  TD_CHECK_SAME_TEXT(type_name(one), "");
}

TD_TEST(new_tensorclasses_have_defaults_and_zeros) {
  const int64_t two[] = {2};
  td_tensor *start = td_arange(TD_DTYPE_FLOAT32, 7, TD_SIZES(2));
  const td_field inner_fields[] = {
      {.name = "z", .dtype = TD_DTYPE_INT16, .flags = TD_FIELD_HAS_FEATURE}};
  td_tensorclass *inner = TYPE("Inner", inner_fields, 0, NULL);
  const td_field fields[] = {
      {.name = "a", .default_tensor = start},
      {.name = "b",
       .dtype = TD_DTYPE_INT8,
       .flags = TD_FIELD_HAS_FEATURE,
       .feature = two,
       .feature_dims = 1},
      {.name = "c", .kind = TD_FIELD_NON_TENSOR, .default_json = "\"hello\""},
      {.name = "d", .kind = TD_FIELD_DICT},
      {.name = "e", .flags = TD_FIELD_OPTIONAL},
      {.name = "f", .kind = TD_FIELD_TENSORCLASS, .tensorclass = inner},
      {.name = "g", .kind = TD_FIELD_NON_TENSOR},
  };
  td_tensorclass *type = TYPE("Defaults", fields, 0, NULL);
  td_tensordict *td = NULL;
  TD_DO(td_tensorclass_instantiate(type, TD_SIZES(3), TD_DEVICE_NONE, -1, &td));
  TD_DO(td_tensorclass_check(NULL, td));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(7, 8, 7, 8, 7, 8));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(3, 2), TD_VALUES(0, 0, 0, 0, 0, 0));
  TD_CHECK_ENTRY(td, TD_KEY("f", "z"), TD_SIZES(3), TD_VALUES(0, 0, 0));
  char text[16];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(td, TD_KEY("c"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "\"hello\"");
  TD_DO(td_get_non_tensor_json(td, TD_KEY("g"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "null");
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("e"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_CHECK(!td_same_memory(a, start));
  td_tensor_free(a);
  TD_EXPECT_NULL(td_tensorclass_instantiate(type, TD_SIZES(-3), TD_DEVICE_NONE, -1, &td),
                 TD_ERR_SHAPE, td);

  /* What is missing in a dictionary is filled in as well, unless that has to be refused. */
  td = td_empty(TD_SIZES(1));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(1, 2)));
  td_put_dict(td, TD_KEY("d"), td_empty(TD_SIZES(1)));
  td_put(td, TD_KEY("f", "z"), td_arange(TD_DTYPE_INT16, 0, TD_SIZES(1)));
  TD_EXPECT(td_set_tensorclass(td, type), TD_ERR_KEY_NOT_FOUND); /* "g" has no default */
  TD_DO(td_get_kind(td, TD_KEY("a"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(types_are_built_on_others) {
  td_tensorclass *base = data_type();
  const td_field fields[] = {{.name = "weight", .flags = TD_FIELD_OPTIONAL}};
  td_tensorclass *type = TYPE("Weighted", fields, 0, base), *none = NULL;
  td_field field;
  TD_CHECK_INT(td_tensorclass_len(type), 4);
  TD_DO(td_tensorclass_field(type, 0, &field));
  TD_CHECK_SAME_TEXT(field.name, "image");
  TD_DO(td_tensorclass_field(type, 3, &field));
  TD_CHECK_SAME_TEXT(field.name, "weight");
  td_tensorclass_options options = TD_TENSORCLASS_OPTIONS_INIT;
  options.base = base;
  const td_field again[] = {{.name = "mask"}};
  TD_EXPECT_NULL(td_tensorclass_create("Again", again, 1, &options, &none), TD_ERR_KEY_EXISTS,
                 none);
}

TD_TEST(tensors_are_converted_when_asked) {
  const td_field fields[] = {{.name = "x", .dtype = TD_DTYPE_FLOAT64}};
  td_tensorclass *type = TYPE("Cast", fields, TD_TENSORCLASS_AUTOCAST, NULL);
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT8, 3, TD_SIZES(2)));
  TD_EXPECT(td_tensorclass_check(type, td), TD_ERR_DTYPE);
  TD_DO(td_set_tensorclass(td, type));
  td_dtype dtype = 0;
  td_tensor *x = td_take(td, TD_KEY("x"));
  TD_DO(td_tensor_dtype(x, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT64);
  td_tensor_free(x);
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_UINT8, 8, TD_SIZES(2)));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(8, 9));
  TD_DO(td_tensorclass_check(NULL, td));
}

TD_TEST(frozen_tensorclasses_are_locked) {
  const int64_t none[] = {0};
  const td_field fields[] = {{.name = "x",
                              .dtype = TD_DTYPE_FLOAT64,
                              .flags = TD_FIELD_HAS_FEATURE,
                              .feature = none,
                              .feature_dims = 0}};
  td_tensorclass *type = TYPE("Frozen", fields, TD_TENSORCLASS_FROZEN, NULL);
  td_tensordict *td = NULL, *wrapped = td_empty(TD_SIZES(2));
  TD_DO(td_tensorclass_instantiate(type, TD_SIZES(2), TD_DEVICE_NONE, -1, &td));
  TD_CHECK_FLAG(td_is_locked, td, 1);
  td_put(wrapped, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT64, 3, TD_SIZES(2)));
  TD_DO(td_set_tensorclass(wrapped, type));
  TD_CHECK_FLAG(td_is_locked, wrapped, 1);
}

TD_TEST(parts_are_written_by_tensorclasses_of_the_same_fields) {
  const td_field fields[] = {{.name = "x"}},
                 others[] = {{.name = "x"}, {.name = "y", .flags = TD_FIELD_OPTIONAL}};
  td_tensorclass *a = TYPE("A", fields, 0, NULL), *b = TYPE("B", fields, 0, NULL),
                 *c = TYPE("C", others, 0, NULL);
  td_tensordict *one = td_empty(TD_SIZES(4)), *two = td_empty(TD_SIZES(2)), *joined = NULL;
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4)));
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_INT8, 7, TD_SIZES(2)));
  TD_DO(td_set_tensorclass(one, a));
  TD_DO(td_set_tensorclass(two, c));
  const td_tensordict *both[] = {one, two};
  TD_EXPECT(td_set_at(one, TD_AT(TD_I_SLICE(0, 2)), two), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT_NULL(td_cat(both, 2, 0, &joined), TD_ERR_INVALID_ARGUMENT, joined);
  TD_DO(td_set_tensorclass(two, b));
  TD_DO(td_set_at(one, TD_AT(TD_I_SLICE(0, 2)), two));
  TD_CHECK_ENTRY(one, TD_KEY("x"), TD_SIZES(4), TD_VALUES(7, 8, 2, 3));
  TD_DO(td_cat(both, 2, 0, &joined));
  TD_CHECK_SAME_TEXT(type_name(joined), "A"); /* that of the first */
  TD_DO(td_set_tensorclass(two, NULL));
  TD_DO(td_set_at(one, TD_AT(TD_I_SLICE(2, 4)), two));
}

TD_TEST(declarations_that_contradict_themselves) {
  td_tensor *value = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2));
  const int64_t bad_sizes[] = {-2}, three[] = {3};
  td_tensorclass *type = NULL;
  const struct {
    td_field field;
    td_status wanted;
  } cases[] = {
      {{.name = NULL}, TD_ERR_NULL_ARGUMENT},
      {{.name = "\xff"}, TD_ERR_KEY_INVALID},
      {{.name = "x", .kind = 4}, TD_ERR_UNSUPPORTED},
      {{.name = "x", .kind = -1}, TD_ERR_UNSUPPORTED},
      {{.name = "x", .flags = 8}, TD_ERR_UNSUPPORTED},
      {{.name = "x", .flags = TD_FIELD_HAS_DEFAULT}, TD_ERR_UNSUPPORTED},
      {{.name = "x", .dtype = 999}, TD_ERR_DTYPE},
      {{.name = "x", .kind = TD_FIELD_TENSORCLASS}, TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .tensorclass = (const td_tensorclass *)value}, TD_ERR_BAD_HANDLE},
      {{.name = "x", .kind = TD_FIELD_DICT, .dtype = TD_DTYPE_INT8}, TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .kind = TD_FIELD_NON_TENSOR, .default_tensor = value},
       TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .kind = TD_FIELD_NON_TENSOR, .default_json = "{"}, TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .default_json = "1"}, TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .dtype = TD_DTYPE_INT16, .default_tensor = value}, TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .flags = TD_FIELD_HAS_FEATURE, .feature = bad_sizes, .feature_dims = 1},
       TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .flags = TD_FIELD_HAS_FEATURE, .feature_dims = 1}, TD_ERR_NULL_ARGUMENT},
      {{.name = "x",
        .flags = TD_FIELD_HAS_FEATURE,
        .feature = three,
        .feature_dims = 1,
        .default_tensor = value},
       TD_ERR_INVALID_ARGUMENT},
      {{.name = "x", .reserved = {0, 1}}, TD_ERR_INVALID_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    TD_EXPECT_NULL(td_tensorclass_create("T", &cases[i].field, 1, NULL, &type), cases[i].wanted,
                   type);
  const td_field twice[] = {{.name = "x"}, {.name = "x"}};
  TD_EXPECT_NULL(td_tensorclass_create("T", twice, 2, NULL, &type), TD_ERR_KEY_EXISTS, type);
  TD_EXPECT_NULL(td_tensorclass_create("", NULL, 0, NULL, &type), TD_ERR_KEY_INVALID, type);
  td_tensorclass_options options = TD_TENSORCLASS_OPTIONS_INIT;
  options.flags = 4;
  TD_EXPECT_NULL(td_tensorclass_create("T", NULL, 0, &options, &type), TD_ERR_UNSUPPORTED, type);
  const td_field open[] = {{.name = "x"}};
  td_tensordict *td = NULL;
  TD_DO(td_tensorclass_create("T", open, 1, NULL, &type));
  TD_EXPECT_NULL(td_tensorclass_instantiate(type, TD_SIZES(1), TD_DEVICE_NONE, -1, &td),
                 TD_ERR_INVALID_ARGUMENT, td);
}

TD_TEST(types_are_nested_up_to_a_limit) {
  const td_field leaf[] = {{.name = "x", .dtype = TD_DTYPE_INT8, .flags = TD_FIELD_HAS_FEATURE}};
  td_tensorclass *type = TYPE("Leaf", leaf, 0, NULL), *next = NULL;
  for (int depth = 2; depth <= 64; depth++) {
    const td_field fields[] = {{.name = "in", .kind = TD_FIELD_TENSORCLASS, .tensorclass = type}};
    next = TYPE("Level", fields, 0, NULL);
    td_tensorclass_free(type);
    type = next;
  }
  const td_field fields[] = {{.name = "in", .kind = TD_FIELD_TENSORCLASS, .tensorclass = type}};
  TD_EXPECT_NULL(td_tensorclass_create("Deep", fields, 1, NULL, &next), TD_ERR_UNSUPPORTED, next);
  td_tensordict *td = NULL;
  TD_DO(td_tensorclass_instantiate(type, TD_SIZES(2), TD_DEVICE_CPU, -1, &td));
  TD_DO(td_tensorclass_check(type, td));
}

/* What a call makes of a tensorclass, and whether it still is one. */
static void check_made(td_tensordict *made, const char *name) {
  TD_CHECK_SAME_TEXT(type_name(made), name);
}

static td_status shared(void *user, const char *const *path, size_t path_len,
                        const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_dup(source, result);
}

TD_TEST(operations_keep_the_type) {
  td_tensordict *td = data(4), *made = NULL;
  const td_tensordict *both[] = {td, td};
  td_tensordict *parts[4];
  size_t count = 0;
  TD_DO(td_apply(td, NULL, shared, NULL, &made));
  check_made(made, "MyData");
  TD_DO(td_to_dtype(td, TD_DTYPE_FLOAT64, &made));
  check_made(made, "MyData"); /* whatever was declared, as in Python */
  TD_DO(td_to_device(td, TD_DEVICE_CPU, -1, NULL, &made));
  check_made(made, "MyData");
  TD_DO(td_contiguous(td, &made));
  check_made(made, "MyData");
  TD_DO(td_expand(td, TD_SIZES(3, 4), &made));
  check_made(made, "MyData");
  TD_DO(td_unbind(td, 0, parts, 4, &count));
  for (size_t i = 0; i < count; i++) check_made(parts[i], "MyData");
  TD_DO(td_lazy_stack(both, 2, 0, &made));
  TD_CHECK_SAME_TEXT(type_name(made), "MyData");
  TD_DO(td_tensorclass_check(NULL, made));
  td_tensordict *dense = NULL;
  TD_DO(td_contiguous(made, &dense));
  check_made(dense, "MyData");
  TD_DO(td_index(made, TD_AT(TD_I_INT(0)), &dense));
  check_made(dense, "MyData");
  td_free(made);
  TD_DO(td_flatten_keys(td, ".", NULL, &made));
  check_made(made, "");
}

TD_TEST(updates_are_checked) {
  td_tensordict *td = data(2), *source = td_empty(TD_SIZES(2));
  td_put(source, TD_KEY("label"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(2)));
  TD_DO(td_update(td, source, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("label"), TD_SIZES(2), TD_VALUES(7, 8));
  td_put(source, TD_KEY("label"), td_arange(TD_DTYPE_INT16, 7, TD_SIZES(2)));
  TD_EXPECT(td_update(td, source, NULL), TD_ERR_DTYPE);
  TD_DO(td_remove(source, TD_KEY("label")));
  td_put(source, TD_KEY("labels"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(2)));
  TD_EXPECT(td_update(td, source, NULL), TD_ERR_KEY_INVALID);
  TD_EXPECT(td_rename_key(td, TD_KEY("label"), TD_KEY("labels"), 0), TD_ERR_KEY_INVALID);
  TD_DO(td_tensorclass_check(NULL, td));
}

TD_TEST(mapped_tensorclasses_are_tensorclasses) {
  td_tensordict *td = data(2), *mapped = NULL, *loaded = NULL;
  td_tensorclass *type = data_type();
  TD_DO(td_remove(td, TD_KEY("label")));
  TD_DO(td_memmap(td, td_test_folder(), NULL, &mapped));
  TD_CHECK_SAME_TEXT(type_name(mapped), "MyData");
  TD_DO(td_memmap_load(td_test_folder(), NULL, &loaded));
  TD_CHECK_SAME_TEXT(type_name(loaded), "MyData");
  TD_DO(td_tensorclass_check(NULL, loaded));
  TD_CHECK_EQUAL(td, loaded);
  char *text = td_printed(loaded);
  TD_CHECK_TEXT(text, "    label=None,\n");
  free(text);
  TD_DO(td_set_tensorclass(loaded, type)); /* nothing has to be filled in: allowed when locked */
  TD_DO(td_memmap(loaded, td_test_folder(), NULL, &mapped)); /* over itself: mapped already */
}

TD_TEST(tensorclasses_of_python_are_tensorclasses) {
  td_tensordict *td = NULL, *inner = NULL, *mapped = NULL;
  td_load_options load = TD_LOAD_OPTIONS_INIT;
  td_memmap_options save = TD_MEMMAP_OPTIONS_INIT;
  char path[512];
  load.private_mapping = 1;
  save.copy_existing = 1;
  TD_DO(td_memmap_load(td_golden("tensorclass"), &load, &td));
  inner = td_take_dict(td, TD_KEY("s"));
  TD_CHECK_SAME_TEXT(type_name(inner), "Sample");
  TD_CHECK_INT(td_set(inner, TD_KEY("more"), NULL), TD_ERR_NULL_ARGUMENT);
  TD_DO(td_memmap(td, td_test_folder(), &save, &mapped));
  const char *const files[] = {"meta.json", "s/meta.json", "s/_tensordict/meta.json"};
  for (size_t i = 0; i < 3; i++) {
    char want[1024] = {0}, got[1024] = {0};
    snprintf(path, sizeof path, "%s/%s", td_golden("tensorclass"), files[i]);
    FILE *file = fopen(path, "rb");
    TD_CHECK(file != NULL && fread(want, 1, sizeof want - 1, file) > 0);
    fclose(file);
    snprintf(path, sizeof path, "%s/%s", td_test_folder(), files[i]);
    file = fopen(path, "rb");
    TD_CHECK(file != NULL && fread(got, 1, sizeof got - 1, file) > 0);
    fclose(file);
    char *loaded = td_loaded_order(want);
    TD_CHECK_SAME_TEXT(got, loaded);
    free(loaded);
  }
}
