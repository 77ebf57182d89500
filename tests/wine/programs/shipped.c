/* A DLL in the place of Microsoft's DirectML.dll, which a program has beside itself. */

#include <windows.h>

__declspec(dllexport) int shipped(void);
__declspec(dllexport) int shipped(void)
{
    return 1;
}

__declspec(dllexport) HRESULT DMLCreateDevice(void);
__declspec(dllexport) HRESULT DMLCreateDevice(void)
{
    return E_FAIL;
}
