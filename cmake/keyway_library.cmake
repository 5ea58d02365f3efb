# keyway_library(): links the modules that keyway_module has registered into shared libraries and an archive, and installs
# them with their headers and package config. To be called after the last module of the library.
#
# keyway::keyway is libkeyway.so, and, for what uses graphs, libkeyway_graph.so; nothing but a C++20 compiler is needed to
# use them. keyway::keyway_static is the archive of both, libkeyway.a; a program that links it finds the third-party
# libraries itself (find_package(keyway COMPONENTS static)).

include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/keyway_as_needed.cmake)

# The ABI version: the inline namespace v1 of the sources, and the soname. Packages of one ABI version exchange freely.
set(KEYWAY_ABI_VERSION 1)

# Sets the variables of the package's configuration that name what is compiled in other projects: into libraries out of
# tree, and for their tests.
macro(keyway_sources_for_libraries)
  include(${PROJECT_SOURCE_DIR}/tests/ops/suite_files.cmake)
  get_property(KEYWAY_CUDA_DRIVERS GLOBAL PROPERTY KEYWAY_CUDA_LIBRARY_SOURCES)
  foreach(files KEYWAY_SUITE_TESTS KEYWAY_SUITE_CUDA_TESTS KEYWAY_SUITE_SOURCES)
    list(TRANSFORM ${files} PREPEND tests/ops/)
  endforeach()
  list(APPEND KEYWAY_SUITE_SOURCES ${KEYWAY_SUITE_LIBRARY_SOURCES})
  foreach(files KEYWAY_CUDA_DRIVERS KEYWAY_SUITE_TESTS KEYWAY_SUITE_CUDA_TESTS KEYWAY_SUITE_SOURCES)
    list(TRANSFORM ${files} PREPEND keyway/)
  endforeach()
endmacro()

# Installs that, with the headers that it includes and the package has not among its own.
function(keyway_install_sources folder)
  get_property(headers GLOBAL PROPERTY KEYWAY_CUDA_LIBRARY_HEADERS)
  list(APPEND headers ${KEYWAY_SUITE_HEADERS})
  list(TRANSFORM headers PREPEND keyway/)
  foreach(file IN LISTS headers KEYWAY_CUDA_DRIVERS KEYWAY_SUITE_TESTS KEYWAY_SUITE_CUDA_TESTS KEYWAY_SUITE_SOURCES)
    cmake_path(GET file PARENT_PATH path)
    install(FILES ${KEYWAY_INCLUDE_ROOT}/${file} DESTINATION ${folder}/${path})
  endforeach()
endfunction()

# The package of the build folder, which the Python package there names as keyway.cmake_prefix_path: the shared library
# where it is built, and the headers where they are written and generated. Without the archive.
macro(keyway_build_package)
  set(build_package ${PROJECT_BINARY_DIR}/python/keyway/lib/cmake/keyway)
  file(MAKE_DIRECTORY ${build_package})
  export(EXPORT keyway NAMESPACE keyway:: FILE ${build_package}/keyway-targets.cmake)
  foreach(file IN LISTS functions)
    cmake_path(GET file FILENAME name)
    file(CREATE_LINK ${file} ${build_package}/${name} SYMBOLIC)
  endforeach()
  block()
    set(KEYWAY_CODEGEN_PROGRAM ${codegen})
    set(KEYWAY_SCHEMA_FOLDER ${PROJECT_SOURCE_DIR}/ops/schemas)
    set(KEYWAY_SOURCE_FOLDER ${KEYWAY_INCLUDE_ROOT})
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/keyway-config.cmake.in ${build_package}/keyway-config.cmake
      INSTALL_DESTINATION ${build_package} PATH_VARS ${package_paths} NO_SET_AND_CHECK_MACRO)
  endblock()
  write_basic_package_version_file(${build_package}/keyway-config-version.cmake COMPATIBILITY SameMinorVersion)
endmacro()

# A shared library of modules: keyway_shared_library(<target> <name> OBJECTS <object>... LINK <library>...).
function(keyway_shared_library target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OBJECTS;LINK")
  add_library(${target} SHARED ${arg_OBJECTS})
  add_library(keyway::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    SOVERSION ${KEYWAY_ABI_VERSION}
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/keyway.map)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:keyway_flags> ${arg_LINK})
  target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/keyway.map)
  if(NOT KEYWAY_SANITIZE)  # the sanitizers' runtimes come with the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,--gc-sections)
  endif()
endfunction()

function(keyway_library)
  # The umbrella header is a module of its own: it stands above all others, and at the root.
  add_library(keyway_umbrella INTERFACE)
  target_sources(keyway_umbrella INTERFACE FILE_SET HEADERS
    BASE_DIRS ${KEYWAY_INCLUDE_ROOT} FILES ${KEYWAY_INCLUDE_ROOT}/keyway/keyway.h)
  target_link_libraries(keyway_umbrella INTERFACE keyway_flags)
  set_target_properties(keyway_umbrella PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  add_dependencies(keyway_umbrella keyway_generated)
  set_property(GLOBAL APPEND PROPERTY KEYWAY_MODULES keyway_umbrella)

  get_property(modules GLOBAL PROPERTY KEYWAY_MODULES)
  set(objects)
  set(link)
  set(graph_objects)
  set(graph_link)
  set(headers)
  foreach(module IN LISTS modules)
    get_target_property(type ${module} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      get_target_property(library ${module} KEYWAY_LIBRARY)  # empty, or graph
      string(REGEX REPLACE "(.)$" "\\1_" prefix "${library}")
      get_target_property(module_link ${module} KEYWAY_LINK)
      list(APPEND ${prefix}objects $<TARGET_OBJECTS:${module}>)
      list(APPEND ${prefix}link ${module_link})
    endif()
    get_target_property(module_headers ${module} HEADER_SET)
    if(module_headers)
      list(APPEND headers ${module_headers})
    endif()
  endforeach()

  list(REMOVE_DUPLICATES link)
  list(REMOVE_DUPLICATES graph_link)
  keyway_shared_library(keyway_shared keyway OBJECTS ${objects} LINK ${link})
  keyway_shared_library(keyway_graph_shared keyway_graph OBJECTS ${graph_objects} LINK ${graph_link} keyway_shared)
  # It hands functions down to libkeyway.so for good, so it stays where a plug-in that has brought it goes.
  target_link_options(keyway_graph_shared PRIVATE -Wl,-z,nodelete)
  set_target_properties(keyway_graph_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
  add_library(keyway INTERFACE)
  target_link_libraries(keyway INTERFACE $<LINK_LIBRARY:keyway_as_needed,keyway::keyway_graph_shared> keyway_shared)
  add_library(keyway_static STATIC ${objects} ${graph_objects})
  list(APPEND link ${graph_link})
  list(REMOVE_DUPLICATES link)
  target_link_libraries(keyway_static PRIVATE $<BUILD_INTERFACE:keyway_flags> ${link})
  set_target_properties(keyway_static PROPERTIES OUTPUT_NAME keyway)
  foreach(library keyway keyway_static)
    add_library(keyway::${library} ALIAS ${library})
    target_compile_features(${library} INTERFACE cxx_std_20)
    # cxx_std_20 says nothing of CUDA sources, and cuda_std_20 is an error where that language is not enabled.
    target_compile_options(${library} INTERFACE
      $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<BOOL:$<TARGET_PROPERTY:CUDA_STANDARD>>>>:-std=c++20>)
    target_include_directories(${library} INTERFACE
      $<BUILD_INTERFACE:${KEYWAY_INCLUDE_ROOT}> $<BUILD_INTERFACE:${KEYWAY_GENERATED_ROOT}>)
  endforeach()
  target_sources(keyway INTERFACE FILE_SET HEADERS
    BASE_DIRS ${KEYWAY_INCLUDE_ROOT} ${KEYWAY_GENERATED_ROOT} FILES ${headers})

  # A build of some targets may come first, as tools/demo.sh makes one: installing builds what it installs.
  add_custom_target(keyway_installed DEPENDS keyway_shared keyway_graph_shared keyway_static)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target keyway_installed
    COMMAND_ERROR_IS_FATAL ANY)")

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/keyway)
  # What -lkeyway finds is a component of its own: a wheel cannot hold links, and would have the library twice.
  install(TARGETS keyway keyway_shared EXPORT keyway LIBRARY NAMELINK_SKIP FILE_SET HEADERS)
  install(TARGETS keyway_graph_shared EXPORT keyway LIBRARY NAMELINK_COMPONENT namelink)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/namelink/libkeyway.so CONTENT
    "/* For the linker: the library, and that of graphs for what uses them. */
INPUT(libkeyway.so.${KEYWAY_ABI_VERSION} AS_NEEDED(libkeyway_graph.so.${KEYWAY_ABI_VERSION}))\n")
  install(FILES ${PROJECT_BINARY_DIR}/namelink/libkeyway.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT namelink)
  install(TARGETS keyway_static EXPORT keyway_static ARCHIVE COMPONENT static
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT keyway NAMESPACE keyway:: DESTINATION ${package_dir} FILE keyway-targets.cmake)
  install(EXPORT keyway_static NAMESPACE keyway:: DESTINATION ${package_dir} FILE keyway-static-targets.cmake
    COMPONENT static)
  set(KEYWAY_STATIC_DEPENDENCIES)
  foreach(library IN LISTS link)
    if(library MATCHES "^(.+)::")
      string(REPLACE DNNL dnnl package ${CMAKE_MATCH_1})  # the one package whose targets are not called like it
      list(APPEND KEYWAY_STATIC_DEPENDENCIES ${package})
    endif()
  endforeach()
  # What keyway_add_ops needs.
  get_property(schemas GLOBAL PROPERTY KEYWAY_SCHEMAS)
  get_property(codegen GLOBAL PROPERTY KEYWAY_CODEGEN_TOOL)
  set(KEYWAY_CODEGEN_PROGRAM ${CMAKE_INSTALL_BINDIR}/keyway-codegen)
  set(KEYWAY_SCHEMA_FOLDER ${CMAKE_INSTALL_DATADIR}/keyway/schemas)
  set(KEYWAY_SCHEMA_NAMES ${schemas})
  list(TRANSFORM KEYWAY_SCHEMA_NAMES REPLACE "^.*/" "")
  install(PROGRAMS ${codegen} DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME keyway-codegen)
  list(TRANSFORM schemas PREPEND ${PROJECT_SOURCE_DIR}/)
  install(FILES ${schemas} ${PROJECT_SOURCE_DIR}/ops/schemas/op.schema.json DESTINATION ${KEYWAY_SCHEMA_FOLDER})

  # And keyway_test_ops.
  set(KEYWAY_SOURCE_FOLDER ${CMAKE_INSTALL_DATADIR}/keyway/sources)
  keyway_sources_for_libraries()
  keyway_install_sources(${KEYWAY_SOURCE_FOLDER})

  # Never among Keyway's own headers: who wants these asks for them, with keyway::compat.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/compat/include ${PROJECT_SOURCE_DIR}/compat/python
    DESTINATION ${CMAKE_INSTALL_DATADIR}/keyway/compat PATTERN __pycache__ EXCLUDE)
  add_library(keyway_compat INTERFACE)
  add_library(keyway::compat ALIAS keyway_compat)
  set_target_properties(keyway_compat PROPERTIES EXPORT_NAME compat)
  target_include_directories(keyway_compat INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/compat/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_DATADIR}/keyway/compat/include>)
  target_link_libraries(keyway_compat INTERFACE keyway)
  # As in keyway/utils/cpp_extension.py, which says why.
  set(cuda_defines __CUDA_NO_HALF_OPERATORS__ __CUDA_NO_HALF_CONVERSIONS__ __CUDA_NO_BFLOAT16_CONVERSIONS__
    __CUDA_NO_HALF2_OPERATORS__)
  target_compile_definitions(keyway_compat INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_defines}>")
  install(TARGETS keyway_compat EXPORT keyway)

  set(functions)
  foreach(file keyway_as_needed.cmake keyway_run_codegen.cmake keyway_add_ops.cmake keyway_add_plugin.cmake keyway_select_ops.cmake
      keyway_test_ops.cmake keyway.map)
    list(APPEND functions ${PROJECT_SOURCE_DIR}/cmake/${file})
  endforeach()
  set(package_paths KEYWAY_CODEGEN_PROGRAM KEYWAY_SCHEMA_FOLDER KEYWAY_SOURCE_FOLDER)
  keyway_build_package()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/keyway-config.cmake.in keyway-config.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS ${package_paths} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(keyway-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/keyway-config.cmake ${PROJECT_BINARY_DIR}/keyway-config-version.cmake
    ${functions} DESTINATION ${package_dir})
endfunction()
