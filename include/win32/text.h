// MIT License, Copyright (c) the directml-py authors.
//
// Text: UTF-8 and wide characters. A WCHAR of Linux has 32 bits, so that one holds any character. The ANSI code page is
// UTF-8 too, whatever the locale.

#ifndef DIRECTML_WIN32_TEXT_H
#define DIRECTML_WIN32_TEXT_H

#include "errors.h"
#include "types.h"

#define CP_ACP 0
#define CP_UTF8 65001
#define MB_PRECOMPOSED 0x1
#define MB_ERR_INVALID_CHARS 0x8
#define WC_ERR_INVALID_CHARS 0x80

// Replaces invalid characters, unless the caller requests an error.
#define DIRECTML_WIN32_REPLACEMENT 0xfffdu

// The length of the UTF-8 sequence at text, which has `bytes` bytes left, and its character; 0 if it is invalid.
DIRECTML_WIN32_FUNCTION int directml_win32_decode(const unsigned char* text, size_t bytes, uint32_t* character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = text[0];
    const int length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length == 0 || (size_t)length > bytes)
        return 0;
    uint32_t value = length == 1 ? first : first & (0x7fu >> length);
    for (int i = 1; i < length; ++i)
    {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *character = value;
    return length;
}

// Encodes a character in UTF-8; bytes has room for four.
DIRECTML_WIN32_FUNCTION int directml_win32_encode(uint32_t character, unsigned char* bytes)
{
    const int length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; --i)
    {
        bytes[i] = (unsigned char)(0x80u | (character & 0x3fu));
        character >>= 6;
    }
    bytes[0] = (unsigned char)(length == 1 ? character : (0xf00u >> length & 0xf0u) | character);
    return length;
}

DIRECTML_WIN32_FUNCTION int directml_win32_no_text(DWORD error)
{
    SetLastError(error);
    return 0;
}

DIRECTML_WIN32_FUNCTION int MultiByteToWideChar(
    UINT CodePage, DWORD dwFlags, LPCSTR lpMultiByteStr, int cbMultiByte, LPWSTR lpWideCharStr, int cchWideChar)
{
    if ((CodePage != CP_ACP && CodePage != CP_UTF8) || lpMultiByteStr == NULL || cbMultiByte == 0 || cchWideChar < 0 ||
        (cchWideChar != 0 && lpWideCharStr == NULL))
        return directml_win32_no_text(ERROR_INVALID_PARAMETER);
    const size_t bytes = cbMultiByte < 0 ? strlen(lpMultiByteStr) + 1 : (size_t)cbMultiByte;
    const unsigned char* const text = (const unsigned char*)lpMultiByteStr;
    int written = 0;
    for (size_t at = 0; at < bytes;)
    {
        uint32_t character = DIRECTML_WIN32_REPLACEMENT;
        const int length = directml_win32_decode(text + at, bytes - at, &character);
        if (length == 0 && (dwFlags & MB_ERR_INVALID_CHARS) != 0)
            return directml_win32_no_text(ERROR_NO_UNICODE_TRANSLATION);
        at += length == 0 ? 1 : (size_t)length;
        if (cchWideChar != 0)
        {
            if (written == cchWideChar)
                return directml_win32_no_text(ERROR_INSUFFICIENT_BUFFER);
            lpWideCharStr[written] = (WCHAR)character;
        }
        ++written;
    }
    return written;
}

DIRECTML_WIN32_FUNCTION int WideCharToMultiByte(
    UINT CodePage,
    DWORD dwFlags,
    LPCWSTR lpWideCharStr,
    int cchWideChar,
    LPSTR lpMultiByteStr,
    int cbMultiByte,
    LPCSTR lpDefaultChar,
    LPBOOL lpUsedDefaultChar)
{
    if ((CodePage != CP_ACP && CodePage != CP_UTF8) || lpWideCharStr == NULL || cchWideChar == 0 || cbMultiByte < 0 ||
        (cbMultiByte != 0 && lpMultiByteStr == NULL) || lpDefaultChar != NULL || lpUsedDefaultChar != NULL)
        return directml_win32_no_text(ERROR_INVALID_PARAMETER);
    int written = 0;
    for (size_t at = 0; cchWideChar < 0 || at < (size_t)cchWideChar; ++at)
    {
        uint32_t character = (uint32_t)lpWideCharStr[at];
        unsigned char bytes[4];
        if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
        {
            if ((dwFlags & WC_ERR_INVALID_CHARS) != 0)
                return directml_win32_no_text(ERROR_NO_UNICODE_TRANSLATION);
            character = DIRECTML_WIN32_REPLACEMENT;
        }
        const int length = directml_win32_encode(character, bytes);
        if (cbMultiByte != 0)
        {
            if (length > cbMultiByte - written)
                return directml_win32_no_text(ERROR_INSUFFICIENT_BUFFER);
            memcpy(lpMultiByteStr + written, bytes, (size_t)length);
        }
        written += length;
        if (cchWideChar < 0 && character == 0)
            break;
    }
    return written;
}

#endif
