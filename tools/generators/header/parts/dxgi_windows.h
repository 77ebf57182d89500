#include <wsl/winadapter.h>
#include <rpcndr.h>
#include <directx/dxgiformat.h>
#include <directx/dxgicommon.h>

typedef HANDLE HMODULE;
typedef UINT DXGI_USAGE;

#define DXGI_CREATE_FACTORY_DEBUG 0x1
#define DXGI_MWA_NO_WINDOW_CHANGES 0x1
#define DXGI_MWA_NO_ALT_ENTER 0x2
#define DXGI_MWA_NO_PRINT_SCREEN 0x4
