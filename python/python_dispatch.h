// What stands at the key Python: calls are answered by the innermost mode of the thread, or by the classes of the
// wrapper tensors among their arguments.
#pragma once

namespace keyway::inline v1::python {

// Has it stand there from now on; called for the first mode and the first wrapper tensor. Requires: the interpreter
// lock, which is released meanwhile.
void register_dispatch_fallback();

}  // namespace keyway::inline v1::python
