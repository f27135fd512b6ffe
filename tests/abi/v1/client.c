/* A program of version 0.1, with the headers of its day. ABI 1 has ended: the dynamic linker does not find this
 * library for such a program, and one that looks it up by hand asks first and is told. What it asks with stays
 * for ever. Not to be changed. */
#include <stdio.h>
#include <string.h>

#include "td.h"

int main(void) {
  const int fits = td_supports_abi(TD_ABI_VERSION);
  const int newer = td_abi_version() > TD_ABI_VERSION;
  const int named = strcmp(td_status_name(TD_ERR_VERSION), "TD_ERR_VERSION") == 0;
  const int silent = td_last_error_code() == TD_OK && strcmp(td_last_error_message(), "") == 0;
  printf("client of 0.1: the library %s its ABI\n", fits ? "offers" : "does not offer");
  return !fits && newer && named && silent ? 0 : 1;
}
