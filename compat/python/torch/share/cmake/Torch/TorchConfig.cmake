# find_package(Torch) of sources that are written for PyTorch: Keyway, with headers under PyTorch's names. CMake finds it
# by CMAKE_PREFIX_PATH, whose value keyway.utils.cmake_prefix_path says, or torch.utils.cmake_prefix_path over compat/python.
include(CMakeFindDependencyMacro)
# From <package>/share/keyway/compat/python/torch/share/cmake/Torch.
find_package(keyway QUIET HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../../../../../..)
find_dependency(keyway)
foreach(library torch torch_cpu torch_python c10)
  if(NOT TARGET ${library})
    add_library(${library} INTERFACE IMPORTED)
    target_link_libraries(${library} INTERFACE keyway::compat)
  endif()
endforeach()
set(TORCH_LIBRARIES torch)
get_target_property(TORCH_INCLUDE_DIRS keyway::compat INTERFACE_INCLUDE_DIRECTORIES)
set(TORCH_CXX_FLAGS "")
set(Torch_FOUND TRUE)
