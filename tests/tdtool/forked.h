/* What a client (forked.c) asks of the server (forking.c). */
#include <stdint.h>

/* Standard input, output, error, and the current folder come along as descriptors; behind the request, its texts, each
 * with a NUL. The client then sends numbers of signals, the server the status that waitpid() gives. */
enum { FILES = 4 };
typedef struct request {
  uint32_t arguments, variables, bytes, umask;
} request;
