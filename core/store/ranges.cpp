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
    "local m = redis.call('HMGET', KEYS[2], 'shape', 'dtype', 'is_non_tensor') "
    "if m[1] ~= ARGV[1] or m[2] ~= ARGV[2] or m[3] == '1' "
    "or redis.call('STRLEN', KEYS[1]) ~= tonumber(ARGV[3]) then return 0 end "
    "for i = 4, #ARGV, 2 do redis.call('SETRANGE', KEYS[1], ARGV[i], ARGV[i + 1]) end "
    "return 1";

void require_few(std::size_t spans, const std::string& where) {
  if (spans <= max_spans) return;
  fail(Code::unsupported, where, ": ", spans, " ranges of bytes, more than the ", max_spans,
       " of one call: take it in several parts");
}

// The flat positions of the elements that an index picks, in the order of the result.
at::Tensor picked_elements(const Meta& meta, c10::ArrayRef<IndexItem> items,
                           const std::string& where) {
  const RowIndex index = split_rows(items, meta.sizes);
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
  at::Tensor elements = at::arange(count, at::kLong).view(sizes);
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

RowsToRead rows_to_read(const Meta& meta, const PickedRows& rows, const std::string& where) {
  RowsToRead result;
  const std::int64_t row_bytes = meta.row_bytes();
  result.sizes = meta.sizes;
  if (meta.sizes.empty() || rows.all) {
    const std::int64_t bytes = meta.bytes();
    if (bytes != 0) result.spans.push_back({0, bytes});
    return result;
  }
  result.sizes[0] = rows.read_count;
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
  if (items.empty()) {
    if (meta.bytes() != 0) spans.push_back({0, meta.bytes()});
    return spans;
  }
  const RowIndex index = split_rows(items, meta.sizes);
  const PickedRows& rows = index.rows;
  // Contiguous rows need no list of elements.
  const bool plain_rows =
      !meta.sizes.empty() && !rows.all && rows.order.empty() &&
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
  request.begin(8 + 2 * spans.size());
  request.part("EVAL");
  request.part(write_script);
  request.part("2");
  request.part(keys.data(path));
  request.part(keys.meta(path));
  request.part(meta.shape_text);
  request.part(meta.dtype_text);
  request.part(std::to_string(meta.bytes()));
  std::size_t at = 0;
  for (const Span& span : spans) {
    const auto size = static_cast<std::size_t>(span.bytes);
    request.part(std::to_string(span.start));
    request.value(bytes.substr(at, size));
    at += size;
  }
}

}  // namespace td::store
