/* SPDX-License-Identifier: MIT */
/*
 * Includes Python.h for all files of this folder and defines what depends on the build. One source
 * makes three builds: exact for one CPython, limited API 3.9, limited API 3.12.
 */
#ifndef SONDE_PY_CPYTHON_H
#define SONDE_PY_CPYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(Py_LIMITED_API) || Py_LIMITED_API + 0 >= 0x030c0000
#define HAVE_VECTORCALL 1
#endif

/*
 * A reference count of 1 means that nobody else can reach the object, but only if one interpreter
 * lock guards all reference counts.
 */
#ifdef Py_GIL_DISABLED
#define ONLY_MINE(o) false
#else
#define ONLY_MINE(o) (Py_REFCNT(o) == 1)
#endif

/*
 * A slot of modules. Sessions and their events have no locks of their own: a free-threaded Python
 * switches its interpreter lock on when it imports the module, and says so in a RuntimeWarning.
 */
#ifdef Py_GIL_DISABLED
#define SLOT_NEEDS_GIL { Py_mod_gil, Py_MOD_GIL_USED },
#else
#define SLOT_NEEDS_GIL
#endif

#endif
