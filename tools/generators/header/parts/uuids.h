// The types that __uuidof supports. With the DirectX headers this is the primary case of their template, so that a
// program may itself specialize an interface by WINADAPTER_IID, before or after.
#if defined(__cplusplus) && defined(__wsl_stub_uuidof_use_constexpr)

#ifndef DIRECTML_UUID_OF
#define DIRECTML_UUID_OF
extern "C++"
{
    template <typename T>
    struct DMLUuidOf;

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
