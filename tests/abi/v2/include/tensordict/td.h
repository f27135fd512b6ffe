/* tensordict/td.h: the whole of the stable interface. */
#ifndef TENSORDICT_TD_H
#define TENSORDICT_TD_H

#include "tensordict/td_apply.h"
#include "tensordict/td_base.h"
#include "tensordict/td_device.h"
#include "tensordict/td_dict.h"
#include "tensordict/td_index.h"
#include "tensordict/td_memmap.h"
#include "tensordict/td_shape.h"
#include "tensordict/td_tensor.h"
#include "tensordict/td_writer.h"

#endif
