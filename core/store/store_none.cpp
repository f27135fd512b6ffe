// A build without the client library of Redis.
#include "core/base/error.h"
#include "core/store/store.h"

namespace td::store {

namespace {

[[noreturn]] void fail_none() {
  fail(Code::unsupported,
       "this library was built without a client of Redis: install libhiredis-dev and build it with "
       "-Dstore=enabled");
}

}  // namespace

std::unique_ptr<Store> Store::open(const Options&) { fail_none(); }
std::unique_ptr<Store> Store::create(SizesView, const Options&) { fail_none(); }
std::unique_ptr<Store> Store::from(const TensorDict&, const Options&) { fail_none(); }
std::unique_ptr<Store> Store::from_schema(std::string_view, const Options&) { fail_none(); }

}  // namespace td::store
