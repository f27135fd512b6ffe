#include "policy.h"

/* [open] */
void policy_open(policy *player, const char *file, const juggler *task) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  options.flags = TD_MODULE_LOAD_FREEZE; /* it does not learn here */
  must(td_module_load(file, &options, &player->module));
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &player->td));
  player->action = calloc((size_t)task->model->nu, sizeof(float));
}
/* [/open] */

void policy_close(policy *player) {
  td_module_free(player->module);
  td_free(player->td);
  free(player->action);
}

/* [control] */
void policy_control(policy *player, juggler *task) {
  const mjModel *model = task->model;
  const size_t bytes = sizeof(float) * (size_t)model->nu;
  must(td_set_data(player->td, TD_KEY("observation", "position"), task->data->qpos,
                   sizeof(double) * (size_t)model->nq, TD_SIZES(model->nq), TD_DTYPE_FLOAT64));
  must(td_set_data(player->td, TD_KEY("observation", "velocity"), task->data->qvel,
                   sizeof(double) * (size_t)model->nv, TD_SIZES(model->nv), TD_DTYPE_FLOAT64));
  must(td_module_call_inplace(player->td, player->module, NULL)); /* sets "action" */
  must(td_get_data(player->td, TD_KEY("action"), TD_DTYPE_FLOAT32, player->action, bytes));
  for (int i = 0; i < model->nu; i++) task->data->ctrl[i] = player->action[i];
}
/* [/control] */
