// <d3d12.h> of this folder, if it came first, has told them already.
#ifdef DIRECTML_UUIDS
#undef DML_UUID
#define DML_UUID(type, a, b, c, ...)
#else
#define DIRECTML_UUIDS
#endif
