// If <d3d12.h> of this folder came first, they are already defined.
#ifdef DIRECTML_UUIDS
#undef DML_UUID
#define DML_UUID(type, a, b, c, ...)
#else
#define DIRECTML_UUIDS
#endif
