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

/* Structures of few and of many bytes, in a pattern and out of it: values travel with the comparison, after it, or by libtorch. */
static td_tensordict *of_kind(int kind, double x) {
  static const td_dtype dtypes[] = {TD_DTYPE_FLOAT32, TD_DTYPE_FLOAT64, TD_DTYPE_FLOAT32,
                                    TD_DTYPE_INT64};
  static const int64_t sizes[] = {3, 7, 20000, 1};
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("x"), td_filled(dtypes[kind], x, TD_SIZES(sizes[kind])));
  if (kind != 1) td_put(td, TD_KEY("n", "y"), td_filled(TD_DTYPE_INT8, 1, TD_SIZES(kind)));
  return td;
}

static double reduced(td_group_op op, double x) {
  switch (op) {
    case TD_GROUP_OP_PRODUCT: return x * (x + 1) * (x + 2);
    case TD_GROUP_OP_MIN: return x;
    case TD_GROUP_OP_MAX: return x + 2;
    default: return x + (x + 1) + (x + 2);
  }
}

static void any_order(td_group *group, int rank) {
  static const td_group_op ops[] = {TD_GROUP_OP_SUM, TD_GROUP_OP_PRODUCT, TD_GROUP_OP_MIN,
                                    TD_GROUP_OP_MAX};
  unsigned random = 20261128;
  for (int i = 0; i < 300; i++) {
    random = random * 1103515245u + 12345u;
    const unsigned draw = random >> 8;
    const int kind = i % 60 < 40 ? i % 3 : (int)(draw % 4); /* a pattern of three, then none */
    const td_group_op op = i % 60 < 40 ? TD_GROUP_OP_SUM : ops[draw / 4 % 4];
    const int odd = draw / 16 % 8 == 0 && rank == (int)(draw / 128 % 3); /* this rank errs */
    const int errs = draw / 16 % 8 == 0, root = draw / 512 % 4 == 0;
    const double x = 1 + (double)(i % 5);
    td_tensordict *td = of_kind(odd ? (kind + 1) % 4 : kind, x + rank);
    const td_status status =
        root ? td_group_reduce(group, td, 2, op, NULL) : td_group_all_reduce(group, td, op, NULL);
    TD_CHECK_INT(status, errs ? TD_ERR_SHAPE : TD_OK);
    const int writes = !errs && (!root || rank == 2);
    td_tensordict *want = of_kind(odd ? (kind + 1) % 4 : kind, writes ? reduced(op, x) : x + rank);
    if (kind != 1 && writes && op == TD_GROUP_OP_SUM) {
      td_put(want, TD_KEY("n", "y"), td_filled(TD_DTYPE_INT8, 3, TD_SIZES(kind)));
    }
    if (!root || writes || errs) TD_CHECK_EQUAL(td, want);
    td_free(want);
    td_free(td);
  }
}

TD_TEST(calls_in_any_order) { in_ranks(3, any_order); }

/* 0.1 + 0.2 + 0.3 depends on the order: it is that of the ranks, for each rank and however the values travel. */
static void same_bits(td_group *group, int rank) {
  static const float values[] = {0.1f, 0.2f, 0.3f};
  for (int i = 0; i < 5; i++) {
    td_tensordict *td = td_empty(TD_NO_SIZES);
    td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, values[rank], TD_SIZES(1)));
    TD_DO(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, NULL));
    td_tensor *x = td_take(td, TD_KEY("x"));
    float sum = 0;
    TD_DO(td_tensor_copy_to(x, &sum, sizeof sum));
    TD_CHECK(sum == (0.1f + 0.2f) + 0.3f);
    td_tensor_free(x);
    td_free(td);
  }
}

TD_TEST(sums_are_in_the_order_of_the_ranks) { in_ranks(3, same_bits); }
