/* A network that plays the juggler, in place of the script in juggler.c. */
#ifndef EXAMPLES_POLICY_H
#define EXAMPLES_POLICY_H

#include "juggler.h"
#include "must.h"

typedef struct policy {
  td_module *module;
  td_tensordict *td;
  float *action; /* of all motors */
} policy;

/* A file that tools/export_module.py wrote. */
void policy_open(policy *player, const char *file, const juggler *task);
void policy_close(policy *player);

/* Sets the motors from what the simulation shows now. */
void policy_control(policy *player, juggler *task);

#endif
