/* Dictionaries in a Redis server, by their address: redis://HOST[:PORT]/PREFIX/ID, rediss:// over TLS, or
 * redis+unix://SOCKET/PREFIX/ID. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

#define OVER_NET "redis://"
#define OVER_TLS "rediss://"
#define OVER_SOCKET "redis+unix://"

/* The parts of an address; the texts are in `copy`. */
typedef struct address {
  char *copy;
  td_store_options options;
} address;

/* Cuts off what follows the last slash. */
static char *cut(char *text, const char *path) {
  char *slash = strrchr(text, '/');
  if (!slash || !slash[1]) die_usage("'%s' is no redis://HOST/PREFIX/ID", path);
  *slash = 0;
  return slash + 1;
}

static address address_of(const char *path) {
  const bool tls = strncmp(path, OVER_TLS, strlen(OVER_TLS)) == 0;
  const bool net = tls || strncmp(path, OVER_NET, strlen(OVER_NET)) == 0;
  const char *begin = tls ? OVER_TLS : net ? OVER_NET : OVER_SOCKET;
  address result = {xstrdup(path + strlen(begin)), TD_STORE_OPTIONS_INIT};
  char *rest = result.copy, *port;
  result.options.id = cut(rest, path);
  result.options.prefix = cut(rest, path);
  /* As redis-cli does: every user of the machine can see a command line. */
  result.options.password = getenv("REDISCLI_AUTH");
  result.options.tls = tls;
  if (!net) {
    result.options.unix_socket = rest;
    return result;
  }
  result.options.host = rest;
  /* A host of several colons is an address of IPv6, in brackets when a port follows. */
  port = *rest == '[' ? strrchr(rest, ']') : rest;
  if (port == rest && strchr(rest, ':') != strrchr(rest, ':')) return result;
  port = port ? strchr(port, ':') : NULL;
  if (port) {
    char *end;
    const long number = strtol(port + 1, &end, 10);
    if (*end || end == port + 1 || number < 1 || number > 65535) {
      die_usage("'%s' has no port from 1 to 65535", path);
    }
    *port = 0;
    result.options.port = (int32_t)number;
  }
  if (*rest == '[' && rest[strlen(rest) - 1] == ']') {
    rest[strlen(rest) - 1] = 0;
    result.options.host = rest + 1;
  }
  if (!*result.options.host) result.options.host = NULL;
  return result;
}

td_status open_store(const char *path, td_tensordict **td) {
  address from = address_of(path);
  td_store *store = NULL;
  td_status status = td_store_open(&from.options, &store);
  if (status == TD_OK) status = td_store_load(store, td);
  td_store_free(store);
  free(from.copy);
  return status;
}

td_status save_store(const td_tensordict *td, const char *path, bool replace) {
  address to = address_of(path);
  td_store *store = NULL;
  td_status status = TD_OK;
  if (replace && td_store_open(&to.options, &store) == TD_OK) {
    status = td_store_delete(store);
    td_store_free(store);
    store = NULL;
  }
  if (status == TD_OK) status = td_store_from(td, &to.options, &store);
  td_store_free(store);
  free(to.copy);
  return status;
}
