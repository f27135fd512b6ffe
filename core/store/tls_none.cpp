// A build without OpenSSL.
#include "core/store/tls.h"

namespace td::store {

std::unique_ptr<Transport> over_tls(std::unique_ptr<Transport>, const Options&) {
  fail(Code::unsupported,
       "this library was built without TLS: install libssl-dev and build it again, or use a tunnel "
       "such as stunnel");
}

}  // namespace td::store
