# What the compiler and the linker can do against a mistake in a reader of hostile files: a position-independent
# program, addresses that are fixed before main and read-only (RELRO, BIND_NOW), no executable stack, canaries,
# checked copies (glibc), probed stacks, and targets of indirect jumps (CET on x86-64, BTI and PAC on arm64).
# tests/e2e/hardening.py looks at the built file. Sanitizer builds have checks of their own.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
target_link_options(tg_options INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
                    -Wl,--build-id=sha1) # cmd/gate/cache.c asks for it
if(NOT TG_SANITIZE)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "tg_has${flag}" known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
      target_compile_options(tg_options INTERFACE ${flag})
    endif()
  endforeach()
  # Needs an optimizing build; a distribution may have set a level of its own.
  target_compile_options(tg_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()
