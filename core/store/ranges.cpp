#include "core/store/ranges.h"

#include <ATen/ATen.h>

namespace td::store {

namespace {

constexpr std::string_view read_script =
    "local parts = {} "
    "for i = 1, #ARGV, 2 do "
    "parts[#parts + 1] = redis.call('GETRANGE', KEYS[1], ARGV[i], ARGV[i + 1]) end "
    "return table.concat(parts)";

// Does not write to a value that another client has replaced.
constexpr std::string_view write_script =
    "local m = redis.call('HMGET', KEYS[2], 'shape', 'dtype', 'is_non_tensor', 'homogeneous', "
    "'shapes', 'layout') "
    "if m[1] ~= ARGV[1] or m[2] ~= ARGV[2] or m[3] == '1' "
    "or (m[4] == '0' and m[5] or '') ~= ARGV[4] or (m[6] or '') ~= ARGV[5] "
    "or redis.call('STRLEN', KEYS[1]) ~= tonumber(ARGV[3]) then return 0 end "
    "for i = 6, #ARGV, 2 do redis.call('SETRANGE', KEYS[1], ARGV[i], ARGV[i + 1]) end "
    "return 1";

void require_few(std::size_t spans, const std::string& where) {
  if (spans <= max_spans) return;
  fail(Code::unsupported, where, ": ", spans, " ranges of bytes, more than the ", max_spans,
       " of one call: take it in several parts");
}

[[noreturn]] void fail_uneven(const std::string& where) {
  fail(Code::shape, where,
       ": the elements of the stack differ in shape: take one of them, by its number");
}

// The flat positions of the elements that an index picks, in the order of the result.
at::Tensor picked_elements(const Meta& meta, c10::ArrayRef<IndexItem> items,
                           const std::string& where) {
  // Elements in another order are picked from all of them.
  const RowIndex index =
      meta.front == 0 ? split_rows(items, meta.sizes) : RowIndex{{}, {items.begin(), items.end()}};
  const PickedRows& rows = index.rows;
  const std::int64_t item = static_cast<std::int64_t>(c10::elementSize(meta.dtype));
  const std::int64_t in_row = meta.row_bytes() / item;
  Sizes sizes = meta.sizes;
  const bool whole = meta.sizes.empty() || rows.all;
  if (!whole) sizes[0] = rows.read_count;
  constexpr std::int64_t most = std::int64_t{1} << 27;
  const std::int64_t count = count_elements(sizes);
  if (count > most) {
    fail(Code::unsupported, where, ": an index over ", count, " elements, more than the ", most,
         " of one call: take it in several parts");
  }
  at::Tensor elements = at::arange(count, at::kLong).view(whole ? meta.stored_sizes() : sizes);
  if (meta.front != 0) elements = elements.movedim(0, meta.front);
  if (!whole && count != 0) {
    std::int64_t* data = elements.data_ptr<std::int64_t>();
    for (const PickedRows::Run& run : rows.runs) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        const std::int64_t first = (run.start + i * run.step) * in_row;
        for (std::int64_t k = 0; k < in_row; ++k) *data++ = first + k;
      }
    }
  }
  if (!rows.order.empty()) elements = elements.index_select(0, at::tensor(rows.order, at::kLong));
  if (!index.rest.empty()) elements = IndexPlan(index.rest, elements.sizes()).read(elements, false);
  return elements.contiguous();
}

}  // namespace

std::int64_t element_picked(c10::ArrayRef<IndexItem> items, const Meta& meta,
                            const std::string& where) {
  if (items.empty() || items[0].kind != IndexKind::integer || meta.front != 0) fail_uneven(where);
  const auto count = static_cast<std::int64_t>(meta.shapes.size());
  const std::int64_t at = *items[0].start;
  if (at >= -count && at < count) return at < 0 ? at + count : at;
  fail(Code::index, where, ": element ", at, " of ", count);
}

RowsToRead rows_to_read(const Meta& meta, const PickedRows& rows, const std::string& where) {
  RowsToRead result;
  if (!meta.shapes.empty()) {
    if (rows.runs.size() != 1 || rows.read_count != 1) fail_uneven(where);
    const std::int64_t number = rows.runs[0].start;
    const Meta one = meta.element(number);
    result.sizes = one.sizes;
    result.sizes.insert(result.sizes.begin(), 1);
    if (one.bytes() != 0) result.spans.push_back({meta.offset(number), one.bytes()});
    return result;
  }
  result.sizes = meta.stored_sizes();
  if (meta.sizes.empty() || rows.all) {
    const std::int64_t bytes = meta.bytes();
    if (bytes != 0) result.spans.push_back({0, bytes});
    return result;
  }
  result.sizes[0] = rows.read_count;
  const std::int64_t row_bytes = meta.row_bytes();
  if (row_bytes == 0) return result;
  if (rows.runs.size() == 1 && rows.runs[0].step != 1) {
    const PickedRows::Run& run = rows.runs[0];
    result.step = run.step;
    result.sizes[0] = (run.count - 1) * run.step + 1;
    result.spans.push_back({run.start * row_bytes, result.sizes[0] * row_bytes});
    return result;
  }
  require_few(rows.runs.size(), where);
  for (const PickedRows::Run& run : rows.runs) {
    result.spans.push_back({run.start * row_bytes, run.count * row_bytes});
  }
  return result;
}

void ask_rows(Request& request, const std::string& key, const RowsToRead& read) {
  const auto last = [](const Span& span) { return std::to_string(span.start + span.bytes - 1); };
  request.add({"STRLEN", key});
  if (read.spans.empty()) return request.add({"GETRANGE", key, "1", "0"});
  if (read.spans.size() == 1) {
    const Span& span = read.spans[0];
    return request.add({"GETRANGE", key, std::to_string(span.start), last(span)});
  }
  request.begin(4 + 2 * read.spans.size());
  for (const std::string_view text :
       {std::string_view("EVAL"), read_script, std::string_view("1"), std::string_view(key)}) {
    request.part(text);
  }
  for (const Span& span : read.spans) {
    request.part(std::to_string(span.start));
    request.part(last(span));
  }
}

at::Tensor rows_of(const Answer& length, const Answer& answer, const Meta& meta,
                   const PickedRows& rows, const RowsToRead& read, const std::string& where) {
  const std::int64_t found = length.integer("the length of a value");
  if (found != meta.bytes()) {
    fail(Code::format, where, ": ", found, " bytes, where ", meta.dtype_text, " of ",
         show_sizes(meta.sizes), " has ", meta.bytes());
  }
  at::Tensor result = tensor_of(answer.text("a part of a value"), meta, read.sizes, where);
  if (read.step != 1) result = result.slice(0, 0, read.sizes[0], read.step).contiguous();
  if (!rows.order.empty()) result = result.index_select(0, at::tensor(rows.order, at::kLong));
  return result;
}

std::vector<Span> spans_to_write(const Meta& meta, c10::ArrayRef<IndexItem> items,
                                 const std::string& where) {
  const std::int64_t item = static_cast<std::int64_t>(c10::elementSize(meta.dtype));
  std::vector<Span> spans;
  if (!meta.shapes.empty()) {
    const std::int64_t number = element_picked(items, meta, where);
    const std::int64_t start = meta.offset(number);
    spans = spans_to_write(meta.element(number), items.slice(1), where);
    for (Span& span : spans) span.start += start;
    return spans;
  }
  if (items.empty() && meta.front == 0) {
    if (meta.bytes() != 0) spans.push_back({0, meta.bytes()});
    return spans;
  }
  const RowIndex index = split_rows(items, meta.sizes);
  const PickedRows& rows = index.rows;
  // Contiguous rows need no list of elements.
  const bool plain_rows =
      meta.front == 0 && !meta.sizes.empty() && !rows.all && rows.order.empty() &&
      (index.rest.empty() || (items.size() == 1 && items[0].kind == IndexKind::integer));
  if (plain_rows) {
    const std::int64_t row_bytes = meta.row_bytes();
    for (const PickedRows::Run& run : rows.runs) {
      const bool dense = run.step == 1;
      for (std::int64_t i = 0; i < (dense ? 1 : run.count); ++i) {
        spans.push_back(
            {(run.start + i * run.step) * row_bytes, (dense ? run.count : 1) * row_bytes});
      }
      require_few(spans.size(), where);
    }
    if (row_bytes == 0) spans.clear();
    return spans;
  }
  const at::Tensor elements = picked_elements(meta, items, where);
  const std::int64_t* at = elements.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < elements.numel(); ++i) {
    if (!spans.empty() && spans.back().start + spans.back().bytes == at[i] * item) {
      spans.back().bytes += item;
    } else {
      spans.push_back({at[i] * item, item});
      require_few(spans.size(), where);
    }
  }
  return spans;
}

void ask_write(Request& request, const ServerKeys& keys, std::string_view path, const Meta& meta,
               const std::vector<Span>& spans, std::string_view bytes) {
  request.begin(10 + 2 * spans.size());
  request.part("EVAL");
  request.part(write_script);
  request.part("2");
  request.part(keys.data(path));
  request.part(keys.meta(path));
  request.part(meta.shape_text);
  request.part(meta.dtype_text);
  request.part(std::to_string(meta.bytes()));
  request.part(meta.shapes_text);
  request.part(meta.layout_text);
  std::size_t at = 0;
  for (const Span& span : spans) {
    const auto size = static_cast<std::size_t>(span.bytes);
    request.part(std::to_string(span.start));
    request.value(bytes.substr(at, size));
    at += size;
  }
}

}  // namespace td::store
