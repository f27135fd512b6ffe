/* Arrays of structs in and out of dictionaries. */
#include <string.h>

#include "td_values.h"

/* [struct] */
struct particle {
  double mass;
  float position[3];
  int32_t cell;
  uint8_t alive;
  uint8_t flags[3];
};
/* [/struct] */

static const int64_t three[] = {3};
#define PARTICLE_MEMBERS                                                          \
  {                                                                               \
    TD_MEMBER(struct particle, mass, TD_DTYPE_FLOAT64, "mass"),                   \
        {TD_KEY("at", "position"), three, 1, offsetof(struct particle, position), \
         TD_DTYPE_FLOAT32,         0},                                            \
        TD_MEMBER(struct particle, cell, TD_DTYPE_INT32, "at", "cell"),           \
        TD_MEMBER(struct particle, alive, TD_DTYPE_BOOL, "alive"),                \
  }
#define MEMBERS (members), sizeof members / sizeof *members

static void fill(struct particle *to, size_t count) {
  memset(to, 0x5a, count * sizeof *to);
  for (size_t i = 0; i < count; i++) {
    to[i].mass = (double)i + 0.5;
    for (int j = 0; j < 3; j++) to[i].position[j] = (float)(3 * (int)i + j);
    to[i].cell = -(int32_t)i;
    to[i].alive = i % 2;
  }
}

static void check(const td_tensordict *td) {
  TD_CHECK_BATCH(td, 4);
  TD_CHECK_ENTRY(td, TD_KEY("mass"), TD_SIZES(4), TD_VALUES(0.5, 1.5, 2.5, 3.5));
  TD_CHECK_ENTRY(td, TD_KEY("at", "position"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_CHECK_ENTRY(td, TD_KEY("at", "cell"), TD_SIZES(4), TD_VALUES(0, -1, -2, -3));
  TD_CHECK_ENTRY(td, TD_KEY("alive"), TD_SIZES(4), TD_VALUES(0, 1, 0, 1));
}

static void count_release(void *user) { ++*(int *)user; }

TD_TEST(structs_are_copied_into_columns) {
  const td_member members[] = PARTICLE_MEMBERS;
  struct particle array[4];
  td_tensordict *td = NULL;
  fill(array, 4);
  TD_DO(td_from_structs(array, sizeof array, TD_SIZES(4), sizeof *array, MEMBERS, &td));
  memset(array, 0, sizeof array);
  check(td);
  td_tensor *position = td_take(td, TD_KEY("at", "position"));
  TD_CHECK_FLAG(td_tensor_is_contiguous, position, 1);
}

TD_TEST(as_the_guide_says) {
  struct particle array[4];
  td_tensordict *td = NULL;
  fill(array, 4);
  /* [copy] */
  const int64_t position[] = {3};
  const td_member members[] = {
      TD_MEMBER(struct particle, mass, TD_DTYPE_FLOAT64, "mass"),
      {TD_KEY("at", "position"), position, 1, offsetof(struct particle, position), TD_DTYPE_FLOAT32,
       0},
  };
  const td_status status =
      td_from_structs(array, sizeof array, TD_SIZES(4), sizeof *array, members, 2, &td);
  /* [/copy] */
  TD_DO(status);
  TD_CHECK_ENTRY(td, TD_KEY("mass"), TD_SIZES(4), TD_VALUES(0.5, 1.5, 2.5, 3.5));
}

TD_TEST(structs_are_shown_without_a_copy) {
  const td_member members[] = PARTICLE_MEMBERS;
  struct particle array[4];
  int released = 0;
  td_tensordict *td = NULL;
  fill(array, 4);
  TD_DO(td_view_structs(array, sizeof array, TD_SIZES(4), sizeof *array, MEMBERS, count_release,
                        &released, &td));
  check(td);
  array[2].mass = 9;
  TD_CHECK_ENTRY(td, TD_KEY("mass"), TD_SIZES(4), TD_VALUES(0.5, 1.5, 9, 3.5));
  td_tensor *new = td_filled(TD_DTYPE_INT32, 6, TD_SIZES(4));
  TD_DO(td_set_inplace(td, TD_KEY("at", "cell"), new));
  TD_CHECK_INT(array[3].cell, 6);
  TD_CHECK_INT(array[3].flags[0], 0x5a);
  td_tensor_free(new);
  td_tensor *kept = td_take(td, TD_KEY("alive"));
  td_free(td);
  TD_CHECK_INT(released, 0);
  td_tensor_free(kept);
  TD_CHECK_INT(released, 1);
}

TD_TEST(structs_are_written_back) {
  const td_member members[] = PARTICLE_MEMBERS;
  struct particle array[4], again[4];
  td_tensordict *td = NULL;
  fill(array, 4);
  TD_DO(td_from_structs(array, sizeof array, TD_SIZES(4), sizeof *array, MEMBERS, &td));
  td_put(td, TD_KEY("not there"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4)));
  memset(again, 0x5a, sizeof again);
  TD_DO(td_to_structs(td, again, sizeof again, sizeof *again, MEMBERS));
  TD_CHECK(memcmp(array, again, sizeof array) == 0); /* what lies between the members, too */
}

TD_TEST(batches_of_any_shape) {
  const td_member members[] = PARTICLE_MEMBERS;
  struct particle array[4];
  td_tensordict *td = NULL;
  int released = 0;
  fill(array, 4);
  TD_DO(td_from_structs(array, sizeof array, TD_SIZES(2, 2), sizeof *array, MEMBERS, &td));
  TD_CHECK_ENTRY(td, TD_KEY("at", "cell"), TD_SIZES(2, 2), TD_VALUES(0, -1, -2, -3));
  td_free(td);
  TD_DO(td_view_structs(array, sizeof array, TD_SIZES(2, 2), sizeof *array, MEMBERS, count_release,
                        &released, &td));
  TD_CHECK_ENTRY(td, TD_KEY("at", "position"), TD_SIZES(2, 2, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  td_free(td);
  TD_CHECK_INT(released, 1);
  TD_DO(td_from_structs(array, sizeof *array, TD_NO_SIZES, sizeof *array, MEMBERS, &td));
  TD_CHECK_ENTRY(td, TD_KEY("at", "position"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  td_free(td);
  TD_DO(td_from_structs(NULL, 0, TD_SIZES(0), sizeof *array, MEMBERS, &td));
  TD_CHECK_BATCH(td, 0);
  td_free(td);
  TD_DO(
      td_view_structs(NULL, 0, TD_SIZES(0), sizeof *array, MEMBERS, count_release, &released, &td));
  TD_CHECK_BATCH(td, 0);
  td_free(td);
  TD_CHECK_INT(released, 2);
  TD_DO(td_from_structs(array, sizeof array, TD_SIZES(4), sizeof *array, NULL, 0, &td));
  TD_CHECK_FLAG(td_is_empty, td, 1);
  td_free(td);
}

TD_TEST(long_arrays_of_odd_sizes) {
  enum { count = 5000 };
  struct odd {
    uint8_t one[3], two[5], three[24];
  };
  static struct odd array[count], again[count];
  const int64_t sizes[] = {3, 5, 24};
  const td_member members[] = {
      {TD_KEY("one"), &sizes[0], 1, offsetof(struct odd, one), TD_DTYPE_UINT8, 0},
      {TD_KEY("two"), &sizes[1], 1, offsetof(struct odd, two), TD_DTYPE_UINT8, 0},
      {TD_KEY("three"), &sizes[2], 1, offsetof(struct odd, three), TD_DTYPE_UINT8, 0},
  };
  td_tensordict *td = NULL;
  for (size_t i = 0; i < sizeof array; i++) ((uint8_t *)array)[i] = (uint8_t)(i * 37 + i / 251);
  TD_DO(td_from_structs(array, sizeof array, TD_SIZES(count), sizeof *array, MEMBERS, &td));
  TD_DO(td_to_structs(td, again, sizeof again, sizeof *again, MEMBERS));
  TD_CHECK(memcmp(array, again, sizeof array) == 0);
}

TD_TEST(members_that_do_not_fit) {
  struct particle array[4];
  td_tensordict *td;
  fill(array, 4);
  const int64_t many[] = {100}, negative[] = {-1}, huge[] = {INT64_MAX};
  const struct {
    td_member member;
    td_status status;
  } cases[] = {
      {{TD_KEY("x"), NULL, 0, sizeof(struct particle) - 3, TD_DTYPE_FLOAT32, 0}, TD_ERR_SHAPE},
      {{TD_KEY("x"), many, 1, 0, TD_DTYPE_INT8, 0}, TD_ERR_SHAPE},
      {{TD_KEY("x"), negative, 1, 0, TD_DTYPE_INT8, 0}, TD_ERR_SHAPE},
      {{TD_KEY("x"), huge, 1, 0, TD_DTYPE_FLOAT64, 0}, TD_ERR_SHAPE},
      {{TD_KEY("x"), NULL, 1, 0, TD_DTYPE_INT8, 0}, TD_ERR_NULL_ARGUMENT},
      {{TD_KEY("x"), NULL, 0, SIZE_MAX, TD_DTYPE_INT8, 0}, TD_ERR_SHAPE},
      {{TD_KEY("x"), NULL, 0, 0, TD_DTYPE_OTHER, 0}, TD_ERR_DTYPE},
      {{TD_KEY("x"), NULL, 0, 0, TD_DTYPE_INT8, 1}, TD_ERR_INVALID_ARGUMENT},
      {{TD_KEY("\xff"), NULL, 0, 0, TD_DTYPE_INT8, 0}, TD_ERR_KEY_INVALID},
      {{NULL, 1, NULL, 0, 0, TD_DTYPE_INT8, 0}, TD_ERR_NULL_ARGUMENT},
      {{TD_KEY("mass"), NULL, 0, 0, TD_DTYPE_INT8, 0}, TD_ERR_KEY_EXISTS},
      {{TD_KEY("mass", "x"), NULL, 0, 0, TD_DTYPE_INT8, 0}, TD_ERR_KEY_EXISTS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const td_member members[] = {TD_MEMBER(struct particle, mass, TD_DTYPE_FLOAT64, "mass"),
                                 cases[i].member};
    int released = 0;
    TD_EXPECT_NULL(td_from_structs(array, sizeof array, TD_SIZES(4), sizeof *array, MEMBERS, &td),
                   cases[i].status, td);
    TD_EXPECT_NULL(td_view_structs(array, sizeof array, TD_SIZES(4), sizeof *array, MEMBERS,
                                   count_release, &released, &td),
                   cases[i].status, td);
    TD_CHECK_INT(released, 1);
  }
}

TD_TEST(arrays_that_do_not_fit) {
  const td_member members[] = PARTICLE_MEMBERS;
  struct particle array[4];
  int released = 0;
  td_tensordict *td;
  fill(array, 4);
  TD_EXPECT_NULL(td_from_structs(array, sizeof array - 1, TD_SIZES(4), sizeof *array, MEMBERS, &td),
                 TD_ERR_SHAPE, td);
  TD_EXPECT_NULL(td_from_structs(array, sizeof array, TD_SIZES(-4), sizeof *array, MEMBERS, &td),
                 TD_ERR_SHAPE, td);
  TD_EXPECT_NULL(td_from_structs(NULL, sizeof array, TD_SIZES(4), sizeof *array, MEMBERS, &td),
                 TD_ERR_NULL_ARGUMENT, td);
  TD_EXPECT_NULL(td_from_structs(array, sizeof array, NULL, 1, sizeof *array, MEMBERS, &td),
                 TD_ERR_NULL_ARGUMENT, td);
  /* Shared memory must lie at multiples of the element size. */
  TD_EXPECT_NULL(td_view_structs((char *)array + 1, 3 * sizeof *array, TD_SIZES(3), sizeof *array,
                                 MEMBERS, count_release, &released, &td),
                 TD_ERR_UNSUPPORTED, td);
  TD_CHECK_INT(released, 1);
  TD_DO(td_from_structs((char *)array + 1, 3 * sizeof *array, TD_SIZES(3), sizeof *array, MEMBERS,
                        &td));
  td_free(td);
}

TD_TEST(entries_that_do_not_fit_write_nothing) {
  const td_member members[] = PARTICLE_MEMBERS;
  struct particle array[4], before[4];
  td_tensordict *td = NULL;
  fill(array, 4);
  memcpy(before, array, sizeof array);
  TD_DO(td_from_structs(array, sizeof array, TD_SIZES(4), sizeof *array, MEMBERS, &td));
  td_put(td, TD_KEY("alive"), td_filled(TD_DTYPE_UINT8, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("mass"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(4)));
  TD_EXPECT(td_to_structs(td, array, sizeof array, sizeof *array, MEMBERS), TD_ERR_DTYPE);
  td_put(td, TD_KEY("alive"), td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(4, 1)));
  TD_EXPECT(td_to_structs(td, array, sizeof array, sizeof *array, MEMBERS), TD_ERR_SHAPE);
  TD_DO(td_remove(td, TD_KEY("alive")));
  TD_EXPECT(td_to_structs(td, array, sizeof array, sizeof *array, MEMBERS), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_to_structs(td, array, 1, sizeof *array, MEMBERS), TD_ERR_SHAPE);
  TD_EXPECT(td_to_structs(td, NULL, sizeof array, sizeof *array, MEMBERS), TD_ERR_NULL_ARGUMENT);
  TD_CHECK(memcmp(array, before, sizeof array) == 0);
}
