# cmake -DFOLDER=<folder> -P keyway_build_codegen.cmake: brings the generator in the folder up to date. One at a time: builds
# may share it.
file(LOCK ${FOLDER} DIRECTORY GUARD PROCESS)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${FOLDER} --target keyway-codegen COMMAND_ERROR_IS_FATAL ANY)
