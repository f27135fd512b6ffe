/* td_sha256.h: SHA-256 (FIPS 180-4) of a block of memory, as 64 hexadecimal digits: that of the core. */
#ifndef TD_SHA256_H
#define TD_SHA256_H

#include <stddef.h>

void td_sha256(const void *bytes, size_t size, char digits[65]);

#endif
