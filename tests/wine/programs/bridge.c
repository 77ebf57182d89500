/* bridge [DIRECTORY]: how a program finds the functions: by name and by number, from system32 alone, and never those of a
   DirectML.dll that lies in DIRECTORY. */

#define COBJMACROS
#define INITGUID

#include <windows.h>

#include <d3d12.h>

#include <stdio.h>
#include <wchar.h>

typedef HRESULT(WINAPI* Create)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);
typedef HRESULT(WINAPI* CreateDml)(ID3D12Device*, int, REFIID, void**);
typedef HRESULT(WINAPI* CreateFactory)(REFIID, void**);

static const GUID dml_device_id = {0x6dbd6437, 0x96fd, 0x423f, {0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f}};
static const GUID adapter_factory_id = {0x78ee5945, 0xc36e, 0x4b13, {0xa6, 0x69, 0x00, 0x5d, 0xd1, 0x1c, 0x0f, 0x06}};
static int failed;

static void check(const char* name, int holds)
{
    printf("%s %s\n", holds ? "ok" : "FAIL", name);
    failed += !holds;
}

/* Whether the functions of these names have these numbers. */
static void test_number(HMODULE module, int number, const char* name)
{
    const FARPROC found = GetProcAddress(module, (const char*)(UINT_PTR)number);
    check(name, found != NULL && found == GetProcAddress(module, name));
}

static void test_numbers(HMODULE d3d12, HMODULE directml)
{
    test_number(d3d12, 101, "D3D12CreateDevice");
    test_number(d3d12, 102, "D3D12GetDebugInterface");
    test_number(d3d12, 109, "D3D12SerializeRootSignature");
    test_number(directml, 1, "DMLCreateDevice");
    test_number(directml, 2, "DMLCreateDevice1");
    check("there is no number 3", GetProcAddress(directml, (const char*)3) == NULL);
}

static void test_version(void)
{
    char data[4096];
    VS_FIXEDFILEINFO* info = NULL;
    UINT size = 0;
    const BOOL found = GetFileVersionInfoW(L"DirectML.dll", 0, sizeof data, data)
                       && VerQueryValueW(data, L"\\", (void**)&info, &size);
    check("DirectML.dll has version 1.15", found && info->dwFileVersionMS == MAKELONG(15, 1));
}

/* As ONNX Runtime's provider loads it. */
static void test_dxcore(void)
{
    const HMODULE dxcore = LoadLibraryExW(L"dxcore.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    const CreateFactory create
        = dxcore == NULL ? NULL : (CreateFactory)(void*)GetProcAddress(dxcore, "DXCoreCreateAdapterFactory");
    IUnknown* factory = NULL;
    check("dxcore.dll is in system32", create != NULL);
    check("it has adapters", create != NULL && SUCCEEDED(create(&adapter_factory_id, (void**)&factory)));
    if (factory != NULL)
        IUnknown_Release(factory);
}

/* Creates and releases a device with what DLLs hold. */
static void test_device(HMODULE d3d12, HMODULE directml, const char* name)
{
    const Create create = (Create)(void*)GetProcAddress(d3d12, "D3D12CreateDevice");
    const CreateDml create_dml = (CreateDml)(void*)GetProcAddress(directml, "DMLCreateDevice");
    ID3D12Device* device = NULL;
    IUnknown* dml = NULL;
    check(
        name,
        create != NULL && create_dml != NULL
            && SUCCEEDED(create(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void**)&device))
            && SUCCEEDED(create_dml(device, 0, &dml_device_id, (void**)&dml)));
    if (dml != NULL)
        IUnknown_Release(dml);
    if (device != NULL)
        ID3D12Device_Release(device);
}

int wmain(int count, wchar_t** words)
{
    const wchar_t* const folder = count > 1 ? words[1] : L"";
    wchar_t path[MAX_PATH];
    _snwprintf(path, MAX_PATH, L"%s\\DirectML.dll", folder);
    for (int round = 0; round < 2; round++)
    {
        const HMODULE d3d12 = LoadLibraryW(L"d3d12.dll"), directml = LoadLibraryW(L"DirectML.dll");
        test_numbers(d3d12, directml);
        test_device(d3d12, directml, "a device by the names of the DLLs");
        FreeLibrary(directml);
        FreeLibrary(d3d12);
    }
    const HMODULE d3d12 = LoadLibraryW(L"d3d12.dll"), directml = LoadLibraryW(path);
    check("the DirectML.dll of that path is another one", GetProcAddress(directml, "shipped") == NULL);
    test_device(d3d12, directml, "a device by a path");
    test_version();
    test_dxcore();
    return failed;
}
