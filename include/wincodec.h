// MIT License, Copyright (c) the directml-py authors.
//
// <wincodec.h> for programs that only name its interfaces: there are no codecs, and their factory cannot be created.

#ifdef _WIN32
#include_next <wincodec.h>
#else

#ifndef DIRECTML_WINCODEC_H
#define DIRECTML_WINCODEC_H

#include <windows.h>

typedef GUID WICPixelFormatGUID;
typedef const GUID* REFWICPixelFormatGUID;

typedef struct IWICBitmap IWICBitmap;
typedef struct IWICBitmapDecoder IWICBitmapDecoder;
typedef struct IWICBitmapEncoder IWICBitmapEncoder;
typedef struct IWICBitmapFrameDecode IWICBitmapFrameDecode;
typedef struct IWICBitmapFrameEncode IWICBitmapFrameEncode;
typedef struct IWICBitmapScaler IWICBitmapScaler;
typedef struct IWICBitmapSource IWICBitmapSource;
typedef struct IWICFormatConverter IWICFormatConverter;
typedef struct IWICImagingFactory IWICImagingFactory;
typedef struct IWICStream IWICStream;

#ifdef __cplusplus
#define DIRECTML_WIC_GUID inline constexpr GUID
#else
#define DIRECTML_WIC_GUID static const GUID __attribute__((unused))
#endif

DIRECTML_WIC_GUID CLSID_WICImagingFactory = {
    0xcacaf262, 0x9370, 0x4615, {0xa1, 0x3b, 0x9f, 0x55, 0x39, 0xda, 0x4c, 0x0a}};
DIRECTML_WIC_GUID GUID_WICPixelFormat8bppGray = {
    0x6fddc324, 0x4e03, 0x4bfe, {0xb1, 0x85, 0x3d, 0x77, 0x76, 0x8d, 0xc9, 0x08}};
DIRECTML_WIC_GUID GUID_WICPixelFormat24bppBGR = {
    0x6fddc324, 0x4e03, 0x4bfe, {0xb1, 0x85, 0x3d, 0x77, 0x76, 0x8d, 0xc9, 0x0c}};
DIRECTML_WIC_GUID GUID_WICPixelFormat24bppRGB = {
    0x6fddc324, 0x4e03, 0x4bfe, {0xb1, 0x85, 0x3d, 0x77, 0x76, 0x8d, 0xc9, 0x0d}};
DIRECTML_WIC_GUID GUID_WICPixelFormat32bppBGRA = {
    0x6fddc324, 0x4e03, 0x4bfe, {0xb1, 0x85, 0x3d, 0x77, 0x76, 0x8d, 0xc9, 0x0f}};

#undef DIRECTML_WIC_GUID

#endif
#endif
