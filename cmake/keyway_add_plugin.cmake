# Part of the installed package: a plug-in (keyway/dispatch/plugin/plugin.h).
#
#   find_package(keyway REQUIRED)
#   keyway_add_plugin(my_npu npu.cpp)
#
# The target is a module libmy_npu.so. Called keyway_<device type>, and put into a folder of the environment variable
# KEYWAY_PLUGIN_PATH, it is loaded when that device type is first asked for.
function(keyway_add_plugin target)
  if(NOT ARGN)
    message(FATAL_ERROR "keyway_add_plugin(${target}): it is keyway_add_plugin(<target> <source>...)")
  endif()
  add_library(${target} MODULE ${ARGN})
  target_link_libraries(${target} PRIVATE keyway::keyway)
  # Else g++ marks it as one that cannot be unloaded.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  set_target_properties(${target} PROPERTIES PREFIX lib CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
