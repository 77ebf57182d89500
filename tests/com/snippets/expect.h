// EXPECT(condition): ends the program with 1 where it does not hold.

#ifndef EXPECT_H
#define EXPECT_H

#include <cstdio>
#include <cstdlib>

#define EXPECT(condition)                                                        \
    do                                                                           \
        if (!(condition))                                                        \
        {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                        \
        }                                                                        \
    while (0)

#endif
