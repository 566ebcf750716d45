/*
 * What Python's headers ask of the machine that is compiled for, as far as the stable ABI needs it.
 * Sizes come from the compiler, so that one file serves every 64-bit platform.
 */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define ALIGNOF_SIZE_T __SIZEOF_SIZE_T__

#define HAVE_LONG_LONG 1
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDARG_PROTOTYPES 1
#define HAVE_PROTOTYPES 1
#define HAVE_WCHAR_H 1
#define HAVE_ERRNO_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define WITH_DOC_STRINGS 1

#ifdef _WIN32
/* The functions and data of Python come from its library. */
#define MS_WINDOWS 1
#define MS_WIN64 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1
#else
#define HAVE_UNISTD_H 1
#define HAVE_SSIZE_T 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_SELECT_H 1
#endif

#endif
