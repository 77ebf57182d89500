// Constants with Visual C++'s suffixes, as in the first samples of DirectML.

#include <windows.h>

#include "expect.h"

#include <type_traits>

int main()
{
    constexpr UINT64 size = 10;
    static_assert(((size + 3) & ~3ui64) == 12);
    static_assert(0xffffffffffffffffui64 == UINT64_MAX && 0x7fffffffi32 == INT32_MAX);
    static_assert(sizeof(1i8) == 1 && sizeof(1ui16) == 2 && sizeof(1ui32) == 4 && sizeof(1i64) == 8);
    static_assert(std::is_signed_v<decltype(1i64)> && std::is_unsigned_v<decltype(1ui8)>);
    EXPECT(1ui64 << 40 == 1099511627776ull);
}
