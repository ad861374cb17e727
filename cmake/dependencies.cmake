#  What Stator stands on.  Every library comes from the distribution; scripts/setup installs them.

find_package (PkgConfig REQUIRED)
find_package (Threads REQUIRED)
foreach (module libzmq libczmq msgpack lmdb libsodium libevent libcurl json-c yaml-0.1 libpcre2-8 libutf8proc libxxhash cmocka)
    pkg_check_modules (${module} REQUIRED IMPORTED_TARGET ${module})
endforeach ()

#  The HTTP/1.1 grammar is compiled from the sources that the package node-llhttp ships.
find_path (LLHTTP_SOURCE_DIR llhttp.c PATHS /usr /usr/local PATH_SUFFIXES share/llhttp REQUIRED)
find_path (LLHTTP_INCLUDE_DIR llhttp.h PATHS /usr /usr/local PATH_SUFFIXES share/include/llhttp REQUIRED)
add_library (llhttp STATIC ${LLHTTP_SOURCE_DIR}/llhttp.c ${LLHTTP_SOURCE_DIR}/api.c ${LLHTTP_SOURCE_DIR}/http.c)
target_include_directories (llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE_DIR})
