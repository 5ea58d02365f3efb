# keyway_module declares the CMake target of a folder, or of a folder and its subfolders.
#
#   keyway_module(core/base
#     HEADERS public.h ...        # installed, part of the FILE_SET, checked to be self-contained
#     SOURCES a.cpp b.cpp ...
#     GENERATED x.h y.cpp ...     # what the generator writes for the module, by path in its folder
#     DEPENDS core ...            # modules of lower floors (folder names)
#     LINK fmt::fmt ...           # libraries from elsewhere, private to the module's sources
#     LIBRARY graph               # a part of libkeyway_graph.so, not of libkeyway.so
#     STANDALONE)                 # not a part of a library; modules in codegen/ and tools/ never are
#
# The target is an object library named keyway_<folder with underscores>. All headers are spelled
# <keyway/folder/name.h>: a link in the build folder makes keyway/ resolve to the source root, and
# generated headers lie in a second folder of the same shape.

include(CheckSourceRuns)

set(KEYWAY_INCLUDE_ROOT ${PROJECT_BINARY_DIR}/include)
set(KEYWAY_GENERATED_ROOT ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${KEYWAY_INCLUDE_ROOT} ${KEYWAY_GENERATED_ROOT}/keyway)
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${KEYWAY_INCLUDE_ROOT}/keyway SYMBOLIC)

# What every target of the project is compiled with.
add_library(keyway_flags INTERFACE)
target_compile_features(keyway_flags INTERFACE cxx_std_20)
target_include_directories(keyway_flags INTERFACE
  $<BUILD_INTERFACE:${KEYWAY_INCLUDE_ROOT}> $<BUILD_INTERFACE:${KEYWAY_GENERATED_ROOT}>)
target_compile_options(keyway_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -fno-math-errno -fno-trapping-math -ffp-contract=off
  -fmacro-prefix-map=${KEYWAY_INCLUDE_ROOT}/keyway/= -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
  $<$<BOOL:${KEYWAY_WERROR}>:-Werror>>)
# What is filled or copied by some dozen to some hundred bytes, as lanes of sums are, g++ would fill and copy by "rep stos"
# and "rep movs", whose start takes longer than such a piece by vectors.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(by_vectors vector_loop:512:noalign,libcall:-1:noalign)
  target_compile_options(keyway_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-mmemset-strategy=${by_vectors}> $<$<COMPILE_LANGUAGE:CXX>:-mmemcpy-strategy=${by_vectors}>)
endif()
# Relative relocations in a bit or two each: tables of operators have so many that they are a fifteenth of the library
# otherwise. The loader must know them, as glibc's does from 2.36 on.
if(NOT CMAKE_CROSSCOMPILING)
  set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
  check_source_runs(CXX "static int zero; int* volatile at = &zero; int main() { return *at; }" KEYWAY_PACKS_RELOCATIONS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(KEYWAY_PACKS_RELOCATIONS)
    target_link_options(keyway_flags INTERFACE $<$<LINK_LANGUAGE:CXX>:-Wl,-z,pack-relative-relocs>)
  endif()
endif()
if(KEYWAY_SANITIZE STREQUAL "address")
  # With the checks for null pointers, g++ 12 no longer takes the address of a template argument for non-null at compile
  # time, so that schema literals do not compile. AddressSanitizer reports what is read or written through null.
  target_compile_options(keyway_flags INTERFACE -fsanitize=address,undefined
    -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(keyway_flags INTERFACE -fsanitize=address,undefined)
  target_compile_options(keyway_flags INTERFACE -fno-sanitize=object-size,vptr)
  # Checks of every use of a pointer and of every scope take half of the time to compile: they are for targets that read
  # elements and bytes (below). What a target asks for on its own stands before these options, which take it back.
  target_compile_options(keyway_flags INTERFACE "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:KEYWAY_READS_ELEMENTS>>>:\
-fno-sanitize=alignment,pointer-overflow;-fno-sanitize-address-use-after-scope>")
  target_compile_definitions(keyway_flags INTERFACE KEYWAY_SANITIZED=1)
elseif(KEYWAY_SANITIZE STREQUAL "thread")
  target_compile_options(keyway_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(keyway_flags INTERFACE -fsanitize=thread)
  target_compile_definitions(keyway_flags INTERFACE KEYWAY_SANITIZED=1)
elseif(KEYWAY_SANITIZE)
  message(FATAL_ERROR "KEYWAY_SANITIZE must be empty, address or thread, not '${KEYWAY_SANITIZE}'")
endif()

# The generated files with an extension that are, or stand directly in, one of the paths.
function(keyway_generated_files out extension)
  get_property(generated GLOBAL PROPERTY KEYWAY_GENERATED)
  set(files)
  foreach(path IN LISTS ARGN)
    set(here ${generated})
    list(FILTER here INCLUDE REGEX "^${path}(/[^/]+)?$")
    list(APPEND files ${here})
  endforeach()
  list(FILTER files INCLUDE REGEX "\\.${extension}$")
  list(TRANSFORM files PREPEND ${KEYWAY_GENERATED_ROOT}/keyway/)
  set(${out} ${files} PARENT_SCOPE)
endfunction()

function(keyway_module folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STANDALONE" "LIBRARY" "HEADERS;SOURCES;GENERATED;DEPENDS;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "keyway_module(${folder}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(REPLACE "/" "_" name "keyway_${folder}")
  list(TRANSFORM arg_HEADERS PREPEND ${KEYWAY_INCLUDE_ROOT}/keyway/${folder}/)
  keyway_generated_files(generated_headers h ${arg_GENERATED})
  keyway_generated_files(generated_sources cpp ${arg_GENERATED})
  list(APPEND arg_HEADERS ${generated_headers})
  list(APPEND arg_SOURCES ${generated_sources})
  if(arg_SOURCES)
    add_library(${name} OBJECT ${arg_SOURCES})
    set(scope PUBLIC)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_definitions(${name} PRIVATE KEYWAY_BUILDING)
    # What a call of an operator passes through: small batches, which may grow by more inlining than g++ lets a file of their
    # size, so that a call takes as many instructions as without batches.
    if(KEYWAY_UNITY STREQUAL "MOST" AND folder MATCHES "^backends(/|$)")
      set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
    elseif(KEYWAY_UNITY STREQUAL "MOST" AND folder MATCHES "^(core|dispatch|autograd|assembly)(/|$)")
      set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 4)
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${name} PRIVATE --param=inline-unit-growth=$<IF:$<STREQUAL:${folder},autograd>,100,60>)
      endif()
    endif()
    # What runs once a program, a load or a step, not in every call of an operator: small code.
    if(folder MATCHES "^(core/schema|dispatch/[a-z]+|graph|nn)(/|$)")
      target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Os>)
    endif()
    # Where a sanitized program spends its time, and where a wild pointer would be used. Other files are optimised for the
    # debugger (CMakePresets.json), which takes two thirds of the time to compile.
    if(KEYWAY_SANITIZE AND folder MATCHES "^(core|ops/rules|backends|nn/serialize)(/|$)")
      set_target_properties(${name} PROPERTIES KEYWAY_READS_ELEMENTS ON)
      target_compile_options(${name} PRIVATE -O1)
    endif()
    # So that who links the archive gets what it refers to and no more.
    target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
    if(TARGET keyway_generated)  # a module above the generator may include what it writes
      add_dependencies(${name} keyway_generated)
    endif()
    target_link_libraries(${name} PRIVATE ${arg_LINK})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_sources(${name} ${scope} FILE_SET HEADERS
    BASE_DIRS ${KEYWAY_INCLUDE_ROOT} ${KEYWAY_GENERATED_ROOT} FILES ${arg_HEADERS})
  target_link_libraries(${name} ${scope} keyway_flags)
  if(NOT arg_STANDALONE AND NOT folder MATCHES "^(codegen|tools)(/|$)")
    set_property(GLOBAL APPEND PROPERTY KEYWAY_MODULES ${name})
    set_target_properties(${name} PROPERTIES KEYWAY_LIBRARY "${arg_LIBRARY}" KEYWAY_LINK "${arg_LINK}")
  endif()
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" dependency "keyway_${dependency}")
    target_link_libraries(${name} ${scope} ${dependency})
  endforeach()
endfunction()

# Headers that most files of a target include.
function(keyway_precompile target)
  if(KEYWAY_PRECOMPILE)
    list(TRANSFORM ARGN REPLACE "(.+)" "<\\1>")
    target_precompile_headers(${target} PRIVATE ${ARGN})
    # g++ forgets what a precompiled header says of warnings, as core/base/intrusive_ptr.h does of this one.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  endif()
endfunction()
