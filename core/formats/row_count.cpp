#include "core/formats/row_count.h"

#include <cstring>

namespace td::format {

namespace {

constexpr std::uint64_t count_magic = 0x3173776F72254454;  // "TD%rows1"

struct CountSlot {
  std::uint64_t magic;
  std::uint64_t sequence;
  std::int64_t base;
  std::int64_t rows;
  Digest meta;
  std::uint64_t reserved;
  std::uint64_t check;  // checksum of the fields above
};
static_assert(sizeof(CountSlot) == count_bytes, "a count has 64 bytes");

std::uint64_t check_of(const CountSlot& slot) noexcept {
  return digest_of(&slot, offsetof(CountSlot, check)).low;
}

}  // namespace

std::string count_text(const RowCount& count) {
  CountSlot slot{count_magic, count.sequence, count.base, count.rows, count.meta, 0, 0};
  slot.check = check_of(slot);
  std::string text(sizeof slot, '\0');
  std::memcpy(text.data(), &slot, sizeof slot);
  return text;
}

std::optional<RowCount> read_count(std::string_view content, const Digest& meta) noexcept {
  std::optional<RowCount> result;
  for (std::size_t at = 0; at < 2 * count_bytes && at + count_bytes <= content.size();
       at += count_bytes) {
    CountSlot slot;
    std::memcpy(&slot, content.data() + at, sizeof slot);
    if (slot.magic != count_magic || slot.check != check_of(slot) || !(slot.meta == meta)) continue;
    if (slot.base < 0 || slot.rows < slot.base || (slot.base == 0 && slot.rows != 0)) continue;
    if (result && result->sequence >= slot.sequence) continue;
    result = RowCount{slot.base, slot.rows, slot.sequence, slot.meta};
  }
  return result;
}

void count_rows(NodeText& node, const RowCount& count) {
  if (node.type != NodeType::dense || node.batch.empty() || node.batch[0] < count.base) return;
  for (Entry& entry : node.entries) {
    const bool by_row = !entry.is_node && !entry.nested_tensor && !entry.shape.empty() &&
                        entry.shape[0] == node.batch[0];
    if (by_row) entry.shape[0] = count.rows;
  }
  node.batch[0] = count.rows;
}

}  // namespace td::format
