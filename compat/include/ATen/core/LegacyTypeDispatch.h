// Guards that keep calls of a kernel below Autograd.
#pragma once

#include <c10/core/GradMode.h>
