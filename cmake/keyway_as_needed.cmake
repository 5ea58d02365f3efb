# Part of the installed package: how keyway::keyway brings libkeyway_graph.so. A program or library that uses no graphs
# neither needs nor loads it.
#
# In the cache, since a project may look for the package in a function.
set(CMAKE_LINK_LIBRARY_USING_keyway_as_needed
  "LINKER:--push-state,--as-needed" "<LINK_ITEM>" "LINKER:--pop-state" CACHE INTERNAL "")
set(CMAKE_LINK_LIBRARY_USING_keyway_as_needed_SUPPORTED TRUE CACHE INTERNAL "")
