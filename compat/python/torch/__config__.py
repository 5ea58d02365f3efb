"""How the library computes in parallel: with threads of its own."""

import keyway


def parallel_info():
    return f"ATen/Parallel:\n\tat::get_num_threads() : {keyway.get_num_threads()}\nATen parallel backend: native thread pool\n"


def show():
    return f"Keyway {keyway.__version__}"
