#ifdef __cplusplus

// As on Windows, an enumeration can hold every 32-bit value.
#define DML_ENUM_BASE : INT
#define DML_ENUM_SIZE(type) static_assert(sizeof(type) == 4, "enumerations take 4 bytes")
#define DML_IID_CONSTANT inline constexpr GUID

#else

#define DML_ENUM_BASE
#define DML_ENUM_SIZE(type) _Static_assert(sizeof(type) == 4, "enumerations take 4 bytes; mind -fshort-enums")
#ifdef __GNUC__
#define DML_IID_CONSTANT static const GUID __attribute__((unused))
#else
#define DML_IID_CONSTANT static const GUID
#endif

#endif // __cplusplus

// A program's own constants of the same names need DIRECTML_NO_IIDS.
#ifdef DIRECTML_NO_IIDS
#define DML_IID(type, a, b, c, ...) DML_UUID(type, a, b, c, __VA_ARGS__)
#else
#define DML_IID(type, a, b, c, ...) \
    DML_IID_CONSTANT IID_##type = {a, b, c, {__VA_ARGS__}}; \
    DML_UUID(type, a, b, c, __VA_ARGS__)
#endif
