/* Ranks that bring other tensors, in another order, or of dtypes that gloo cannot reduce: a status on all of them, or
 * the right values; and the group goes on. */
#include "td_group_test.h"

/* {"b": …, "a": …} in this order or in the other one, of batch []. */
static td_tensordict *in_order(int other, double a, double b) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  for (int i = 0; i < 2; i++) {
    if (i == other) {
      td_put(td, TD_KEY("b"), td_filled(TD_DTYPE_FLOAT32, b, TD_SIZES(2)));
    } else {
      td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, a, TD_SIZES(2)));
    }
  }
  return td;
}

static void check_both(td_tensordict *td, double a, double b) {
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(a, a));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(b, b));
  td_free(td);
}

static void other_order(td_group *group, int rank) {
  td_tensordict *td = in_order(rank == 1, 1, 100);
  TD_DO(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, NULL));
  check_both(td, 3, 300);
  for (int form = 0; form < 2; form++) {
    const td_group_call_options options = group_with(form == 0 ? 0 : TD_GROUP_CONSOLIDATED);
    td = in_order(rank == 1, rank == 0 ? 1 : 0, rank == 0 ? 100 : 0);
    if (rank == 0) TD_DO(td_group_send(group, td, 1, &options));
    if (rank == 1) TD_DO(td_group_recv(group, td, 0, &options));
    if (rank == 2) {
      td_free(td);
    } else {
      check_both(td, 1, 100);
    }
  }
}

TD_TEST(keys_in_another_order) { in_ranks(3, other_order); }

/* Each difference, on rank 1 alone, and what the message of all ranks says. */
static void differences(td_group *group, int rank) {
  for (int i = 0; i < 6; i++) {
    td_tensordict *td = group_dict(rank);
    td_group_call_options options = group_with(0);
    const char *text = NULL;
    td_group_op op = TD_GROUP_OP_SUM;
    switch (i) {
      case 0:
        if (rank == 1) td_put(td, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT8, 1, TD_SIZES(2, 4)));
        text = "\"n.b\" of rank 1 is missing on rank 0";
        break;
      case 1:
        if (rank == 1) TD_DO(td_remove(td, TD_KEY("a")));
        text = "\"a\" of rank 0 is missing on rank 1";
        break;
      case 2:
        if (rank == 1) td_put(td, TD_KEY("b"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, 4)));
        text = "\"b\" is torch.float32 [2, 3] on rank 0 and torch.float32 [2, 4] on rank 1";
        break;
      case 3:
        if (rank == 1) td_put(td, TD_KEY("b"), td_filled(TD_DTYPE_FLOAT64, 1, TD_SIZES(2, 3)));
        text = "\"b\" is torch.float32 [2, 3] on rank 0 and torch.float64 [2, 3] on rank 1";
        break;
      case 4:
        if (rank == 1) op = TD_GROUP_OP_MAX;
        text = "rank 0 calls all_reduce (sum), rank 1 calls all_reduce (max)";
        break;
      default:
        if (rank == 1) options.bucket_bytes = 100;
        text = "rank 1 calls all_reduce (sum, bucket_bytes 100)";
    }
    TD_EXPECT(td_group_all_reduce(group, td, op, &options), TD_ERR_SHAPE);
    TD_CHECK_TEXT(td_last_error_message(), text);
    td_free(td);
    td = group_dict(rank); /* the group goes on */
    TD_DO(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, NULL));
    group_check_a(td, 3, 6);
    td_free(td);
    td = group_dict(rank);
    TD_EXPECT(td_group_reduce(group, td, rank == 1 ? 1 : 0, TD_GROUP_OP_SUM, NULL), TD_ERR_SHAPE);
    TD_CHECK_TEXT(td_last_error_message(), "rank 1 calls reduce (sum) to rank 1");
    group_check(td, rank);
  }
}

TD_TEST(what_differs_is_named) { in_ranks(3, differences); }

/* A structure that both ranks know, each another one: nothing is remembered that would hide it. */
static void known_before(td_group *group, int rank) {
  td_tensordict *one = in_order(0, 1, 2), *two = group_dict(1);
  for (int i = 0; i < 2; i++) {
    TD_DO(td_group_all_reduce(group, one, TD_GROUP_OP_MAX, NULL));
    TD_DO(td_group_all_reduce(group, two, TD_GROUP_OP_MAX, NULL));
    TD_EXPECT(td_group_all_reduce(group, rank == 0 ? one : two, TD_GROUP_OP_MAX, NULL),
              TD_ERR_SHAPE);
  }
  td_free(one);
  td_free(two);
}

TD_TEST(structures_that_were_reduced_before) { in_ranks(2, known_before); }

/* More and less than the other rank waits for, by size and by name; a name with a dot is no nested one. */
static void transfers(td_group *group, int rank) {
  for (int form = 0; form < 2; form++) {
    const td_group_call_options options = group_with(form == 0 ? 0 : TD_GROUP_CONSOLIDATED);
    for (int i = 0; i < 3; i++) {
      td_tensordict *td = group_dict(rank);
      if (i == 0 && rank == 0) {
        td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2, 100000)));
      } else if (i == 1 && rank == 1) {
        td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2, 100000)));
      } else if (i == 2) {
        if (rank == 0) td_put(td, TD_KEY("a.x"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2)));
        if (rank == 1) TD_DO(td_remove(td, TD_KEY("a")));
        if (rank == 1) td_put(td, TD_KEY("a", "x"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2)));
        if (rank == 0) TD_DO(td_remove(td, TD_KEY("a")));
      }
      if (rank == 0) {
        TD_DO(td_group_send(group, td, 1, &options));
      } else {
        TD_EXPECT(td_group_recv(group, td, 0, &options), TD_ERR_SHAPE);
        TD_CHECK_TEXT(td_last_error_message(), i == 2 ? "a.x" : "\"a\" is torch.int64 [2");
      }
      td_free(td);
      td = group_dict(rank);
      if (rank == 0) TD_DO(td_group_send(group, td, 1, &options));
      if (rank == 1) TD_DO(td_group_recv(group, td, 0, &options));
      group_check(td, 0);
    }
  }
}

TD_TEST(transfers_of_other_tensors) { in_ranks(2, transfers); }

static void put_as(td_tensordict *td, const char *name, td_dtype dtype, double value) {
  td_tensor *numbers = td_filled(TD_DTYPE_FLOAT64, value, TD_SIZES(2)), *as = NULL;
  TD_DO(td_tensor_to(numbers, dtype, TD_DEVICE_NONE, -1, &as));
  td_tensor_free(numbers);
  td_put(td, TD_KEY(name), as);
}

static td_tensordict *of_dtype(td_dtype dtype, double x, double y) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  put_as(td, "x", dtype, x);
  put_as(td, "y", dtype, y);
  return td;
}

/* Reduces, and checks dtypes and values. */
static void reduces(td_group *group, td_tensordict *td, td_group_op op,
                    const td_group_call_options *options, td_dtype dtype, double x, double y) {
  td_tensordict *want = of_dtype(dtype, x, y);
  TD_DO(td_group_all_reduce(group, td, op, options));
  TD_CHECK_DTYPE(td, TD_KEY("x"), dtype);
  TD_CHECK_EQUAL(td, want);
  td_free(want);
  td_free(td);
}

static void dtypes(td_group *group, int rank) {
  static const td_dtype kinds[] = {TD_DTYPE_FLOAT16, TD_DTYPE_BFLOAT16, TD_DTYPE_INT16,
                                   TD_DTYPE_COMPLEX64, TD_DTYPE_COMPLEX128};
  for (int form = 0; form < 3; form++) {
    td_group_call_options options = group_with(form == 1 ? TD_GROUP_FUSED : 0);
    if (form == 2) options.bucket_bytes = 8;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
      reduces(group, of_dtype(kinds[i], rank + 1, 10), TD_GROUP_OP_SUM, &options, kinds[i], 3, 20);
    }
    const td_dtype flag = TD_DTYPE_BOOL, half = TD_DTYPE_FLOAT16, complex = TD_DTYPE_COMPLEX64;
    reduces(group, of_dtype(flag, rank, 1), TD_GROUP_OP_SUM, &options, flag, 1, 1);
    reduces(group, of_dtype(flag, rank, 1), TD_GROUP_OP_MIN, &options, flag, 0, 1);
    reduces(group, of_dtype(half, 1 + 2 * rank, 10), TD_GROUP_OP_AVERAGE, &options, half, 2, 10);
    reduces(group, of_dtype(half, rank, 10), TD_GROUP_OP_MAX, &options, half, 1, 10);
    reduces(group, of_dtype(complex, rank, 1), TD_GROUP_OP_AVERAGE, &options, complex, 0.5, 1);
  }
  for (int i = 0; i < 2; i++) {
    td_tensordict *td = of_dtype(i == 0 ? TD_DTYPE_COMPLEX64 : TD_DTYPE_BOOL, 1, 1);
    TD_EXPECT(td_group_all_reduce(group, td, i == 0 ? TD_GROUP_OP_MAX : TD_GROUP_OP_AVERAGE, NULL),
              TD_ERR_DTYPE);
    td_free(td);
  }
}

TD_TEST(dtypes_that_gloo_cannot_reduce) { in_ranks(2, dtypes); }

/* Rank 1 alone refuses: the others are told, and do not wait. */
static void refused(td_group *group, int rank) {
  td_tensordict *td = of_dtype(rank == 1 ? TD_DTYPE_INT32 : TD_DTYPE_FLOAT32, 1, 2);
  TD_EXPECT(td_group_all_reduce(group, td, TD_GROUP_OP_AVERAGE, NULL), TD_ERR_DTYPE);
  TD_CHECK_TEXT(td_last_error_message(), rank == 1 ? "int32" : "rank 1 refused the call");
  TD_CHECK_TEXT(td_last_error_message(), "no average");
  TD_EXPECT(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, NULL), TD_ERR_SHAPE);
  td_free(td);
  td = group_dict(rank);
  TD_DO(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, NULL));
  group_check_a(td, 3, 6);
  td_free(td);
}

TD_TEST(one_rank_refuses) { in_ranks(3, refused); }
