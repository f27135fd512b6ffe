/* Dictionaries in a Redis server over TLS: what crosses the network, and whom it is given to. */
#include "td_liar.h"
#include "td_redis.h"
#include "td_values.h"

static char ca[200], cert[200], key[200], elsewhere_cert[200], elsewhere_key[200];
static int port;

static void make_certificate(const char *certificate, const char *its_key, const char *names) {
  char command[900];
  snprintf(
      command, sizeof command,
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=td "
      "-addext subjectAltName=%s -out %s -keyout %s >/dev/null 2>&1",
      names, certificate, its_key);
  if (system(command) != 0) td_test_skip("there is no openssl that makes certificates");
}

static void name_file(char *path, const char *name) {
  snprintf(path, sizeof ca, "%s/%s", td_test_folder(), name);
}

/* A server with a certificate, which asks its clients for one or not. */
static void start(const char *names, const char *asks_clients) {
  char port_text[16];
  name_file(cert, "cert.pem");
  name_file(key, "key.pem");
  name_file(ca, "cert.pem"); /* signed by itself */
  make_certificate(cert, key, names);
  /* Below those that the system gives to connections. */
  port = 20000 + (int)(getpid() % 12000);
  snprintf(port_text, sizeof port_text, "%d", port);
  const char *const more[] = {"--bind",
                              "127.0.0.1",
                              "--tls-port",
                              port_text,
                              "--tls-cert-file",
                              cert,
                              "--tls-key-file",
                              key,
                              "--tls-ca-cert-file",
                              ca,
                              "--tls-auth-clients",
                              asks_clients,
                              NULL};
  td_redis_start_with(more);
}

static td_store_options options_of(const char *id) {
  td_store_options options = TD_STORE_OPTIONS_INIT;
  options.host = "127.0.0.1";
  options.port = port;
  options.id = id;
  options.tls = 1;
  options.tls_ca = ca;
  return options;
}

static td_tensordict *sample(int64_t rows) {
  td_tensordict *td = td_empty(TD_SIZES(rows));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 1, TD_SIZES(rows)));
  td_put(td, TD_KEY("n", "x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(rows, 7)));
  return td;
}

static void check_refused(td_store_options options, td_status status, const char *text) {
  td_store *store = TD_POISON;
  td_tensordict *td = sample(2);
  TD_EXPECT(td_store_from(td, &options, &store), status);
  TD_CHECK(store == NULL);
  TD_CHECK_TEXT(td_last_error_message(), text);
  TD_CHECK(strchr(td_last_error_message(), '\n') == NULL);
}

TD_TEST(a_dictionary_goes_there_and_back) {
  start("DNS:localhost,IP:127.0.0.1", "no");
  /* Less than a record of TLS holds, and more than is sent at once. */
  for (int64_t rows = 1; rows <= 200000; rows *= 10) {
    td_tensordict *td = sample(rows), *again = NULL;
    td_store_options options = options_of("tls");
    td_store *store = NULL, *other = NULL;
    TD_DO(td_store_from(td, &options, &store));
    options.host = "localhost";
    TD_DO(td_store_open(&options, &other));
    TD_DO(td_store_load(other, &again));
    TD_CHECK_EQUAL(again, td);
    const td_index_item last = TD_I_INT(-1);
    td_tensor *row = NULL;
    TD_DO(td_store_get_at(other, TD_KEY("a"), &last, 1, &row));
    TD_CHECK_VALUES(row, (double)rows);
    td_tensor_free(row);
    TD_DO(td_store_delete(store));
    td_store_free(store);
    td_store_free(other);
    td_free(again);
    td_free(td);
  }
}

TD_TEST(a_connection_that_breaks_is_made_again) {
  start("IP:127.0.0.1", "no");
  td_tensordict *td = sample(3);
  const td_store_options options = options_of("again");
  td_store *store = NULL;
  td_tensor *a = NULL;
  TD_DO(td_store_from(td, &options, &store));
  for (int i = 0; i < 3; i++) {
    TD_REDIS("CLIENT", "KILL", "TYPE", "normal");
    TD_DO(td_store_get(store, TD_KEY("a"), &a));
    TD_CHECK_VALUES(a, 1, 2, 3);
  }
}

TD_TEST(only_a_server_that_is_trusted_and_is_the_one_meant_gets_anything) {
  start("DNS:elsewhere", "no");
  td_store_options options = options_of("x");
  check_refused(options, TD_ERR_IO, "IP address mismatch");
  options.host = "localhost";
  check_refused(options, TD_ERR_IO, "hostname mismatch");
  options.tls_server_name = "elsewhere.org";
  check_refused(options, TD_ERR_IO, "hostname mismatch");
  options.tls_server_name = "elsewhere";
  options.tls_ca = NULL;
  check_refused(options, TD_ERR_IO, "its certificate is not trusted: self");
  name_file(elsewhere_cert, "other.pem");
  name_file(elsewhere_key, "other.key");
  make_certificate(elsewhere_cert, elsewhere_key, "DNS:elsewhere");
  options.tls_ca = elsewhere_cert;
  check_refused(options, TD_ERR_IO, "its certificate is not trusted");
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{x}:__batch_size__"), 0);
  options.tls_ca = ca;
  td_store *store = NULL;
  td_tensordict *td = sample(2);
  TD_DO(td_store_from(td, &options, &store));
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{x}:__batch_size__"), 1);
}

TD_TEST(a_client_shows_its_certificate) {
  start("IP:127.0.0.1", "yes");
  td_store_options options = options_of("client");
  check_refused(options, TD_ERR_IO, "certificate required");
  options.tls_cert = cert;
  check_refused(options, TD_ERR_INVALID_ARGUMENT, "certificate without its key");
  options.tls_key = ca;
  check_refused(options, TD_ERR_IO, "the key of the certificate cannot be read");
  name_file(elsewhere_cert, "other.pem");
  name_file(elsewhere_key, "other.key");
  make_certificate(elsewhere_cert, elsewhere_key, "DNS:elsewhere");
  options.tls_key = elsewhere_key;
  check_refused(options, TD_ERR_IO, "the key of the certificate cannot be read");
  options.tls_cert = elsewhere_cert;
  check_refused(options, TD_ERR_IO, "unknown ca");
  options.tls_cert = cert;
  options.tls_key = key;
  td_store *store = NULL;
  td_tensordict *td = sample(2);
  TD_DO(td_store_from(td, &options, &store));
}

TD_TEST(files_that_are_none_are_named) {
  start("IP:127.0.0.1", "no");
  td_store_options options = options_of("files");
  options.tls_ca = "/nowhere/ca.pem";
  check_refused(options, TD_ERR_IO, "\"/nowhere/ca.pem\": No such file or directory");
  options.tls_ca = key;
  check_refused(options, TD_ERR_IO, "trusted certificates cannot be read");
  options.tls_ca = ca;
  options.tls_key = key;
  check_refused(options, TD_ERR_INVALID_ARGUMENT, "key without its certificate");
  options.tls_cert = "/nowhere/cert.pem";
  check_refused(options, TD_ERR_IO, "\"/nowhere/cert.pem\"");
  options.tls_cert = options.tls_key = NULL;
  options.reserved = 1;
  check_refused(options, TD_ERR_INVALID_ARGUMENT, "reserved");
}

TD_TEST(each_side_is_told_what_the_other_speaks) {
  start("IP:127.0.0.1", "no");
  td_store_options options = options_of("x");
  options.tls = 0;
  check_refused(options, TD_ERR_IO, "does this port want TLS? Set `tls`");
  options.tls = 1;
  options.host = NULL;
  options.port = 0;
  options.unix_socket = td_redis_socket; /* which is without */
  options.tls_server_name = "127.0.0.1";
  options.timeout_ms = soon_ms; /* it waits for the end of a line */
  td_store *store = TD_POISON;
  TD_EXPECT(td_store_open(&options, &store), TD_ERR_IO);
  TD_CHECK_TEXT(td_last_error_message(), "over TLS");
}

TD_TEST(what_is_no_tls_is_refused) {
  static const char alert[] = "\x15\x03\x03\x00\x02\x02\x28"; /* handshake failure */
  static const char long_record[] = "\x16\x03\x03\xff\xff";
  char hello[5 + 70];
  TD_CHECK_INT(td_opened_from("", 0, soon_ms, 1), TD_ERR_IO); /* in time */
  TD_CHECK_TEXT(td_last_error_message(), "did not answer within");
  TD_CHECK_INT(td_opened_from("", 0, 0, 1), TD_ERR_IO);
  TD_CHECK_TEXT(td_last_error_message(), "does this port speak TLS?");
  TD_CHECK_INT(td_opened_from("+OK\r\n", 5, late_ms, 1), TD_ERR_IO);
  TD_CHECK_INT(td_opened_from(alert, sizeof alert - 1, late_ms, 1), TD_ERR_IO);
  TD_CHECK_TEXT(td_last_error_message(), "handshake failure");
  TD_CHECK_INT(td_opened_from(long_record, sizeof long_record - 1, late_ms, 1), TD_ERR_IO);
  /* The beginning of an answer, and random bytes after it. */
  memcpy(hello, "\x16\x03\x03\x00\x46\x02\x00\x00\x42\x03\x03", 11);
  for (unsigned seed = 0; seed < 50; seed++) {
    for (size_t i = 11; i < sizeof hello; i++)
      hello[i] = (char)((seed * 2654435761u + i * 40503u) >> 7);
    TD_CHECK_INT(td_opened_from(hello, sizeof hello, 0, 1), TD_ERR_IO);
  }
}
