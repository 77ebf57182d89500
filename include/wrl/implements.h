// MIT License, Copyright (c) the directml-py authors.
//
// <wrl/implements.h>: RuntimeClass and MakeAndInitialize over the DirectX headers' Base and Make. There are no classes of
// the Windows Runtime, no weak references and no marshalling: of the flags all mean ClassicCom.

#ifdef _WIN32
#include_next <wrl/implements.h>
#else

#ifndef DIRECTML_WRL_IMPLEMENTS_H
#define DIRECTML_WRL_IMPLEMENTS_H

#include <windows.h>

#include <wsl/wrladapter.h>

#include <utility>

namespace Microsoft
{
    namespace WRL
    {
        enum RuntimeClassType
        {
            WinRt = 0x1,
            ClassicCom = 0x2,
            WinRtClassicComMix = WinRt | ClassicCom,
            InhibitWeakReference = 0x4,
            Delegate = ClassicCom,
            InhibitFtmBase = 0x8,
            InhibitRoOriginateError = 0x10
        };

        template <unsigned int Flags>
        struct RuntimeClassFlags
        {
            static constexpr unsigned int value = Flags;
        };

        template <typename... Interfaces>
        class RuntimeClass : public Base<Interfaces...>
        {
        public:
            using RuntimeClassT = RuntimeClass;
        };

        template <unsigned int Flags, typename... Interfaces>
        class RuntimeClass<RuntimeClassFlags<Flags>, Interfaces...> : public Base<Interfaces...>
        {
        public:
            using RuntimeClassT = RuntimeClass;
        };

        template <typename... Interfaces>
        using Implements = Details::Implements<Interfaces...>;

        // The object after RuntimeClassInitialize(arguments...), as an interface.
        template <typename T, typename I, typename... Arguments>
        HRESULT MakeAndInitialize(I** result, Arguments&&... arguments)
        {
            *result = nullptr;
            ComPtr<T> object = Make<T>();
            if (object == nullptr)
                return E_OUTOFMEMORY;
            const HRESULT initialized = object->RuntimeClassInitialize(std::forward<Arguments>(arguments)...);
            if (FAILED(initialized))
                return initialized;
            *result = object.Detach();
            return S_OK;
        }

        template <typename T, typename I, typename... Arguments>
        HRESULT MakeAndInitialize(Details::ComPtrRef<ComPtr<I>> result, Arguments&&... arguments)
        {
            return MakeAndInitialize<T>(result.ReleaseAndGetAddressOf(), std::forward<Arguments>(arguments)...);
        }
    }
}

#endif
#endif
