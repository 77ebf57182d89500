#include <windows.h>

extern "C" int use_in_c(HANDLE signalled);

int main()
{
    const int failure = use_in_c(CreateEvent(nullptr, FALSE, TRUE, nullptr));
    return failure != 0 ? failure : GetLastError() == ERROR_CANCELLED ? 0 : 6;
}
