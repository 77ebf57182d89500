// Test cases in C++: CASE(name) { ... CHECK(condition); ... } in a file that is run with a case's name.

#ifndef CASES_H
#define CASES_H

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <map>
#include <string>

inline std::map<std::string, void (*)()>& cases()
{
    static std::map<std::string, void (*)()> all;
    return all;
}

struct Registered
{
    Registered(const char* name, void (*function)())
    {
        cases()[name] = function;
    }
};

#define CASE(name)                             \
    static void name();                        \
    static Registered name##_case(#name, name); \
    static void name()

#define CHECK(condition)                                                             \
    do                                                                               \
        if (!(condition))                                                            \
        {                                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            std::_Exit(1);                                                           \
        }                                                                            \
    while (0)

// How many descriptors the process has open.
inline int open_descriptors()
{
    int count = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr)
        ++count;
    closedir(folder);
    return count;
}

int main(int argc, char** argv)
{
    if (argc != 2 || cases().count(argv[1]) == 0)
    {
        for (const auto& one : cases())
            std::puts(one.first.c_str());
        return argc == 1 ? 0 : 2;
    }
    cases()[argv[1]]();
}

#endif
