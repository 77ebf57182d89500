/* streams ARGUMENT...: its arguments, one a line, and then what it reads. */

#include <windows.h>

#include <stdio.h>

int wmain(int count, wchar_t** words)
{
    char text[4096];
    DWORD size = 0;
    const HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
    for (int i = 1; i < count; i++)
    {
        const int length = WideCharToMultiByte(CP_UTF8, 0, words[i], -1, text, sizeof text, NULL, NULL);
        text[length - 1] = '\n';
        WriteFile(out, text, (DWORD)length, &size, NULL);
    }
    while (ReadFile(in, text, sizeof text, &size, NULL) && size > 0)
        WriteFile(out, text, size, &size, NULL);
    return 0;
}
