#  A room is a folder of the plan (docs/architecture.md): its sources make one static library, and every X_test.c beside
#  them makes one test program.  A room sees only the rooms it names.

set (CMAKE_C_STANDARD 11)
set (CMAKE_C_STANDARD_REQUIRED ON)
set (CMAKE_C_EXTENSIONS OFF)
set (CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_compile_definitions (_DEFAULT_SOURCE)
add_compile_options (-Wall -Wextra -Wpedantic -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wno-unused-parameter "$<$<C_COMPILER_ID:GNU>:-Wconversion;-Wno-format-truncation>" -fno-common)

#  stator_room (NAME [USES target ...] [TESTED_WITH target ...])
#  NAME is the folder; a slash becomes an underscore in the target's name (runtime/port -> runtime_port).  What only the
#  tests need (the simulator, say) stands behind TESTED_WITH.
function (stator_room folder)
    cmake_parse_arguments (ROOM "" "" "USES;TESTED_WITH" ${ARGN})
    string (REPLACE "/" "_" target ${folder})
    file (GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.c)
    set (tests ${sources})
    list (FILTER sources EXCLUDE REGEX "_test\\.c$")
    list (FILTER tests INCLUDE REGEX "_test\\.c$")
    add_library (${target} STATIC ${sources})
    target_include_directories (${target} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries (${target} PUBLIC ${ROOM_USES})
    foreach (test ${tests})
        stator_test (${test} ${target} ${ROOM_TESTED_WITH})
    endforeach ()
endfunction ()

#  stator_test (SOURCE target ...): one cmocka program, registered with ctest under its path.
function (stator_test source)
    file (RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
    string (REGEX REPLACE "\\.c$" "" name ${name})
    string (REPLACE "/" "_" program ${name})
    add_executable (${program} ${source})
    target_link_libraries (${program} PRIVATE ${ARGN} PkgConfig::cmocka)
    add_test (NAME ${name} COMMAND ${program} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction ()
