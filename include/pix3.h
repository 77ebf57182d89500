// MIT License, Copyright (c) the directml-py authors.
//
// The events of PIX, in C++. On command lists and queues they are named spans and markers, which a capture shows.
// Nothing else happens: CPU events are dropped, and there is no PIX to count or capture.

#ifdef _WIN32
#include_next <pix3.h>
#else

#ifndef DIRECTML_PIX3_H
#define DIRECTML_PIX3_H

#include <windows.h>

#include <cstdarg>
#include <cstdio>
#include <cwchar>
#include <string>

#define PIX_COLOR(r, g, b) (0xff000000u | (BYTE)(r) << 16 | (BYTE)(g) << 8 | (BYTE)(b))
#define PIX_COLOR_INDEX(i) ((BYTE)(i))
#define PIX_COLOR_DEFAULT PIX_COLOR_INDEX(0)

#define PIX_CAPTURE_TIMING 0x1
#define PIX_CAPTURE_GPU 0x2

// The metadata that says that an event's data is a string of char.
#define DIRECTML_PIX_ANSI 1u

struct PIXCaptureParameters;

namespace directml_pix
{
    inline std::string text(const char* format, va_list arguments)
    {
        va_list again;
        va_copy(again, arguments);
        const int length = std::vsnprintf(nullptr, 0, format, again);
        va_end(again);
        if (length < 0)
            return {};
        std::string made(static_cast<size_t>(length) + 1, 0);
        std::vsnprintf(&made[0], made.size(), format, arguments);
        made.pop_back();
        return made;
    }

    // The length of formatted wide text is not known beforehand.
    inline std::string text(const wchar_t* format, va_list arguments)
    {
        wchar_t wide[1024];
        if (std::vswprintf(wide, 1024, format, arguments) < 0)
            wide[1023] = 0;
        const int length = WideCharToMultiByte(CP_UTF8, 0, wide, -1, nullptr, 0, nullptr, nullptr);
        std::string made(static_cast<size_t>(length), 0);
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, &made[0], length, nullptr, nullptr);
        made.pop_back();
        return made;
    }

    template <typename Context>
    void begin(Context* context, const std::string& name)
    {
        context->BeginEvent(DIRECTML_PIX_ANSI, name.c_str(), static_cast<UINT>(name.size() + 1));
    }

    template <typename Context>
    void mark(Context* context, const std::string& name)
    {
        context->SetMarker(DIRECTML_PIX_ANSI, name.c_str(), static_cast<UINT>(name.size() + 1));
    }
}

// Formatted as by printf, with or without arguments. Char is char or wchar_t.
template <typename Context, typename Char>
void PIXBeginEvent(Context* context, UINT64, const Char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    directml_pix::begin(context, directml_pix::text(format, arguments));
    va_end(arguments);
}

template <typename Context, typename Char>
void PIXSetMarker(Context* context, UINT64, const Char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    directml_pix::mark(context, directml_pix::text(format, arguments));
    va_end(arguments);
}

template <typename Context>
void PIXEndEvent(Context* context)
{
    context->EndEvent();
}

// CPU events belong to no list.
inline void PIXBeginEvent(UINT64, const char*, ...)
{
}

inline void PIXBeginEvent(UINT64, const wchar_t*, ...)
{
}

inline void PIXSetMarker(UINT64, const char*, ...)
{
}

inline void PIXSetMarker(UINT64, const wchar_t*, ...)
{
}

inline void PIXEndEvent()
{
}

template <typename Context>
class PIXScopedEventObject
{
public:
    template <typename Char, typename... Arguments>
    PIXScopedEventObject(Context* context, UINT64 color, const Char* format, Arguments... arguments)
        : m_context(context)
    {
        PIXBeginEvent(context, color, format, arguments...);
    }

    PIXScopedEventObject(const PIXScopedEventObject&) = delete;
    PIXScopedEventObject& operator=(const PIXScopedEventObject&) = delete;

    ~PIXScopedEventObject()
    {
        PIXEndEvent(m_context);
    }

private:
    Context* m_context;
};

namespace directml_pix
{
    struct NoScope
    {
        ~NoScope()
        {
        }
    };

    template <typename Context, typename Char, typename... Arguments>
    PIXScopedEventObject<Context> scope(Context* context, UINT64 color, const Char* format, Arguments... arguments)
    {
        return PIXScopedEventObject<Context>(context, color, format, arguments...);
    }

    template <typename Char, typename... Arguments>
    NoScope scope(UINT64, const Char*, Arguments...)
    {
        return {};
    }
}

#define DIRECTML_PIX_JOINED(first, second) first##second
#define DIRECTML_PIX_NAME(first, second) DIRECTML_PIX_JOINED(first, second)
#define PIXScopedEvent(...) const auto DIRECTML_PIX_NAME(pix_event_, __LINE__) = ::directml_pix::scope(__VA_ARGS__)

template <typename Char>
void PIXReportCounter(const Char*, float)
{
}

inline void PIXNotifyWakeFromFenceSignal(HANDLE)
{
}

inline HRESULT PIXBeginCapture(DWORD, const PIXCaptureParameters*)
{
    return E_NOTIMPL;
}

inline HRESULT PIXEndCapture(BOOL)
{
    return E_NOTIMPL;
}

inline DWORD PIXGetCaptureState()
{
    return 0;
}

inline HMODULE PIXLoadLatestWinPixGpuCapturerLibrary()
{
    return nullptr;
}

inline HMODULE PIXLoadLatestWinPixTimingCapturerLibrary()
{
    return nullptr;
}

#endif
#endif
