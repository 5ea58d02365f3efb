// All of nn and optim.
#pragma once

#include <keyway/nn/functional.h>
#include <keyway/nn/init.h>
#include <keyway/nn/module.h>
#include <keyway/nn/modules/activation.h>
#include <keyway/nn/modules/attention.h>
#include <keyway/nn/modules/batch_norm.h>
#include <keyway/nn/modules/conv.h>
#include <keyway/nn/modules/dropout.h>
#include <keyway/nn/modules/embedding.h>
#include <keyway/nn/modules/flatten.h>
#include <keyway/nn/modules/group_norm.h>
#include <keyway/nn/modules/layer_norm.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/loss.h>
#include <keyway/nn/modules/module_list.h>
#include <keyway/nn/modules/pooling.h>
#include <keyway/nn/modules/rms_norm.h>
#include <keyway/nn/modules/sequential.h>
#include <keyway/nn/modules/transformer.h>
#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/grad_scaler.h>
#include <keyway/nn/optim/lr_scheduler.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/nn/serialize/safetensors.h>
#include <keyway/nn/utils/clip_grad.h>
