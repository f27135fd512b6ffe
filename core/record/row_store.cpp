#include "core/record/row_store.h"

#include "core/io/file_io.h"

#include <algorithm>
#include <cstring>

namespace td::record {

namespace {

constexpr std::int64_t default_buffer = std::int64_t{1} << 20;
constexpr std::int64_t background_buffer = std::int64_t{1} << 24;
constexpr std::size_t cache_line = 64;  // leaves start at multiples of it
constexpr std::int64_t most_slots = std::int64_t{1} << 20;
constexpr std::size_t text_room = 128;  // of a buffer, taken to be that of a text
constexpr std::int64_t pieces = 8;      // of a ring: each is reused as soon as it is written
constexpr std::chrono::milliseconds default_delay(1000);

std::size_t rounded(std::size_t bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

std::int64_t buffer_of(const Options& options) {
  if (options.publish_rows < -1 || options.publish_bytes < 0 || options.buffer_bytes < 0) {
    fail(Code::invalid_argument, "a number of rows or bytes cannot be negative");
  }
  if (options.meta_ms < -1) {
    fail(Code::invalid_argument, "a delay of ", options.meta_ms, " ms; -1 is the smallest");
  }
  if (options.buffer_bytes != 0) return options.buffer_bytes;
  return options.background ? background_buffer : default_buffer;
}

// Checks the folder before a ring is allocated.
const Layout& checked(const Layout& folder) {
  if (folder.is_stack()) {
    fail(Code::unsupported, "\"", folder.dir(),
         "\" is a lazy stack along the rows: append to it, or write to a shard of it");
  }
  for (const std::size_t i : text_nodes(folder)) {
    const LayoutNode& node = folder.nodes()[i];
    const std::string name = quote(node.path.empty() ? std::string() : node.path.back());
    if (node.text.batch.size() != 1) {
      fail(Code::unsupported, name, " in \"", folder.dir(),
           "\" holds several values for each row, which a writer cannot add; append dictionaries "
           "instead");
    }
    if (node.listed == folder.rows()) continue;
    fail(Code::format, name, " in \"", folder.dir(), "\" holds a list of ", node.listed,
         " values for ", folder.rows(), " rows");
  }
  return folder;
}

}  // namespace

std::vector<std::size_t> text_nodes(const Layout& folder) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < folder.nodes().size(); ++i) {
    if (folder.nodes()[i].by_row()) result.push_back(i);
  }
  return result;
}

Ring::Ring(const Layout& folder, std::int64_t wanted_bytes) {
  std::size_t row_bytes = 0;
  for (const LayoutLeaf& leaf : folder.leaves()) {
    if (__builtin_add_overflow(row_bytes, leaf.row_bytes, &row_bytes)) {
      fail(Code::out_of_memory, "a row of \"", folder.dir(),
           "\" needs more bytes than can be addressed");
    }
  }
  texts_.resize(text_nodes(folder).size());
  const auto row = static_cast<std::int64_t>(row_bytes + texts_.size() * text_room);
  slots_ = row == 0 ? most_slots : std::max<std::int64_t>(wanted_bytes / row, 1);
  std::size_t bytes = 0;
  for (const LayoutLeaf& leaf : folder.leaves()) {
    bytes += rounded(leaf.row_bytes * static_cast<std::size_t>(slots_));
  }
  for (std::vector<std::string>& texts : texts_) texts.resize(static_cast<std::size_t>(slots_));
  // calloc: pages are allocated on first write.
  memory_.reset(static_cast<char*>(std::calloc(1, bytes + cache_line)));
  if (!memory_) fail(Code::out_of_memory, "no memory for a buffer of ", bytes, " bytes");
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  char* next = memory_.get() + (rounded(address) - address);
  for (const LayoutLeaf& leaf : folder.leaves()) {
    leaves_.push_back(next);
    next += rounded(leaf.row_bytes * static_cast<std::size_t>(slots_));
  }
}

void Ring::clear(const Layout& folder, std::int64_t slot, std::int64_t rows) noexcept {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const std::size_t bytes = folder.leaves()[i].row_bytes;
    std::memset(leaves_[i] + static_cast<std::size_t>(slot) * bytes, 0,
                static_cast<std::size_t>(rows) * bytes);
  }
  for (std::vector<std::string>& texts : texts_) {
    for (std::int64_t i = slot; i < slot + rows; ++i)
      std::string().swap(texts[static_cast<std::size_t>(i)]);
  }
}

RowStore::RowStore(const std::string& dir, files::FolderLock lock, const Options& options)
    : lock_(std::move(lock)),
      folder_(dir, lock_),
      publisher_(folder_, lock_, options.durable, open_sums(folder_, options.checksums)),
      ring_(checked(folder_), buffer_of(options)),
      files_(folder_.leaves().size()),
      durable_(options.durable),
      by_time_(options.publish_rows == 0 && options.publish_bytes == 0),
      meta_at_(Clock::now()),
      opened_at_(folder_.kept_rows()),
      written_(folder_.kept_rows()) {
  if (options.meta_ms >= 0) {
    meta_delay_ = options.meta_ms == 0 ? default_delay : std::chrono::milliseconds(options.meta_ms);
  }
  for (const std::size_t node : text_nodes(folder_)) texts_.push_back({node, {}});
  publisher_.resume(folder_.kept_rows());
  if (folder_.rows() == 0) publisher_.trim();
  for (std::size_t i = 0; i < files_.size() && folder_.rows() != 0; ++i) {
    if (folder_.leaves()[i].row_bytes != 0) files_[i] = publisher_.open(i);
  }
}

void RowStore::require_origin() const {
  if (origin_.is_here()) return;
  fail(Code::invalid_argument, "the writer of \"", folder_.dir(),
       "\" belongs to the process that this one was forked from");
}

bool RowStore::write_some(std::int64_t end) {
  if (end <= written()) return false;
  require_origin();
  // A folder that took the name may share the value files through links.
  lock_.require_name(folder_.dir());
  publisher_.remember();
  const std::int64_t most = std::max<std::int64_t>(ring_.slots() / pieces, 1);
  const std::int64_t slot = (written() - opened_at_) % ring_.slots();
  if (written() == 0) {
    write_first(slot);
  } else {
    write_piece(slot, std::min({end - written(), ring_.slots() - slot, most}));
  }
  return true;
}

void RowStore::write_first(std::int64_t slot) {
  std::vector<std::string_view> first;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    first.emplace_back(ring_.row(folder_, i, slot), folder_.leaves()[i].row_bytes);
  }
  files_ = publisher_.create(first);
  written_piece(slot, 1);
}

void RowStore::write_piece(std::int64_t slot, std::int64_t rows) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::size_t bytes = folder_.leaves()[i].row_bytes;
    if (bytes == 0) continue;
    files::write_all_at(files_[i].get(), ring_.row(folder_, i, slot),
                        static_cast<std::size_t>(rows) * bytes,
                        static_cast<std::uint64_t>(written()) * bytes, publisher_.path(i));
  }
  written_piece(slot, rows);
}

std::string* RowStore::texts(std::size_t node) noexcept {
  for (std::size_t k = 0; k < texts_.size(); ++k) {
    if (texts_[k].node == node) return ring_.texts(k);
  }
  return nullptr;
}

// May be called again after a failure.
void RowStore::take_texts(std::int64_t slot, std::int64_t rows) {
  for (std::size_t k = 0; k < texts_.size(); ++k) {
    NewTexts& to = texts_[k];
    to.ends.resize(static_cast<std::size_t>(written() - folder_.nodes()[to.node].listed));
    to.json.resize(to.ends.empty() ? 0 : to.ends.back());
    for (std::int64_t i = slot; i < slot + rows; ++i) {
      to.json += ',';
      append_quoted(to.json, ring_.texts(k)[i]);
      to.ends.push_back(to.json.size());
    }
  }
}

// Adds the texts of the rows before `end` to the lists of the folder. May be called again after a failure.
void RowStore::list_texts(std::int64_t end) {
  for (NewTexts& from : texts_) {
    const std::int64_t rows = end - folder_.nodes()[from.node].listed;
    if (rows <= 0) continue;
    const std::size_t taken = from.ends[static_cast<std::size_t>(rows - 1)];
    folder_.add_listed(from.node, "[" + from.json.substr(1, taken - 1) + "]", end);
    from.json.erase(0, taken);
    from.ends.erase(from.ends.begin(), from.ends.begin() + rows);
    for (std::size_t& one : from.ends) one -= taken;
  }
}

void RowStore::written_piece(std::int64_t slot, std::int64_t rows) {
  take_texts(slot, rows);
  for (std::size_t i = 0; publisher_.sums() != nullptr && i < files_.size(); ++i) {
    publisher_.sums()->add(i, ring_.row(folder_, i, slot),
                           static_cast<std::size_t>(rows) * folder_.leaves()[i].row_bytes);
  }
  ring_.clear(folder_, slot, rows);
  written_.store(written() + rows, std::memory_order_release);
}

// Whether the meta.json files must be written now.
bool RowStore::must_store(std::int64_t end) {
  if (end <= folder_.stored_rows()) return false;
  const bool behind = by_time_ || folder_.rows() != folder_.stored_rows();
  if (behind && meta_delay_ && Clock::now() >= meta_at_ + *meta_delay_) return true;
  if (end <= folder_.rows()) return false;
  // A requested publication goes into a single meta.json at once, by a rename.
  const bool cheap = by_time_ || folder_.growing_nodes() != 1;
  if (cheap && publisher_.count(end)) return false;
  return !by_time_ || folder_.stored_rows() == 0;
}

void RowStore::publish(std::int64_t end, bool whole) {
  end = std::max(end, folder_.rows());
  if (whole ? end <= folder_.stored_rows() : !must_store(end)) return;
  require_origin();
  lock_.require_name(folder_.dir());
  meta_at_ = Clock::now();  // do not retry at once after a failure
  const auto each = [this](auto&& f) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].is_open()) f(files_[i], i);
    }
  };
  if (durable_) {
    each([this](auto& file, std::size_t i) { sync_file(file.get(), publisher_.path(i)); });
  }
  list_texts(end);
  if (!publisher_.publish(end)) return;
  // Without links, the new folder has copies of the files: reopen them.
  each([this](auto& file, std::size_t i) {
    if (Publisher::still_there(file.get(), publisher_.path(i))) return;
    file = publisher_.open(i, written());
  });
}

void RowStore::release() {
  struct LetGo {
    RowStore& store;
    ~LetGo() {
      store.files_.clear();
      store.lock_.release();
    }
  } let_go{*this};
  if (!origin_.is_here() || !lock_.has_name(folder_.dir())) return;
  if (written() > folder_.stored_rows()) return;
  for (std::size_t i = 0; i < files_.size() && folder_.rows() != 0; ++i) {
    if (!files_[i].is_open()) continue;
    const auto rows = static_cast<std::uint64_t>(folder_.rows());
    cut_file(files_[i].get(), rows * folder_.leaves()[i].row_bytes, publisher_.path(i));
  }
  publisher_.forget();
}

}  // namespace td::record
