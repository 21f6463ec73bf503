#pragma once

/// Every public header. `fanin/fanin.h` is kept for a later C interface.

#include "fanin/add_n.h"
#include "fanin/aggregate.h"
#include "fanin/aggregation_method.h"
#include "fanin/aggregation_plan.h"
#include "fanin/aggregator.h"
#include "fanin/algorithms.h"
#include "fanin/buffer.h"
#include "fanin/communication_options.h"
#include "fanin/context.h"
#include "fanin/device.h"
#include "fanin/dtype.h"
#include "fanin/error.h"
#include "fanin/group.h"
#include "fanin/indexed_slices.h"
#include "fanin/numerical_error.h"
#include "fanin/reduce_op.h"
#include "fanin/schedule.h"
#include "fanin/shape.h"
#include "fanin/tensor.h"
