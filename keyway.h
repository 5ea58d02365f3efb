// What a program that uses Keyway includes: tensors and their operators, gradients, forward mode, mixed precision,
// vmap, modules and optimizers, registration of kernels, tasks, and how many threads are used.
#pragma once

#include <keyway/autocast/autocast.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/function.h>
#include <keyway/autograd/variable.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/batching/vmap.h>
#include <keyway/dispatch/registry/class_builder.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/forward/dual.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/executable.h>
#include <keyway/nn/nn.h>
#include <keyway/ops/all.h>
#include <keyway/tasks/launch.h>
