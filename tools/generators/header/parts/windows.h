#ifndef __d3d12_h__
#if defined(_WIN32)
#include <d3d12.h>
#elif defined(__has_include) && !defined(DIRECTML_NO_D3D12_H)
#if __has_include(<wsl/winadapter.h>) && __has_include(<rpcndr.h>) && __has_include(<directx/d3d12.h>)
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#endif
#endif
#endif

// Windows' compilers have __uuidof(ID3D12Device) built in; for others it is defined here.
#if defined(__cplusplus) && !defined(CINTERFACE) && !defined(_WIN32) && defined(__d3d12_h__) && defined(__has_include)
#if __has_include(<dxguids/dxguids.h>)
extern "C++"
{
#include <dxguids/dxguids.h>
}
#endif
#endif

#ifndef __IUnknown_INTERFACE_DEFINED__

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t BYTE, UINT8;
typedef int8_t INT8;
typedef uint16_t UINT16;
typedef int16_t INT16;
typedef uint32_t UINT, UINT32, ULONG;
typedef int32_t INT, INT32, LONG, BOOL, HRESULT;
typedef uint64_t UINT64;
typedef int64_t INT64;
typedef size_t SIZE_T;
typedef float FLOAT;
typedef double DOUBLE;
typedef wchar_t WCHAR;
typedef const WCHAR* PCWSTR;
typedef const WCHAR* LPCWSTR;

typedef struct _GUID
{
    uint32_t Data1;
    uint16_t Data2;
    uint16_t Data3;
    uint8_t Data4[8];
} GUID;
typedef GUID IID;

typedef struct IUnknown IUnknown;

#ifndef TRUE
#define TRUE 1
#define FALSE 0
#endif

#define SUCCEEDED(hr) ((HRESULT)(hr) >= 0)
#define FAILED(hr) ((HRESULT)(hr) < 0)
#define S_OK ((HRESULT)0)
#define S_FALSE ((HRESULT)1)
#define E_NOTIMPL ((HRESULT)0x80004001u)
#define E_NOINTERFACE ((HRESULT)0x80004002u)
#define E_POINTER ((HRESULT)0x80004003u)
#define E_ABORT ((HRESULT)0x80004004u)
#define E_FAIL ((HRESULT)0x80004005u)
#define E_UNEXPECTED ((HRESULT)0x8000ffffu)
#define E_ACCESSDENIED ((HRESULT)0x80070005u)
#define E_OUTOFMEMORY ((HRESULT)0x8007000eu)
#define E_INVALIDARG ((HRESULT)0x80070057u)
#define DXGI_ERROR_INVALID_CALL ((HRESULT)0x887a0001u)
#define DXGI_ERROR_NOT_FOUND ((HRESULT)0x887a0002u)
#define DXGI_ERROR_MORE_DATA ((HRESULT)0x887a0003u)
#define DXGI_ERROR_UNSUPPORTED ((HRESULT)0x887a0004u)
#define DXGI_ERROR_DEVICE_REMOVED ((HRESULT)0x887a0005u)
#define DXGI_ERROR_DEVICE_HUNG ((HRESULT)0x887a0006u)
#define DXGI_ERROR_DEVICE_RESET ((HRESULT)0x887a0007u)
#define DXGI_ERROR_DRIVER_INTERNAL_ERROR ((HRESULT)0x887a0020u)

#define STDMETHODCALLTYPE
#define STDAPICALLTYPE
#ifdef __cplusplus
#define EXTERN_C extern "C"
#else
#define EXTERN_C extern
#endif
#define STDAPI EXTERN_C HRESULT STDAPICALLTYPE
#define MIDL_INTERFACE(iid) struct

#ifdef __cplusplus

typedef const GUID& REFGUID;
typedef const IID& REFIID;

// The result of __uuidof: the identifier of an interface, also through pointers, references and const.
extern "C++"
{
    template <typename T>
    struct DMLUuid;

    template <typename T>
    struct DMLUuid<T*> : DMLUuid<T>
    {
    };

    template <typename T>
    struct DMLUuid<T&> : DMLUuid<T>
    {
    };

    template <typename T>
    struct DMLUuid<const T> : DMLUuid<T>
    {
    };

    inline bool operator==(REFGUID a, REFGUID b)
    {
        return memcmp(&a, &b, sizeof(GUID)) == 0;
    }

    inline bool operator!=(REFGUID a, REFGUID b)
    {
        return !(a == b);
    }
}

#define __uuidof(type) (DMLUuid<__typeof__(type)>::value)
#define __CRT_UUID_DECL(type, a, b, c, d0, d1, d2, d3, d4, d5, d6, d7)                 \
    extern "C++"                                                                       \
    {                                                                                  \
        template <>                                                                    \
        struct DMLUuid<type>                                                           \
        {                                                                              \
            static constexpr GUID value = {a, b, c, {d0, d1, d2, d3, d4, d5, d6, d7}}; \
        };                                                                             \
    }

#define DEFINE_ENUM_FLAG_OPERATORS(type)                                                        \
    extern "C++"                                                                                \
    {                                                                                           \
        constexpr type operator|(type a, type b) { return static_cast<type>(INT(a) | INT(b)); } \
        constexpr type operator&(type a, type b) { return static_cast<type>(INT(a) & INT(b)); } \
        constexpr type operator^(type a, type b) { return static_cast<type>(INT(a) ^ INT(b)); } \
        constexpr type operator~(type a) { return static_cast<type>(~INT(a)); }                 \
        constexpr type& operator|=(type& a, type b) { return a = a | b; }                       \
        constexpr type& operator&=(type& a, type b) { return a = a & b; }                       \
        constexpr type& operator^=(type& a, type b) { return a = a ^ b; }                       \
    }

#else

typedef const GUID* REFGUID;
typedef const IID* REFIID;

#define DEFINE_ENUM_FLAG_OPERATORS(type)

#endif // __cplusplus

#if defined(__cplusplus) && !defined(CINTERFACE)

extern "C++"
{
    struct IUnknown
    {
        virtual HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppvObject) = 0;

        virtual ULONG STDMETHODCALLTYPE AddRef() = 0;

        virtual ULONG STDMETHODCALLTYPE Release() = 0;

        template <typename T>
        HRESULT STDMETHODCALLTYPE QueryInterface(T** object)
        {
            return QueryInterface(__uuidof(T), reinterpret_cast<void**>(object));
        }
    };

    // Accepts only pointers to interfaces.
    template <typename T>
    void** DMLInterfacePointer(T** object)
    {
        static_cast<void>(static_cast<IUnknown*>(*object));
        return reinterpret_cast<void**>(object);
    }
}

__CRT_UUID_DECL(IUnknown, 0x00000000, 0x0000, 0x0000, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46)

#define IID_PPV_ARGS(object) __uuidof(**(object)), DMLInterfacePointer(object)

#else

typedef struct IUnknownVtbl
{
    HRESULT (STDMETHODCALLTYPE* QueryInterface)(IUnknown* This, REFIID riid, void** ppvObject);
    ULONG (STDMETHODCALLTYPE* AddRef)(IUnknown* This);
    ULONG (STDMETHODCALLTYPE* Release)(IUnknown* This);
} IUnknownVtbl;

struct IUnknown
{
    const IUnknownVtbl* lpVtbl;
};

#ifdef COBJMACROS
#define IUnknown_QueryInterface(This, ...) ((This)->lpVtbl->QueryInterface((This), __VA_ARGS__))
#define IUnknown_AddRef(This) ((This)->lpVtbl->AddRef(This))
#define IUnknown_Release(This) ((This)->lpVtbl->Release(This))
#endif

#endif // __cplusplus

#endif // __IUnknown_INTERFACE_DEFINED__

#ifndef __d3d12_h__

typedef struct ID3D12CommandList ID3D12CommandList;
typedef struct ID3D12Device ID3D12Device;
typedef struct ID3D12Resource ID3D12Resource;

typedef struct D3D12_CPU_DESCRIPTOR_HANDLE
{
    SIZE_T ptr;
} D3D12_CPU_DESCRIPTOR_HANDLE;

typedef struct D3D12_GPU_DESCRIPTOR_HANDLE
{
    UINT64 ptr;
} D3D12_GPU_DESCRIPTOR_HANDLE;

#endif // __d3d12_h__
