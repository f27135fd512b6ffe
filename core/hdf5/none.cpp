// A build without the HDF5 library.
#include "core/hdf5/group_file.h"
#include "core/hdf5/growing_file.h"

namespace td::hdf5 {

namespace {

[[noreturn]] void fail_none(const std::string& where) {
  fail(Code::unsupported, where, " is an HDF5 file, and this library was built without HDF5: ",
       "install libhdf5-dev and build it with -Dhdf5=enabled");
}

}  // namespace

std::unique_ptr<Reader> Reader::open(const std::string& path, const Options&) {
  fail_none("\"" + path + "\"");
}

std::unique_ptr<Reader> Reader::open(const FileBytes& file, const Options&) {
  fail_none(file.where());
}

std::unique_ptr<GroupFile> GroupFile::open(const std::string& path, std::uint64_t, std::uint32_t,
                                           const MendedFn&) {
  fail_none("\"" + path + "\"");
}

std::unique_ptr<GrowingFile> GrowingFile::open(const std::string& target, bool, bool,
                                               const SaveOptions&) {
  fail_none("\"" + target + "\"");
}

bool is_array(const Plain&) { return false; }

void save(const TensorDict&, const std::string& path, const SaveOptions&) {
  fail_none("\"" + path + "\"");
}

}  // namespace td::hdf5
