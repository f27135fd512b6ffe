// Verifies an archive: each entry against its checksum.
#include "core/memmap/archive_verify.h"

#include "core/base/parallel.h"
#include "core/formats/format.h"
#include "core/formats/zip_file.h"
#include "core/memmap/memmap.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace td {

namespace {

using zip_file::Entry;
using zip_file::Reader;

std::vector<Finding> check_entries(const Reader& reader, int num_threads, const BytesFn& progress) {
  const std::vector<Entry>& entries = reader.entries();
  std::size_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  std::vector<Finding> each(entries.size());
  std::vector<char> damaged(entries.size(), 0);
  std::atomic<std::size_t> done{0};
  const std::thread::id caller = std::this_thread::get_id();
  for_each(entries.size(), static_cast<std::size_t>(num_threads), [&](std::size_t i) {
    const Entry& entry = entries[i];
    try {
      damaged[i] = reader.intact(entry) ? 0 : 1;
      if (damaged[i] != 0) {
        each[i] = {Damage::changed, entry.name, 0, 0,
                   reader.where() + ": " + quote(entry.name) + " is damaged: its checksum differs"};
      }
    } catch (const Error& error) {
      if (error.code() != Code::unsupported) throw;
      damaged[i] = 1;
      each[i] = {Damage::unreadable, entry.name, 0, 0, error.what()};
    }
    const std::size_t now = done.fetch_add(entry.bytes) + entry.bytes;
    if (progress && now < total && std::this_thread::get_id() == caller) progress(now, total);
  });
  if (progress) progress(total, total);
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (damaged[i] != 0) findings.push_back(std::move(each[i]));
  }
  return findings;
}

}  // namespace

std::vector<Finding> verify_archive(const std::string& path, int num_threads,
                                    const BytesFn& progress) {
  std::vector<Finding> findings;
  const auto whole = [&](const Error& error) {
    if (error.code() != Code::format && error.code() != Code::unsupported) throw;
    findings.push_back({Damage::format, std::string(format::meta_file), 0, 0, error.what()});
  };
  try {
    const auto archive = zip_file::MappedArchive::open(path, false, 10000000);
    findings = check_entries(archive.reader(), num_threads, progress);
  } catch (const Error& error) {
    whole(error);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.path < b.path; });
  if (!findings.empty()) return findings;
  LoadOptions options;
  options.device = c10::Device(c10::DeviceType::Meta);
  options.quiet = true;
  try {
    load_memmap(path, options);
  } catch (const Error& error) {
    whole(error);
  }
  return findings;
}

}  // namespace td
