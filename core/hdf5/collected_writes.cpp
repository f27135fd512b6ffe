#include "core/hdf5/collected_writes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace td::hdf5 {

namespace {

constexpr std::uint64_t page = 4096;                     // of bytes that change in the file
constexpr std::size_t most_kept = std::size_t{1} << 19;  // of groups and names, in the library

}  // namespace

CollectedWrites::CollectedWrites(int file, const std::string& where) : file_(file), where_(where) {
  struct stat info {};
  if (::fstat(file_, &info) != 0) error_ = errno;
  changes_.from = changes_.end = static_cast<std::uint64_t>(info.st_size);
}

void CollectedWrites::read(std::uint64_t at, char* into, std::size_t bytes) const {
  std::memset(into, 0, bytes);
  const std::uint64_t end = at + bytes, in_file = std::min(end, changes_.from);
  for (std::uint64_t done = at; done < in_file;) {
    const ssize_t count =
        ::pread(file_, into + (done - at), in_file - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error_ = errno;
    if (count <= 0) break;
    done += static_cast<std::uint64_t>(count);
  }
  const auto overlay = [&](std::uint64_t from, const char* data, std::uint64_t size) {
    const std::uint64_t first = std::max(at, from), last = std::min(end, from + size);
    if (first < last) std::memcpy(into + (first - at), data + (first - from), last - first);
  };
  for (auto piece = changes_.pieces.lower_bound(at / page * page);
       piece != changes_.pieces.end() && piece->first < end; ++piece)
    overlay(piece->first, piece->second.data(), piece->second.size());
  overlay(changes_.from, changes_.tail.data(), changes_.tail.size());
}

void CollectedWrites::write(std::uint64_t at, const char* data, std::size_t bytes) {
  const std::uint64_t from = changes_.from, end = at + bytes;
  while (at < std::min(end, from)) {
    const std::uint64_t start = at / page * page;
    const std::uint64_t here = std::min({end, from, start + page}) - at;
    const auto added = changes_.pieces.emplace(start, std::string());
    std::string& piece = added.first->second;
    if (added.second) {
      std::string before(std::min(page, from - start), '\0');
      // error() has the reason if this fails, and nothing is published then.
      read(start, before.data(), before.size());
      piece = std::move(before);
    }
    // The library writes the names of a group anew with each one that is added: megabytes, of which a page changes.
    if (added.second && std::memcmp(piece.data() + (at - start), data, here) == 0)
      changes_.pieces.erase(added.first);
    else
      std::memcpy(piece.data() + (at - start), data, here);
    data += here;
    at += here;
  }
  if (at >= end) return;
  if (changes_.tail.size() < end - from) changes_.tail.resize(end - from);
  std::memcpy(changes_.tail.data() + (at - from), data, end - at);
  changes_.end = std::max(changes_.end, end);
}

void CollectedWrites::set_end(std::uint64_t end) {
  changes_.tail.resize(end > changes_.from ? end - changes_.from : 0);
  changes_.end = end;
}

std::size_t CollectedWrites::bytes() const noexcept {
  return changes_.tail.size() + changes_.pieces.size() * page;
}

files::FileChanges CollectedWrites::take() {
  files::FileChanges result;
  result.from = result.end = changes_.end;
  std::swap(result, changes_);
  return result;
}

// A driver of the library, whose functions are called without exceptions.
struct CollectingDriver {
  H5FD_t base;  // of the library, first
  CollectedWrites* writes;

  static CollectedWrites*& opening() noexcept {  // guarded by the Session
    static CollectedWrites* value = nullptr;
    return value;
  }
  static CollectingDriver& of(H5FD_t* file) { return *reinterpret_cast<CollectingDriver*>(file); }
  static const CollectedWrites& of(const H5FD_t* file) {
    return *reinterpret_cast<const CollectingDriver*>(file)->writes;
  }

  static H5FD_t* open(const char*, unsigned, hid_t, haddr_t) {
    auto* made = new (std::nothrow) CollectingDriver{};
    if (made == nullptr) return nullptr;
    made->writes = opening();
    return &made->base;
  }
  static herr_t close(H5FD_t* file) {
    delete &of(file);
    return 0;
  }
  static herr_t query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
  }
  static haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return of(file).allocated_; }
  static herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t at) {
    of(file).writes->allocated_ = at;
    return 0;
  }
  static haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return of(file).changes_.end; }
  static herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t bytes, void* into) {
    of(file).writes->read(at, static_cast<char*>(into), bytes);
    return 0;
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t bytes,
                      const void* data) {
    try {
      of(file).writes->write(at, static_cast<const char*>(data), bytes);
      return 0;
    } catch (const std::bad_alloc&) {
      of(file).writes->error_ = ENOMEM;
      return 0;
    }
  }
  static herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
    try {
      of(file).writes->set_end(of(file).writes->allocated_);
    } catch (const std::bad_alloc&) {
      of(file).writes->error_ = ENOMEM;
    }
    return 0;
  }

  // Registered once, and until the process ends.
  static hid_t number() {
    static const hid_t made = [] {
      static H5FD_class_t kind;
#if H5_VERSION_GE(1, 13, 0)
      kind.version = H5FD_CLASS_VERSION;
      kind.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 77);
#endif
      kind.name = "tensordict";
      kind.maxaddr = (haddr_t{1} << 62) - 1;
      kind.fc_degree = H5F_CLOSE_STRONG;
      kind.open = open;
      kind.close = close;
      kind.query = query;
      kind.get_eoa = get_eoa;
      kind.set_eoa = set_eoa;
      kind.get_eof = get_eof;
      kind.read = read;
      kind.write = write;
      kind.truncate = truncate;
      constexpr H5FD_mem_t lists[] = H5FD_FLMAP_DICHOTOMY;
      std::copy(std::begin(lists), std::end(lists), kind.fl_map);
      return H5FDregister(&kind);
    }();
    return made;
  }
};

Id CollectedWrites::open() {
  const Id access = need(H5Pcreate(H5P_FILE_ACCESS), Code::out_of_memory, where_, "no properties");
  need_done(H5Pset_driver(access, CollectingDriver::number(), nullptr), Code::unsupported, where_,
            "cannot set a driver");
  // A flush looks at all that the library keeps, and each episode that is added is one.
  H5AC_cache_config_t kept{};
  kept.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  const bool small = H5Pget_mdc_config(access, &kept) >= 0;
  kept.set_initial_size = true;
  kept.initial_size = kept.max_size = most_kept;
  kept.min_size = std::min(kept.min_size, kept.max_size);
  if (!small || H5Pset_mdc_config(access, &kept) < 0)
    fail_library(Code::out_of_memory, where_, "no properties");
  CollectingDriver::opening() = this;
  const bool is_new = changes_.end == 0;
  return need(is_new ? H5Fcreate("tensordict", H5F_ACC_TRUNC, H5P_DEFAULT, access)
                     : H5Fopen("tensordict", H5F_ACC_RDWR, access),
              Code::format, where_, "cannot open it as an HDF5 file");
}

}  // namespace td::hdf5
