// A kernel that does not fit its schema: the program ends before main, and says why.
#include <keyway/dispatch/registry/library.h>

KEYWAY_LIBRARY(my, m) {
  m.def("count(Tensor self) -> int");
  m.impl("count", keyway::DispatchKey::CPU, [](const keyway::TensorBase&) { return 1.0; });
}

int main() { return 0; }
