// The types that __uuidof supports. With the DirectX headers this is the primary case of their template, so that a
// program may itself specialize an interface by WINADAPTER_IID, before or after.
#if defined(__cplusplus) && defined(__wsl_stub_uuidof_use_constexpr)

#ifndef DIRECTML_UUID_OF
#define DIRECTML_UUID_OF
extern "C++"
{
    // A program's own interface has a __declspec(uuid), which clang++ -fms-extensions knows.
#if defined(__clang__) && defined(__is_identifier)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wlanguage-extension-token"
#pragma push_macro("__uuidof")
#undef __uuidof
#if !__is_identifier(__uuidof)
#define DIRECTML_HAS_UUIDOF
    template <typename T>
    struct DMLUuidOf
    {
        static constexpr const GUID& value = __uuidof(T);
    };
#endif
#pragma pop_macro("__uuidof")
#pragma clang diagnostic pop
#endif

#ifndef DIRECTML_HAS_UUIDOF
    template <typename T>
    struct DMLUuidOf;
#endif

    template <typename T>
#if __wsl_stub_uuidof_use_constexpr
    constexpr const GUID& __wsl_stub_uuidof()
#else
    inline const GUID& __wsl_stub_uuidof()
#endif
    {
        return DMLUuidOf<T>::value;
    }

    template <typename T>
    struct DMLUuidOf<T*>
    {
        static constexpr const GUID& value = __wsl_stub_uuidof<T>();
    };

    template <typename T>
    struct DMLUuidOf<const T> : DMLUuidOf<T*>
    {
    };

    // As in Visual C++, __uuidof of a smart pointer is that of its interface.
    template <template <typename...> class Pointer, typename T, typename... Rest>
    struct DMLUuidOf<Pointer<T, Rest...>> : DMLUuidOf<T*>
    {
    };
}
#endif

#define DML_UUID(type, a, b, c, ...)                              \
    extern "C++"                                                  \
    {                                                             \
        template <>                                               \
        struct DMLUuidOf<type>                                    \
        {                                                         \
            static constexpr GUID value = {a, b, c, {__VA_ARGS__}}; \
        };                                                        \
    }

#elif defined(__cplusplus) && defined(__CRT_UUID_DECL)
#define DML_UUID(type, a, b, c, ...) __CRT_UUID_DECL(type, a, b, c, __VA_ARGS__)
#else
#define DML_UUID(type, a, b, c, ...)
#endif
