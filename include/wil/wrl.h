// MIT License, Copyright (c) the directml-py authors.
//
// The functions of the Windows Implementation Library that make objects of the Windows Runtime Library's classes, and
// throw what these return.

#ifndef DIRECTML_WIL_WRL_H
#define DIRECTML_WIL_WRL_H

#include "result_macros.h"

#include <wrl/client.h>
#include <wrl/implements.h>

#include <utility>

namespace wil
{
    template <typename T, typename... Arguments>
    Microsoft::WRL::ComPtr<T> MakeOrThrow(Arguments&&... arguments)
    {
        auto object = Microsoft::WRL::Make<T>(std::forward<Arguments>(arguments)...);
        THROW_IF_NULL_ALLOC(object.Get());
        return object;
    }

    template <typename T, typename... Arguments>
    Microsoft::WRL::ComPtr<T> MakeAndInitializeOrThrow(Arguments&&... arguments)
    {
        Microsoft::WRL::ComPtr<T> object;
        THROW_IF_FAILED(Microsoft::WRL::MakeAndInitialize<T>(
            object.ReleaseAndGetAddressOf(), std::forward<Arguments>(arguments)...));
        return object;
    }
}

#endif
