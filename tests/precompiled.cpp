// Nothing: the target of this file has the headers that tests/CMakeLists.txt precompiles.
