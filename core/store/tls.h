// core/store/tls.h: TLS over another connection.
#pragma once

#include "core/store/connection.h"

#include <memory>

namespace td::store {

// Verifies the server's certificate and its name. Code::io if it is not trusted or a file cannot be
// read; Code::unsupported in a build without OpenSSL.
std::unique_ptr<Transport> over_tls(std::unique_ptr<Transport> below, const Options& options);

}  // namespace td::store
