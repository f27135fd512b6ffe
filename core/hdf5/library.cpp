#include "core/hdf5/library.h"

#include "core/hdf5/lzf.h"

#ifdef TD_HDF5_LIBRARY
#include <dlfcn.h>
#endif

namespace td::hdf5 {

#ifdef TD_HDF5_LIBRARY
#define TD_HDF5_DEFINE(name) decltype(&::name) name = nullptr;
TD_HDF5_FUNCTIONS(TD_HDF5_DEFINE)
TD_HDF5_NEWER(TD_HDF5_DEFINE)
#undef TD_HDF5_DEFINE
#define TD_HDF5_DEFINE(name) Constant name;
TD_HDF5_CONSTANTS(TD_HDF5_DEFINE)
#undef TD_HDF5_DEFINE
#endif

namespace {

#ifdef TD_HDF5_LIBRARY
#define TD_HDF5_TEXT_OF(name) #name
#define TD_HDF5_TEXT(name) TD_HDF5_TEXT_OF(name)

void* symbol(void* library, const char* name) {
  void* found = ::dlsym(library, name);
  if (found == nullptr) {
    fail(Code::unsupported, "HDF5 files need ", TD_HDF5_LIBRARY, ", and the one here has no ",
         name);
  }
  return found;
}

// The linker may place these variables in the program; then those of the library are never set.
const hid_t* constant(void* library, const char* name) {
  const auto* own = static_cast<const hid_t*>(symbol(library, name));
  if (*own > 0) return own;
  const auto* other = static_cast<const hid_t*>(::dlsym(RTLD_DEFAULT, name));
  return other == nullptr ? own : other;
}

// Never unloaded: the library cleans up at process exit.
bool load_library() {
  void* library = ::dlopen(TD_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    fail(Code::unsupported, "HDF5 files need ", TD_HDF5_LIBRARY, ": ", why == nullptr ? "" : why);
  }
#define TD_HDF5_FIND(name) \
  name = reinterpret_cast<decltype(&::name)>(symbol(library, TD_HDF5_TEXT(name)));
  TD_HDF5_FUNCTIONS(TD_HDF5_FIND)
  TD_HDF5_NEWER(TD_HDF5_FIND)
#undef TD_HDF5_FIND
  if (H5open() < 0) fail(Code::unsupported, TD_HDF5_LIBRARY, " does not start");
#define TD_HDF5_FIND(name) name.at = constant(library, TD_HDF5_TEXT(name));
  TD_HDF5_CONSTANTS(TD_HDF5_FIND)
#undef TD_HDF5_FIND
  register_lzf();
  return true;
}
#else
bool load_library() {
  register_lzf();
  return true;
}
#endif

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

struct Said {
  const char* first = nullptr;
  bool no_memory = false;
};

// The first entry is the innermost and most specific one.
herr_t take_entry(unsigned n, const H5E_error2_t* error, void* into) {
  Said& said = *static_cast<Said*>(into);
  if (n == 0) said.first = error->desc;
  said.no_memory = said.no_memory || error->maj_num == H5E_RESOURCE;
  return 0;
}

herr_t refuse_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

}  // namespace

Session::Session() : lock_(library_mutex()) {
  static const bool loaded = load_library();
  (void)loaded;
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

void fail_library(Code code, const std::string& where, const char* what) {
  Said said;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_entry, &said);
  std::string text = said.first == nullptr ? "no reason given" : said.first;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (!is_utf8(text)) text = "no reason that could be shown";
  fail(said.no_memory ? Code::out_of_memory : code, where, ": ", what, ": ", text);
}

Id inside_file(hid_t kind, const std::string& where) {
  Id way = need(H5Pcreate(kind), Code::out_of_memory, where, "cannot make properties");
  need_done(H5Pset_elink_cb(way, refuse_link, nullptr), Code::out_of_memory, where,
            "cannot set properties");
  return way;
}

}  // namespace td::hdf5
