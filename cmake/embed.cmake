# A file as a C array: cmake -DIN=file -DOUT=file.c -DNAME=symbol -DHEADER=path -P embed.cmake
file(READ "${IN}" hex HEX)
string(REGEX MATCHALL "................................|..+" lines "${hex}")
set(bytes "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "(..)" "'\\\\x\\1', " line "${line}")
  string(APPEND bytes "    ${line}\n")
endforeach()
file(WRITE "${OUT}" "/* Made from ${NAME}'s source by cmake/embed.cmake. */
#include \"${HEADER}\"

const char ${NAME}[] = {
${bytes}    0
};
const size_t ${NAME}_size = sizeof ${NAME} - 1;
")
