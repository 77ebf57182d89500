// MIT License, Copyright (c) the directml-py authors.
//
// Handles that close themselves, in the manner of the Windows Runtime Library.

#ifdef _WIN32
#include_next <wrl/wrappers/corewrappers.h>
#else

#ifndef DIRECTML_WRL_COREWRAPPERS_H
#define DIRECTML_WRL_COREWRAPPERS_H

#include <windows.h>

namespace Microsoft
{
    namespace WRL
    {
        namespace Wrappers
        {
            namespace HandleTraits
            {
                // The invalid value of a handle, and how to close it.
                struct HANDLENullTraits
                {
                    typedef HANDLE Type;

                    static bool Close(Type handle) noexcept
                    {
                        return ::CloseHandle(handle) != FALSE;
                    }

                    static Type GetInvalidValue() noexcept
                    {
                        return nullptr;
                    }
                };

                struct HANDLETraits : HANDLENullTraits
                {
                    static Type GetInvalidValue() noexcept
                    {
                        return INVALID_HANDLE_VALUE;
                    }
                };

                struct EventTraits : HANDLENullTraits
                {
                };
            }

            template <typename HandleTraitsT>
            class HandleT
            {
            public:
                typedef HandleTraitsT Traits;
                typedef typename HandleTraitsT::Type Type;

                explicit HandleT(Type handle = HandleTraitsT::GetInvalidValue()) noexcept : handle_(handle)
                {
                }

                HandleT(const HandleT&) = delete;
                HandleT& operator=(const HandleT&) = delete;

                HandleT(HandleT&& other) noexcept : handle_(other.Detach())
                {
                }

                HandleT& operator=(HandleT&& other) noexcept
                {
                    if (this != &other)
                        Attach(other.Detach());
                    return *this;
                }

                ~HandleT()
                {
                    Close();
                }

                bool IsValid() const noexcept
                {
                    return handle_ != Traits::GetInvalidValue();
                }

                Type Get() const noexcept
                {
                    return handle_;
                }

                void Attach(Type handle) noexcept
                {
                    if (handle != handle_)
                    {
                        Close();
                        handle_ = handle;
                    }
                }

                Type Detach() noexcept
                {
                    const Type handle = handle_;
                    handle_ = Traits::GetInvalidValue();
                    return handle;
                }

                Type* GetAddressOf() noexcept
                {
                    return &handle_;
                }

                Type* ReleaseAndGetAddressOf() noexcept
                {
                    Close();
                    return &handle_;
                }

                void Close() noexcept
                {
                    if (IsValid())
                        Traits::Close(Detach());
                }

            private:
                Type handle_;
            };

            typedef HandleT<HandleTraits::HANDLENullTraits> HandleNull;
            typedef HandleT<HandleTraits::HANDLETraits> Handle;
            typedef HandleT<HandleTraits::EventTraits> Event;
        }
    }
}

#endif
#endif
