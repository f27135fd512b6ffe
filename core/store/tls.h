// core/store/tls.h: a connection that is encrypted, over one that is not.
#pragma once

#include "core/store/connection.h"

#include <memory>

namespace td::store {

// The server's certificate is checked, and whose it is. Code::io when it is not trusted, or a file cannot be read;
// Code::unsupported in a build without OpenSSL.
std::unique_ptr<Transport> over_tls(std::unique_ptr<Transport> below, const Options& options);

}  // namespace td::store
