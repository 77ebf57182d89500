// object_model TOPIC [ARGUMENT...]: the facts of one topic. Without a topic: their names.

#include "harness.h"

#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>

namespace
{
    std::mutex lock;
    int failed = 0;

    std::map<std::string, Topic>& topics()
    {
        static std::map<std::string, Topic> all;
        return all;
    }
}

bool check(const std::string& name, bool holds, const std::string& why)
{
    std::lock_guard<std::mutex> guard(lock);
    if (holds)
        std::printf("ok %s\n", name.c_str());
    else
        std::printf("FAIL %s: %s\n", name.c_str(), why.c_str());
    std::fflush(stdout);
    failed += !holds;
    return holds;
}

int failures()
{
    return failed;
}

std::string hex(HRESULT result)
{
    char text[16];
    std::snprintf(text, sizeof text, "0x%08X", static_cast<unsigned>(result));
    return text;
}

bool hresult(const std::string& name, HRESULT found, HRESULT expected)
{
    return check(name, found == expected, "is " + hex(found) + ", not " + hex(expected));
}

bool hresult_among(const std::string& name, HRESULT found, std::initializer_list<HRESULT> expected)
{
    std::string why = "is " + hex(found) + ", none of";
    bool holds = false;
    for (HRESULT one : expected)
    {
        holds = holds || found == one;
        why += ' ' + hex(one);
    }
    return check(name, holds, why);
}

void need(HRESULT result, const char* what)
{
    if (FAILED(result))
        throw std::runtime_error(std::string(what) + " gave " + hex(result));
}

Registration::Registration(const char* name, Topic topic)
{
    topics()[name] = topic;
}

int main(int argc, char** argv)
{
    if (argc < 2)
    {
        for (const auto& entry : topics())
            std::printf("%s\n", entry.first.c_str());
        return 0;
    }
    const auto found = topics().find(argv[1]);
    if (found == topics().end())
    {
        std::fprintf(stderr, "no topic %s\n", argv[1]);
        return 2;
    }
    try
    {
        found->second(std::vector<std::string>(argv + 2, argv + argc));
    }
    catch (const std::exception& error)
    {
        check(std::string(argv[1]) + " runs to its end", false, error.what());
    }
    return failures() ? 1 : 0;
}
