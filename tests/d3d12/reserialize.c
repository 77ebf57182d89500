/* Reads serialized root signatures, each after its size in four bytes, from a file, and prints what d3d12.dll makes of
   each: deserialized and serialized again, as it is and in version 1.0. */

#define COBJMACROS
#include <initguid.h>
#include <windows.h>

#include <d3d12.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const D3D12_VERSIONED_ROOT_SIGNATURE_DESC *desc)
{
    ID3DBlob *blob = NULL;
    const HRESULT result = D3D12SerializeVersionedRootSignature(desc, &blob, NULL);
    if (FAILED(result)) {
        printf("not serialized: %08lx\n", result);
        return;
    }
    const unsigned char *bytes = ID3D10Blob_GetBufferPointer(blob);
    for (SIZE_T i = 0; i < ID3D10Blob_GetBufferSize(blob); i++)
        printf("%02x", bytes[i]);
    printf("\n");
    ID3D10Blob_Release(blob);
}

int main(int count, char **arguments)
{
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    unsigned size;
    if (file == NULL)
        return 1;
    while (fread(&size, sizeof size, 1, file) == 1) {
        void *bytes = malloc(size);
        ID3D12VersionedRootSignatureDeserializer *found = NULL;
        const D3D12_VERSIONED_ROOT_SIGNATURE_DESC *older = NULL;
        if (fread(bytes, 1, size, file) != size)
            return 1;
        const HRESULT result = D3D12CreateVersionedRootSignatureDeserializer(
            bytes, size, &IID_ID3D12VersionedRootSignatureDeserializer, (void **)&found);
        if (FAILED(result)) {
            printf("not deserialized: %08lx\n", result);
            return 1;
        }
        print(ID3D12VersionedRootSignatureDeserializer_GetUnconvertedRootSignatureDesc(found));
        ID3D12VersionedRootSignatureDeserializer_GetRootSignatureDescAtVersion(
            found, D3D_ROOT_SIGNATURE_VERSION_1_0, &older);
        print(older);
        ID3D12VersionedRootSignatureDeserializer_Release(found);
        free(bytes);
    }
    return 0;
}
