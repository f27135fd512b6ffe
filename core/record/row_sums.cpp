#include "core/record/row_sums.h"

#include "core/record/known_sums.h"

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <unordered_map>

namespace td::record {

namespace {

using files::Found;

constexpr std::size_t summed_at_once = std::size_t{1} << 18;

void hash_part(Hasher& hasher, const Layout& folder, const std::string& relative,
               std::uint64_t from, std::uint64_t bytes) {
  const std::string path = folder.at(relative);
  const files::Descriptor file =
      files::open_beneath(folder.folder(), relative, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  std::vector<char> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(summed_at_once, bytes)));
  while (bytes != 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), bytes));
    files::read_all_at(file.get(), buffer.data(), wanted, from, path);
    hasher.add(buffer.data(), wanted);
    bytes -= wanted;
    from += wanted;
  }
}

}  // namespace

bool RowSums::present(const Layout& folder) {
  return folder.look(checksums_name(folder.folder())).found != Found::nothing;
}

std::string RowSums::stored(const Layout& folder) {
  const std::string name = checksums_name(folder.folder());
  return files::read_beneath(folder.folder(), name, max_checksums_bytes, folder.at(name));
}

RowSums::RowSums(const Layout& folder, std::int64_t rows, bool check) : folder_(folder) {
  const bool compares = check && present(folder);
  if (std::optional<std::deque<Hasher>> kept; compares && (kept = take_kept_sums(folder))) {
    hashers_ = std::move(*kept);
    rows_ = rows;
    return;
  }
  hashers_.resize(folder.leaves().size());
  read(rows);
  if (compares) this->check();
}

void RowSums::keep() noexcept { keep_sums(folder_, std::move(hashers_)); }

void RowSums::read(std::int64_t rows) {
  for (std::size_t i = 0; i < hashers_.size(); ++i) {
    const LayoutLeaf& leaf = folder_.leaves()[i];
    const std::uint64_t from = static_cast<std::uint64_t>(rows_) * leaf.row_bytes;
    const std::uint64_t bytes = static_cast<std::uint64_t>(rows - rows_) * leaf.row_bytes;
    if (bytes != 0) hash_part(hashers_[i], folder_, leaf.file, from, bytes);
  }
  rows_ = rows;
}

void RowSums::check() const {
  const std::string where = "\"" + folder_.at(checksums_name(folder_.folder())) + "\"";
  std::unordered_map<std::string, Checksum> known;
  for (Checksum& one : read_checksums(stored(folder_), where)) {
    known.emplace(one.path, std::move(one));
  }
  for (std::size_t i = 0; i < hashers_.size(); ++i) {
    const LayoutLeaf& leaf = folder_.leaves()[i];
    const auto found = known.find(leaf.file);
    const std::uint64_t bytes = static_cast<std::uint64_t>(folder_.rows()) * leaf.row_bytes;
    if (found == known.end() || found->second.bytes != bytes || bytes == 0) continue;
    if (found->second.digest == hashers_[i].digest()) continue;
    fail(Code::format, "\"", folder_.at(leaf.file), "\" is damaged: its first ", bytes,
         " bytes are not those that were saved");
  }
}

std::unique_ptr<RowSums> open_sums(const Layout& folder, bool wanted) {
  if (!wanted && !RowSums::present(folder)) return nullptr;
  return std::make_unique<RowSums>(folder, folder.rows(), /*check=*/true);
}

std::string RowSums::text(std::int64_t rows) const {
  std::vector<Checksum> all;
  for (std::size_t i = 0; i < folder_.nodes().size(); ++i) {
    const LayoutNode& node = folder_.nodes()[i];
    const std::string name = node.folder.empty() ? std::string(format::meta_file)
                                                 : files::join(node.folder, format::meta_file);
    const std::string meta =
        node.changes()
            ? folder_.text(i, rows)
            : files::read_beneath(folder_.folder(), name, max_checksums_bytes, folder_.at(name));
    all.push_back({name, meta.size(), digest_of(meta.data(), meta.size())});
    if (node.text.type != format::NodeType::tensorclass) continue;
    const std::string pickle = below(node.folder, format::pickle_file);
    const files::Look look = folder_.look(pickle);
    if (look.found != Found::file) continue;
    Hasher hasher;
    hash_part(hasher, folder_, pickle, 0, look.bytes);
    all.push_back({pickle, look.bytes, hasher.digest()});
  }
  for (std::size_t i = 0; i < hashers_.size(); ++i) {
    const LayoutLeaf& leaf = folder_.leaves()[i];
    const std::uint64_t bytes = static_cast<std::uint64_t>(rows) * leaf.row_bytes;
    if (bytes != 0) all.push_back({leaf.file, bytes, hashers_[i].digest()});
  }
  return checksums_text(all);
}

}  // namespace td::record
