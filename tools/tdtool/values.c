/* Elements of tensors: as text, as JSON, as numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

char *non_tensor_text(const td_tensordict *td, const char *const *path, size_t path_len,
                      bool list) {
  size_t length = 0;
  td_status (*get)(const td_tensordict *, const char *const *, size_t, char *, size_t, size_t *) =
      list ? td_get_non_tensor_stack_json : td_get_non_tensor_json;
  td_status status = get(td, path, path_len, NULL, 0, &length);
  if (status != TD_OK && status != TD_ERR_BUFFER_TOO_SMALL) return NULL;
  char *json = xcalloc(length + 1, 1);
  must(get(td, path, path_len, json, length + 1, &length));
  return json;
}

elements elements_of(const td_tensor *tensor) {
  elements result = {0};
  td_tensor *near, *dense;
  void *data;
  must(td_tensor_dtype(tensor, &result.dtype));
  must(td_tensor_to(tensor, TD_DTYPE_OTHER, TD_DEVICE_CPU, -1, &near));
  must(td_tensor_contiguous(near, &dense));
  td_tensor_free(near);
  must(td_tensor_data(dense, &data));
  must(td_tensor_sizes(dense, NULL, 0, &result.dims));
  result.sizes = xcalloc(result.dims, sizeof *result.sizes);
  if (result.dims) must(td_tensor_sizes(dense, result.sizes, result.dims, &result.dims));
  result.held = dense;
  result.data = data;
  result.item = td_dtype_size(result.dtype);
  result.count = 1;
  for (size_t i = 0; i < result.dims; i++) result.count *= (size_t)result.sizes[i];
  if (result.item == 0) die("values of dtype %s cannot be read", dtype_name(result.dtype));
  return result;
}

bool elements_at(const td_tensordict *td, const key *path, elements *of) {
  td_entry_kind kind;
  td_tensor *tensor;
  must(td_get_kind(td, path->names, path->length, &kind));
  if (kind != TD_ENTRY_TENSOR) return false;
  must(td_get(td, path->names, path->length, &tensor));
  *of = elements_of(tensor);
  td_tensor_free(tensor);
  return true;
}

void elements_free(elements *of) {
  td_tensor_free(of->held);
  free(of->sizes);
  *of = (elements){0};
}

static double from_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

static double from_bfloat(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return (double)value;
}

static uint16_t read_u16(const void *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
static float read_float(const void *at) {
  float value;
  memcpy(&value, at, sizeof value);
  return value;
}
static double read_double(const void *at) {
  double value;
  memcpy(&value, at, sizeof value);
  return value;
}

bool is_integer(td_dtype dtype) { return dtype_kind(dtype) <= KIND_NATURAL; }

/* An integer; unsigned ones of 8 bytes as their bits. */
static bool read_integer(td_dtype dtype, const void *at, int64_t *result) {
  if (!is_integer(dtype)) return false;
  const size_t bytes = td_dtype_size(dtype), rest = 64 - 8 * bytes;
  uint64_t bits = 0;
  memcpy(&bits, at, bytes);
  *result = (int64_t)(bits << rest);
  *result = dtype_kind(dtype) == KIND_WHOLE ? *result >> rest : (int64_t)bits;
  return true;
}

/* The real and the imaginary part; true for complex numbers. */
static bool read_parts(td_dtype dtype, const void *element, double *real, double *imaginary) {
  const char *at = element;
  *imaginary = 0;
  switch (dtype) {
    case TD_DTYPE_FLOAT16: *real = from_half(read_u16(at)); return false;
    case TD_DTYPE_BFLOAT16: *real = from_bfloat(read_u16(at)); return false;
    case TD_DTYPE_FLOAT32: *real = (double)read_float(at); return false;
    case TD_DTYPE_FLOAT64: *real = read_double(at); return false;
    case TD_DTYPE_COMPLEX32:
      *real = from_half(read_u16(at));
      *imaginary = from_half(read_u16(at + 2));
      return true;
    case TD_DTYPE_COMPLEX64:
      *real = (double)read_float(at);
      *imaginary = (double)read_float(at + 4);
      return true;
    case TD_DTYPE_COMPLEX128:
      *real = read_double(at);
      *imaginary = read_double(at + 8);
      return true;
    default: *real = NAN; return false;
  }
}

double element_real(td_dtype dtype, const void *element) {
  int64_t integer;
  double real, imaginary;
  if (read_integer(dtype, element, &integer)) {
    return dtype == TD_DTYPE_UINT64 ? (double)(uint64_t)integer : (double)integer;
  }
  return read_parts(dtype, element, &real, &imaginary) ? hypot(real, imaginary) : real;
}

long double element_exact(td_dtype dtype, const void *element) {
  int64_t integer;
  if (!read_integer(dtype, element, &integer)) return element_real(dtype, element);
  return dtype == TD_DTYPE_UINT64 ? (long double)(uint64_t)integer : (long double)integer;
}

bool is_real(td_dtype dtype) { return dtype_kind(dtype) == KIND_REAL; }

#define EACH(type)                                                              \
  for (size_t i = 0; i < count; i++) into[i] = (double)((const type *)data)[i]; \
  return

void elements_real(td_dtype dtype, const void *data, size_t count, double *into) {
  if ((uintptr_t)data % td_dtype_size(dtype) == 0) {
    switch (dtype) { /* the common ones fast */
      case TD_DTYPE_BOOL:
      case TD_DTYPE_UINT8: EACH(uint8_t);
      case TD_DTYPE_INT8: EACH(int8_t);
      case TD_DTYPE_INT16: EACH(int16_t);
      case TD_DTYPE_INT32: EACH(int32_t);
      case TD_DTYPE_INT64: EACH(int64_t);
      case TD_DTYPE_FLOAT32: EACH(float);
      case TD_DTYPE_FLOAT64: EACH(double);
      default: break;
    }
  }
  size_t item = td_dtype_size(dtype);
  for (size_t i = 0; i < count; i++) into[i] = element_real(dtype, (const char *)data + i * item);
}

/* Enough digits to read the same number again, or as many as people like. */
static const char *real_format(td_dtype dtype, bool exact) {
  if (!exact) return "%.5g";
  return dtype == TD_DTYPE_FLOAT64 || dtype == TD_DTYPE_COMPLEX128 ? "%.17g" : "%.9g";
}

static void add_real(text *to, td_dtype dtype, double value, bool exact) {
  if (isnan(value))
    add(to, exact ? "null" : "nan");
  else if (isinf(value))
    add(to, exact ? "null" : value < 0 ? "-inf" : "inf");
  else
    addf(to, real_format(dtype, exact), value);
}

void add_element(text *to, td_dtype dtype, const void *element, bool exact) {
  int64_t integer;
  double real, imaginary;
  if (read_integer(dtype, element, &integer)) {
    if (dtype == TD_DTYPE_BOOL)
      add(to, integer ? "true" : "false");
    else if (dtype == TD_DTYPE_UINT64)
      addf(to, "%llu", (unsigned long long)integer);
    else
      addf(to, "%lld", (long long)integer);
    return;
  }
  bool complex = read_parts(dtype, element, &real, &imaginary);
  if (complex && exact) add(to, "[");
  add_real(to, dtype, real, exact);
  if (!complex) return;
  add(to, exact ? ", " : imaginary < 0 || isnan(imaginary) ? "" : "+");
  add_real(to, dtype, imaginary, exact);
  add(to, exact ? "]" : "i");
}

void add_elements(text *to, const elements *of, size_t most) {
  for (size_t i = 0; i < of->count && i < most; i++) {
    if (i) add(to, ", ");
    add_element(to, of->dtype, of->data + i * of->item, false);
  }
  if (of->count > most) add(to, terminal_utf8() ? ", …" : ", ...");
  if (of->count == 0) add(to, "-");
}

void json_elements(const elements *of) {
  text json = {NULL, 0, 0};
  size_t inner = 1; /* elements of one list of the last dimension that is opened */
  add(&json, "");
  if (of->count == 0) add(&json, "[]");
  for (size_t i = 0; i < of->count; i++) {
    inner = of->count;
    if (i) add(&json, ", ");
    for (size_t dim = 0; dim < of->dims; dim++) {
      if (i % inner == 0) add(&json, "[");
      inner /= (size_t)of->sizes[dim];
    }
    add_element(&json, of->dtype, of->data + i * of->item, true);
    inner = 1;
    for (size_t dim = of->dims; dim-- > 0;) {
      inner *= (size_t)of->sizes[dim];
      if ((i + 1) % inner == 0) add(&json, "]");
    }
  }
  json_raw(json.data);
  text_free(&json);
}
