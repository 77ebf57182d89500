// Shared by every topic of the object model program: the facts it prints, and COM helpers.

#ifndef TESTS_COM_HARNESS_H
#define TESTS_COM_HARNESS_H

#include "system.h"

#include <DirectML.h>

#include <wrl/client.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using Microsoft::WRL::ComPtr;

constexpr HRESULT MoreData = static_cast<HRESULT>(0x887a0003u);
constexpr HRESULT NotFound = static_cast<HRESULT>(0x887a0002u);
constexpr HRESULT InvalidCall = static_cast<HRESULT>(0x887a0001u);
constexpr HRESULT Unsupported = static_cast<HRESULT>(0x887a0004u);
constexpr HRESULT DeviceRemoved = static_cast<HRESULT>(0x887a0005u);
constexpr HRESULT Fine = 0;
constexpr HRESULT False = 1;

// A named fact, printed once: "ok <name>" or "FAIL <name>: <why>". Thread-safe.
bool check(const std::string& name, bool holds, const std::string& why = "does not hold");

// How many facts failed.
int failures();

std::string hex(HRESULT result);

bool hresult(const std::string& name, HRESULT found, HRESULT expected);

// For what the documents leave open.
bool hresult_among(const std::string& name, HRESULT found, std::initializer_list<HRESULT> expected);

// Ends the topic, as nothing after it would make sense.
void need(HRESULT result, const char* what);

template <typename T, typename U>
bool equal(const std::string& name, const T& found, const U& expected)
{
    std::ostringstream why;
    why << "is " << found << ", not " << expected;
    return check(name, found == static_cast<T>(expected), why.str());
}

template <typename T>
bool values(const std::string& name, const std::vector<T>& found, const std::vector<T>& expected)
{
    std::ostringstream why;
    why << "is";
    for (const T& value : found)
        why << ' ' << value;
    why << ", not";
    for (const T& value : expected)
        why << ' ' << value;
    return check(name, found == expected, why.str());
}

// An out parameter that a failing call must set to null: initially not null.
inline void* poison()
{
    static int target;
    return &target;
}

template <typename T>
ComPtr<IUnknown> unknown(T* object)
{
    ComPtr<IUnknown> found;
    need(object->QueryInterface(IID_PPV_ARGS(&found)), "QueryInterface(IUnknown)");
    return found;
}

// The reference count that AddRef and Release return.
template <typename T>
ULONG references(T* object)
{
    object->AddRef();
    return object->Release();
}

// What a method returns that returns a struct. The DirectX headers for MinGW have a parameter for where to put it, as the
// ABI has.
template <typename R, typename T, typename U, typename... P, typename... A>
R returned(R (STDMETHODCALLTYPE T::*method)(P...), U* object, A... arguments)
{
    return (object->*method)(arguments...);
}

template <typename R, typename T, typename U, typename... P, typename... A>
R returned(R* (STDMETHODCALLTYPE T::*method)(R*, P...), U* object, A... arguments)
{
    R result;
    return *(object->*method)(&result, arguments...);
}

using Topic = void (*)(const std::vector<std::string>& arguments);

// Registers a topic with main: static const Registration topic("name", function);
struct Registration
{
    Registration(const char* name, Topic topic);
};

#endif
