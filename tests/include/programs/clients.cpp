// What programs for Windows use besides Direct3D and DirectML: text, COM, smart pointers, events of PIX.

#include "cases.h"

#include <atlbase.h>
#include <dxgidebug.h>
#include <objbase.h>
#include <pix3.h>
#include <wrl.h>

#include <cstring>
#include <utility>
#include <vector>

namespace
{
    std::wstring wide(const char* text, int bytes = -1)
    {
        wchar_t buffer[64];
        const int length = MultiByteToWideChar(CP_UTF8, 0, text, bytes, buffer, 64);
        return std::wstring(buffer, static_cast<size_t>(length));
    }

    std::string narrow(const std::wstring& text, DWORD flags = 0)
    {
        char buffer[64];
        const int size = static_cast<int>(text.size());
        const int length = WideCharToMultiByte(CP_UTF8, flags, text.data(), size, buffer, 64, nullptr, nullptr);
        return std::string(buffer, static_cast<size_t>(length));
    }

    struct Counted : IUnknown
    {
        HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override
        {
            *object = riid == __uuidof(IUnknown) ? this : nullptr;
            if (*object == nullptr)
                return E_NOINTERFACE;
            AddRef();
            return S_OK;
        }

        ULONG STDMETHODCALLTYPE AddRef() override
        {
            return ++references;
        }

        ULONG STDMETHODCALLTYPE Release() override
        {
            return --references;
        }

        ULONG references = 0;
    };

    // What a list or a queue is told.
    struct Recorder
    {
        std::vector<std::string> calls;

        void add(const char* call, UINT metadata, const void* data, UINT size)
        {
            CHECK(metadata == 1);
            const std::string text(static_cast<const char*>(data), size);
            CHECK(text.back() == 0);
            calls.push_back(call + (" " + text.substr(0, text.size() - 1)));
        }

        void BeginEvent(UINT metadata, const void* data, UINT size)
        {
            add("begin", metadata, data, size);
        }

        void SetMarker(UINT metadata, const void* data, UINT size)
        {
            add("mark", metadata, data, size);
        }

        void EndEvent()
        {
            calls.push_back("end");
        }
    };
}

CASE(utf8_becomes_wide)
{
    CHECK(wide("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == std::wstring(L"a\u00e9\u20ac\U0001f600\0", 5));
    CHECK(wide("ab\0c", 4) == std::wstring(L"ab\0c", 4));
    CHECK(MultiByteToWideChar(CP_ACP, 0, "\xc3\xa9", -1, nullptr, 0) == 2);
}

CASE(what_is_no_utf8_is_replaced_or_told)
{
    // Cut off, a lone trail, too long for its character, a surrogate, beyond the last character.
    CHECK(wide("\xe2\x82", 2) == L"\ufffd\ufffd");
    CHECK(wide("\x80z", 2) == L"\ufffdz");
    CHECK(wide("\xc0\x80", 2) == L"\ufffd\ufffd");
    CHECK(wide("\xe0\x82\x82", 3) == L"\ufffd\ufffd\ufffd");
    CHECK(wide("\xed\xa0\x80", 3) == L"\ufffd\ufffd\ufffd");
    CHECK(wide("\xf4\x90\x80\x80", 4) == L"\ufffd\ufffd\ufffd\ufffd");
    CHECK(MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, "\xff", 1, nullptr, 0) == 0);
    CHECK(GetLastError() == ERROR_NO_UNICODE_TRANSLATION);
}

CASE(wide_becomes_utf8)
{
    CHECK(narrow(L"a\u00e9\u20ac\U0001f600") == "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK(narrow(std::wstring(1, static_cast<wchar_t>(0xd800))) == "\xef\xbf\xbd");
    CHECK(narrow(std::wstring(1, static_cast<wchar_t>(0x110000)), WC_ERR_INVALID_CHARS).empty());
    CHECK(GetLastError() == ERROR_NO_UNICODE_TRANSLATION);
    CHECK(WideCharToMultiByte(CP_UTF8, 0, L"\u20ac", -1, nullptr, 0, nullptr, nullptr) == 4);
}

CASE(text_needs_room_and_a_code_page)
{
    wchar_t two[2];
    char three[3];
    CHECK(MultiByteToWideChar(CP_UTF8, 0, "ab", -1, two, 2) == 0);
    CHECK(GetLastError() == ERROR_INSUFFICIENT_BUFFER);
    CHECK(MultiByteToWideChar(CP_UTF8, 0, "ab", 2, two, 2) == 2);
    CHECK(WideCharToMultiByte(CP_UTF8, 0, L"\u20ac", -1, three, 3, nullptr, nullptr) == 0);
    CHECK(GetLastError() == ERROR_INSUFFICIENT_BUFFER);
    CHECK(MultiByteToWideChar(1252, 0, "ab", -1, two, 2) == 0);
    CHECK(GetLastError() == ERROR_INVALID_PARAMETER);
    CHECK(MultiByteToWideChar(CP_UTF8, 0, "ab", 0, two, 2) == 0);
    CHECK(MultiByteToWideChar(CP_UTF8, 0, nullptr, -1, two, 2) == 0);
    CHECK(WideCharToMultiByte(CP_UTF8, 0, nullptr, -1, three, 3, nullptr, nullptr) == 0);
}

CASE(com_without_classes)
{
    CHECK(CoInitializeEx(nullptr, COINIT_MULTITHREADED) == S_OK);
    CHECK(CoInitializeEx(&cases(), COINIT_MULTITHREADED) == E_INVALIDARG);
    void* object = &object;
    const GUID some = __uuidof(IUnknown);
    CHECK(CoCreateInstance(some, nullptr, CLSCTX_ALL, IID_PPV_ARGS(reinterpret_cast<IUnknown**>(&object))) < 0);
    CHECK(object == nullptr);
    void* memory = CoTaskMemAlloc(0);
    CHECK(memory != nullptr);
    memory = CoTaskMemRealloc(memory, 100);
    std::memset(memory, 1, 100);
    CoTaskMemFree(memory);
    CHECK(CoTaskMemRealloc(CoTaskMemAlloc(8), 0) == nullptr);
    CHECK(IsEqualGUID(some, __uuidof(IUnknown)) && !IsEqualIID(some, __uuidof(IDXGIDebug)));
    IDXGIDebug1* debug = nullptr;
    CHECK(DXGIGetDebugInterface1(0, IID_PPV_ARGS(&debug)) == E_NOINTERFACE && debug == nullptr);
    CoUninitialize();
}

CASE(types_of_messages)
{
    const byte full = 255;
    static_assert(sizeof(LPARAM) == 8 && sizeof(WPARAM) == 8 && sizeof(LRESULT) == 8, "as wide as pointers");
    static_assert(static_cast<LPARAM>(-1) < 0 && static_cast<WPARAM>(-1) > 0, "as signed as on Windows");
    CHECK(full + 1 == 256);
}

CASE(atl_pointers_count)
{
    Counted object, other;
    {
        CComPtr<IUnknown> first(&object);
        CComPtr<IUnknown> second = first;
        CHECK(object.references == 2 && first == second);
        second = &other;
        CHECK(object.references == 1 && other.references == 1);
        const CComPtr<IUnknown>& same = second;
        second = same;
        CHECK(other.references == 1);
        first = std::move(second);
        CHECK(object.references == 0 && other.references == 1 && !second.IsEqualObject(&other));
        CComPtr<IUnknown> third;
        CHECK(SUCCEEDED(first.QueryInterface(&third)) && third.IsEqualObject(&other) && other.references == 2);
        CComPtr<IUnknown> fourth;
        CHECK(SUCCEEDED(third.CopyTo(&fourth)) && other.references == 3);
        fourth.Attach(third.Detach());
        CHECK(other.references == 2 && third == nullptr);
        CComQIPtr<IUnknown> fifth(static_cast<IUnknown*>(&object));
        CHECK(object.references == 1);
        CComQIPtr<IDXGIDebug> none(static_cast<IUnknown*>(&object));
        CHECK(none == nullptr && object.references == 1);
    }
    CHECK(object.references == 0 && other.references == 0);
}

CASE(wrl_events_close_themselves)
{
    using Microsoft::WRL::Wrappers::Event;
    const int before = open_descriptors();
    {
        Event event(CreateEventEx(nullptr, nullptr, 0, EVENT_ALL_ACCESS));
        CHECK(event.IsValid());
        SetEvent(event.Get());
        CHECK(WaitForSingleObject(event.Get(), 0) == WAIT_OBJECT_0);
        Event moved(std::move(event));
        CHECK(moved.IsValid() && !event.IsValid());
        event.Attach(CreateEvent(nullptr, FALSE, FALSE, nullptr));
        event = std::move(moved);
        CHECK(open_descriptors() == before + 1);
    }
    CHECK(open_descriptors() == before);
}

CASE(pix_events_have_texts)
{
    Recorder list;
    PIXBeginEvent(&list, PIX_COLOR(255, 255, 0), "HLSL: '%s' %d", "name", 7);
    {
        PIXScopedEvent(&list, PIX_COLOR_DEFAULT, "inner %u", 3u);
        PIXSetMarker(&list, 0, L"wide %d \u20ac", 5);
    }
    PIXEndEvent(&list);
    PIXBeginEvent(0, "of the processor %d", 1);
    {
        PIXScopedEvent(PIX_COLOR_INDEX(2), L"of the processor");
    }
    PIXEndEvent();
    const std::vector<std::string> told = {
        "begin HLSL: 'name' 7", "begin inner 3", "mark wide 5 \xe2\x82\xac", "end", "end"};
    CHECK(list.calls == told);
    CHECK(PIX_COLOR(1, 2, 3) == 0xff010203u);
}
