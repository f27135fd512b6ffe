/* tensordict/td.h: the whole of the stable interface. */
#ifndef TENSORDICT_TD_H
#define TENSORDICT_TD_H

#include "tensordict/td_apply.h"
#include "tensordict/td_base.h"
#include "tensordict/td_call.h"
#include "tensordict/td_consolidate.h"
#include "tensordict/td_data.h"
#include "tensordict/td_device.h"
#include "tensordict/td_dict.h"
#include "tensordict/td_entries.h"
#include "tensordict/td_grad.h"
#include "tensordict/td_host.h"
#include "tensordict/td_index.h"
#include "tensordict/td_layout.h"
#include "tensordict/td_lazy.h"
#include "tensordict/td_map.h"
#include "tensordict/td_memmap.h"
#include "tensordict/td_message.h"
#include "tensordict/td_names.h"
#include "tensordict/td_record.h"
#include "tensordict/td_shape.h"
#include "tensordict/td_share.h"
#include "tensordict/td_state.h"
#include "tensordict/td_sub.h"
#include "tensordict/td_tensor.h"
#include "tensordict/td_writer.h"

#endif
