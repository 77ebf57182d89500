// MIT License, Copyright (c) the directml-py authors.
//
// The system calls that the other headers use. A C program under -std=c11 does not see all of them in the system's
// headers, so the missing ones are declared here.

#ifndef DIRECTML_WIN32_POSIX_H
#define DIRECTML_WIN32_POSIX_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if !defined(__cplusplus) && !defined(_GNU_SOURCE)
extern int clock_gettime(int clock, struct timespec* now);
extern struct tm* gmtime_r(const time_t* time, struct tm* date);
extern struct tm* localtime_r(const time_t* time, struct tm* date);
extern ssize_t readlink(const char* path, char* target, size_t size);
extern long syscall(long number, ...);
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif
#ifndef CLOCK_REALTIME
#define CLOCK_REALTIME 0
#endif
#ifndef MAP_ANONYMOUS
#include <asm/mman.h>
#endif
#ifndef O_CLOEXEC
#define O_CLOEXEC EFD_CLOEXEC
#endif
#endif

#endif
