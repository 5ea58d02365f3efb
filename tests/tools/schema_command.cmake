# Runs `keyway schema` as a user does: cmake -DKEYWAY=<program> -DWORK=<folder> -P schema_command.cmake
function(expect title arguments input status output)
  file(WRITE ${WORK}/schema_command_input.txt "${input}")
  execute_process(COMMAND ${KEYWAY} ${arguments} INPUT_FILE ${WORK}/schema_command_input.txt
    RESULT_VARIABLE actual_status OUTPUT_VARIABLE actual_output ERROR_VARIABLE errors)
  if(NOT actual_status EQUAL status)
    message(SEND_ERROR "${title}: exit status ${actual_status}, not ${status}\n${actual_output}${errors}")
  endif()
  if(NOT output STREQUAL "any" AND NOT actual_output STREQUAL output)
    message(SEND_ERROR "${title}: printed\n${actual_output}instead of\n${output}")
  endif()
endfunction()

expect("canonical forms are printed, and blank lines skipped" schema
  "\n  relu( Tensor self )->Tensor\n \t\nf(int[2] x=[0, 1]) -> ( )" 0
  "relu(Tensor self) -> Tensor\nf(int[2] x=[0,1]) -> ()\n")
expect("an error stands in the place of its line" schema
  "f() -> ()\n\nadd(tensor a)->Tensor\ng(int x) -> int\n# no comment\n" 1
  "f() -> ()\n3:5: error: 'tensor' is not a type; did you mean 'Tensor'?\ng(int x) -> int\n5:1: error: expected the operator's name, but found '#'\n")
expect("no input is no error" schema "" 0 "")
expect("help is no error" "schema;--help" "" 0 any)
expect("an unknown option is an error of usage" "schema;--nonsense" "" 2 any)
expect("an unknown command is an error of usage" nonsense "" 2 any)
expect("no command is an error of usage" "" "" 2 any)
expect("the version is printed" --version "" 0 any)
