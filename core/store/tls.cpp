// OpenSSL works on two memory buffers and never sees the socket, so timeouts and byte limits work
// as without TLS, and no SIGPIPE is raised.
#include "core/store/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <new>
#include <system_error>

namespace td::store {

namespace {

struct FreeTls {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using Context = std::unique_ptr<SSL_CTX, FreeTls>;

// OpenSSL's reason for its last failure, or the system's if a file cannot be opened.
std::string reason() {
  const unsigned long first = ERR_peek_error();
  if (ERR_GET_LIB(first) == ERR_LIB_SYS) {
    return std::generic_category().message(ERR_GET_REASON(first));
  }
  const char* text = ERR_reason_error_string(ERR_peek_last_error());
  return text == nullptr ? "no reason given" : text;
}

// Otherwise OpenSSL would ask for a passphrase at the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

void require_file(int ok, const char* what, const std::string& path) {
  if (ok != 1) fail(Code::io, what, " cannot be read from \"", path, "\": ", reason());
}

Context context_of(const TlsOptions& tls) {
  if (tls.cert.empty() != tls.key.empty()) {
    fail(Code::invalid_argument, "a ",
         tls.cert.empty() ? "key without its certificate" : "certificate without its key",
         ": give both `tls_cert` and `tls_key`, or none");
  }
  ERR_clear_error();
  Context context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_passwd_cb(context.get(), no_passphrase);
  if (tls.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else {
    require_file(SSL_CTX_load_verify_locations(context.get(), tls.ca.c_str(), nullptr),
                 "trusted certificates", tls.ca);
  }
  if (!tls.cert.empty()) {
    require_file(SSL_CTX_use_certificate_chain_file(context.get(), tls.cert.c_str()),
                 "a certificate", tls.cert);
    // This also checks that the key matches the certificate.
    require_file(SSL_CTX_use_PrivateKey_file(context.get(), tls.key.c_str(), SSL_FILETYPE_PEM),
                 "the key of the certificate", tls.key);
  }
  return context;
}

class Tls final : public Transport {
 public:
  Tls(std::unique_ptr<Transport> below, const Options& options)
      : below_(std::move(below)), where_(shown_server(options)) {
    const TlsOptions& tls = options.tls;
    context_ = context_of(tls);
    ssl_.reset(SSL_new(context_.get()));
    BIO* const from = BIO_new(BIO_s_mem());
    BIO* const to = BIO_new(BIO_s_mem());
    if (ssl_ != nullptr) SSL_set_bio(ssl_.get(), from, to);  // takes ownership
    if (ssl_ == nullptr || from == nullptr || to == nullptr) throw std::bad_alloc();
    from_ = from;
    to_ = to;
    SSL_set_connect_state(ssl_.get());
    expect(tls.server_name.empty() ? options.host : tls.server_name);
  }

  Moved move(std::string_view out, char* in, std::size_t room, int wait_ms) override {
    Moved moved{0, read(in, room)};
    if (moved.received != 0) return moved;
    if (is_open() && pending_.size() < most_pending) moved.sent = write(out);
    collect();
    const Moved there = below_->move(pending_, raw_, sizeof raw_, moved.sent == 0 ? wait_ms : 0);
    pending_.erase(0, there.sent);
    if (there.received != 0) {
      if (BIO_write(from_, raw_, static_cast<int>(there.received)) !=
          static_cast<int>(there.received)) {
        throw std::bad_alloc();
      }
      moved.received = read(in, room);
    }
    return moved;
  }

 private:
  static constexpr std::size_t most_pending = std::size_t{1} << 18;
  static constexpr std::size_t most_at_once = std::size_t{1} << 16;

  // The certificate must be for this host name or address.
  void expect(const std::string& name) {
    X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) == 1) return;
    ERR_clear_error();
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()) != 1 ||
        SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) != 1) {
      fail(Code::invalid_argument, "\"", name, "\" is no name of a server");
    }
  }

  bool is_open() {
    if (SSL_is_init_finished(ssl_.get())) return true;
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    if (done != 1) check(done);
    return done == 1;
  }

  std::size_t read(char* in, std::size_t room) {
    std::size_t got = 0;
    while (is_open() && got < room) {
      std::size_t more = 0;
      ERR_clear_error();
      const int done = SSL_read_ex(ssl_.get(), in + got, room - got, &more);
      got += more;
      if (done == 1) continue;
      if (got == 0) check(done);
      break;
    }
    return got;
  }

  std::size_t write(std::string_view out) {
    std::size_t sent = 0;
    if (out.empty()) return sent;
    ERR_clear_error();
    const int done =
        SSL_write_ex(ssl_.get(), out.data(), std::min(out.size(), most_at_once), &sent);
    if (done != 1) check(done);
    return sent;
  }

  // Moves OpenSSL's output into `pending_`.
  void collect() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(to_, &bytes);
    if (size <= 0) return;
    pending_.append(bytes, static_cast<std::size_t>(size));
    if (BIO_reset(to_) != 1) throw std::bad_alloc();
  }

  // Throws unless OpenSSL only waits for bytes.
  void check(int done) {
    const int error = SSL_get_error(ssl_.get(), done);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
    if (error == SSL_ERROR_ZERO_RETURN) throw Broken{"the server closed the connection"};
    const long verified = SSL_get_verify_result(ssl_.get());
    if (verified != X509_V_OK) {
      fail(Code::io, where_,
           ": its certificate is not trusted: ", X509_verify_cert_error_string(verified));
    }
    fail(Code::io, where_, ": ", reason());
  }

  std::unique_ptr<Transport> below_;
  std::string where_;
  Context context_;
  std::unique_ptr<SSL, FreeTls> ssl_;
  BIO* from_ = nullptr;  // received, encrypted
  BIO* to_ = nullptr;    // to be sent, encrypted
  std::string pending_;  // encrypted bytes that the system has not taken yet
  char raw_[most_at_once];
};

}  // namespace

std::unique_ptr<Transport> over_tls(std::unique_ptr<Transport> below, const Options& options) {
  return std::make_unique<Tls>(std::move(below), options);
}

}  // namespace td::store
