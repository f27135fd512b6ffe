// core/store/ranges.h: which bytes of a stored value an index reads or writes.
#pragma once

#include "core/store/entry.h"
#include "core/store/request.h"

#include "core/tensor/picked_rows.h"

#include <cstdint>
#include <string>
#include <vector>

namespace td::store {

struct Span {
  std::int64_t start, bytes;
};

// Requests with more spans are refused.
inline constexpr std::size_t max_spans = 250'000;

// Which element of a lazy stack an index picks, whose elements differ in shape; Code::shape if it picks several.
std::int64_t element_picked(c10::ArrayRef<IndexItem> items, const Meta& meta,
                            const std::string& where);

// How rows are read: one range, or several that a script on the server concatenates.
struct RowsToRead {
  std::vector<Span> spans;  // empty: nothing is read
  Sizes sizes;              // of the rows that are read
  std::int64_t step = 1;    // keep each `step`-th of the rows that are read
};
RowsToRead rows_to_read(const Meta& meta, const PickedRows& rows, const std::string& where);

// Adds the command that reads the rows, after one that asks for the length of the whole value.
void ask_rows(Request& request, const std::string& key, const RowsToRead& read);

// The picked rows in their order, from the replies.
at::Tensor rows_of(const Answer& length, const Answer& answer, const Meta& meta,
                   const PickedRows& rows, const RowsToRead& read, const std::string& where);

// The bytes that an index picks, in the order of the values that are written to them.
std::vector<Span> spans_to_write(const Meta& meta, c10::ArrayRef<IndexItem> items,
                                 const std::string& where);

// Adds one atomic command that writes `bytes` to the spans. It answers 1, or 0 if the entry's
// metadata is no longer `meta`. The bytes must live until the request is sent.
void ask_write(Request& request, const ServerKeys& keys, std::string_view path, const Meta& meta,
               const std::vector<Span>& spans, std::string_view bytes);

}  // namespace td::store
