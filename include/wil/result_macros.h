// MIT License, Copyright (c) the directml-py authors.
//
// The error handling macros of the Windows Implementation Library (WIL), for Linux and C++17.
//
//   THROW_      throws a wil::ResultException
//   RETURN_     leaves the function with the HRESULT, and logs a failing one
//   LOG_        logs
//   FAIL_FAST_  logs and aborts
//
// Each of them acts always (_HR, _LAST_ERROR, _WIN32) or on a condition (_IF_FAILED, _HR_IF, _IF_NULL_ALLOC, ...). The
// conditional THROW_, LOG_ and FAIL_FAST_ macros are expressions and return what they tested. Arguments are evaluated
// once. Macros with _MSG also take a printf format and its arguments; RETURN_ macros with _EXPECTED do not log.
//
// The log is OutputDebugString's, the standard error stream; wil::g_fResultOutputDebugString = false makes it silent.

#ifndef DIRECTML_WIL_RESULT_MACROS_H
#define DIRECTML_WIL_RESULT_MACROS_H

#include "result_failures.h"

#define DIRECTML_WIL_SITE(code) (::wil::details::Site{__FILE__, __LINE__, __func__, code})

#define THROW_HR(hr) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#hr)).always(::wil::verify_hresult(hr))
#define THROW_HR_MSG(hr, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#hr)).always(::wil::verify_hresult(hr), __VA_ARGS__)
#define THROW_WIN32(error) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#error)).always_win32((error))
#define THROW_WIN32_MSG(error, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#error)).always_win32((error), __VA_ARGS__)
#define THROW_LAST_ERROR() \
    ::wil::details::Throw(DIRECTML_WIL_SITE("")).always_last_error()
#define THROW_LAST_ERROR_MSG(...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE("")).always_last_error(__VA_ARGS__)
#define THROW_IF_FAILED(hr) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#hr)).if_failed(::wil::verify_hresult(hr))
#define THROW_IF_FAILED_MSG(hr, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#hr)).if_failed(::wil::verify_hresult(hr), __VA_ARGS__)
#define THROW_IF_WIN32_ERROR(error) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#error)).if_win32_error((error))
#define THROW_IF_WIN32_ERROR_MSG(error, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#error)).if_win32_error((error), __VA_ARGS__)
#define THROW_IF_WIN32_BOOL_FALSE(value) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#value)).if_bool_false((value))
#define THROW_IF_WIN32_BOOL_FALSE_MSG(value, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#value)).if_bool_false((value), __VA_ARGS__)
#define THROW_IF_NULL_ALLOC(pointer) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#pointer)).hr_if_null(E_OUTOFMEMORY, (pointer))
#define THROW_IF_NULL_ALLOC_MSG(pointer, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#pointer)).hr_if_null(E_OUTOFMEMORY, (pointer), __VA_ARGS__)
#define THROW_HR_IF(hr, condition) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#condition)) \
        .hr_if(::wil::verify_hresult(hr), ::wil::verify_bool(condition))
#define THROW_HR_IF_MSG(hr, condition, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#condition)) \
        .hr_if(::wil::verify_hresult(hr), ::wil::verify_bool(condition), __VA_ARGS__)
#define THROW_HR_IF_NULL(hr, pointer) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#pointer)).hr_if_null(::wil::verify_hresult(hr), (pointer))
#define THROW_HR_IF_NULL_MSG(hr, pointer, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#pointer)).hr_if_null(::wil::verify_hresult(hr), (pointer), __VA_ARGS__)
#define THROW_LAST_ERROR_IF(condition) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#condition)).last_error_if(::wil::verify_bool(condition))
#define THROW_LAST_ERROR_IF_MSG(condition, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#condition)).last_error_if(::wil::verify_bool(condition), __VA_ARGS__)
#define THROW_LAST_ERROR_IF_NULL(pointer) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#pointer)).last_error_if_null((pointer))
#define THROW_LAST_ERROR_IF_NULL_MSG(pointer, ...) \
    ::wil::details::Throw(DIRECTML_WIL_SITE(#pointer)).last_error_if_null((pointer), __VA_ARGS__)

#define LOG_HR(hr) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#hr)).always(::wil::verify_hresult(hr))
#define LOG_HR_MSG(hr, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#hr)).always(::wil::verify_hresult(hr), __VA_ARGS__)
#define LOG_WIN32(error) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#error)).always_win32((error))
#define LOG_WIN32_MSG(error, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#error)).always_win32((error), __VA_ARGS__)
#define LOG_LAST_ERROR() \
    ::wil::details::Log(DIRECTML_WIL_SITE("")).always_last_error()
#define LOG_LAST_ERROR_MSG(...) \
    ::wil::details::Log(DIRECTML_WIL_SITE("")).always_last_error(__VA_ARGS__)
#define LOG_IF_FAILED(hr) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#hr)).if_failed(::wil::verify_hresult(hr))
#define LOG_IF_FAILED_MSG(hr, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#hr)).if_failed(::wil::verify_hresult(hr), __VA_ARGS__)
#define LOG_IF_WIN32_ERROR(error) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#error)).if_win32_error((error))
#define LOG_IF_WIN32_ERROR_MSG(error, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#error)).if_win32_error((error), __VA_ARGS__)
#define LOG_IF_WIN32_BOOL_FALSE(value) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#value)).if_bool_false((value))
#define LOG_IF_WIN32_BOOL_FALSE_MSG(value, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#value)).if_bool_false((value), __VA_ARGS__)
#define LOG_IF_NULL_ALLOC(pointer) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#pointer)).hr_if_null(E_OUTOFMEMORY, (pointer))
#define LOG_IF_NULL_ALLOC_MSG(pointer, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#pointer)).hr_if_null(E_OUTOFMEMORY, (pointer), __VA_ARGS__)
#define LOG_HR_IF(hr, condition) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#condition)).hr_if(::wil::verify_hresult(hr), ::wil::verify_bool(condition))
#define LOG_HR_IF_MSG(hr, condition, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#condition)) \
        .hr_if(::wil::verify_hresult(hr), ::wil::verify_bool(condition), __VA_ARGS__)
#define LOG_HR_IF_NULL(hr, pointer) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#pointer)).hr_if_null(::wil::verify_hresult(hr), (pointer))
#define LOG_HR_IF_NULL_MSG(hr, pointer, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#pointer)).hr_if_null(::wil::verify_hresult(hr), (pointer), __VA_ARGS__)
#define LOG_LAST_ERROR_IF(condition) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#condition)).last_error_if(::wil::verify_bool(condition))
#define LOG_LAST_ERROR_IF_MSG(condition, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#condition)).last_error_if(::wil::verify_bool(condition), __VA_ARGS__)
#define LOG_LAST_ERROR_IF_NULL(pointer) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#pointer)).last_error_if_null((pointer))
#define LOG_LAST_ERROR_IF_NULL_MSG(pointer, ...) \
    ::wil::details::Log(DIRECTML_WIL_SITE(#pointer)).last_error_if_null((pointer), __VA_ARGS__)

#define FAIL_FAST_HR(hr) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#hr)).always(::wil::verify_hresult(hr))
#define FAIL_FAST_HR_MSG(hr, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#hr)).always(::wil::verify_hresult(hr), __VA_ARGS__)
#define FAIL_FAST_WIN32(error) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#error)).always_win32((error))
#define FAIL_FAST_WIN32_MSG(error, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#error)).always_win32((error), __VA_ARGS__)
#define FAIL_FAST_LAST_ERROR() \
    ::wil::details::FailFast(DIRECTML_WIL_SITE("")).always_last_error()
#define FAIL_FAST_LAST_ERROR_MSG(...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE("")).always_last_error(__VA_ARGS__)
#define FAIL_FAST_IF_FAILED(hr) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#hr)).if_failed(::wil::verify_hresult(hr))
#define FAIL_FAST_IF_FAILED_MSG(hr, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#hr)).if_failed(::wil::verify_hresult(hr), __VA_ARGS__)
#define FAIL_FAST_IF_WIN32_ERROR(error) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#error)).if_win32_error((error))
#define FAIL_FAST_IF_WIN32_ERROR_MSG(error, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#error)).if_win32_error((error), __VA_ARGS__)
#define FAIL_FAST_IF_WIN32_BOOL_FALSE(value) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#value)).if_bool_false((value))
#define FAIL_FAST_IF_WIN32_BOOL_FALSE_MSG(value, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#value)).if_bool_false((value), __VA_ARGS__)
#define FAIL_FAST_IF_NULL_ALLOC(pointer) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#pointer)).hr_if_null(E_OUTOFMEMORY, (pointer))
#define FAIL_FAST_IF_NULL_ALLOC_MSG(pointer, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#pointer)).hr_if_null(E_OUTOFMEMORY, (pointer), __VA_ARGS__)
#define FAIL_FAST_HR_IF(hr, condition) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#condition)) \
        .hr_if(::wil::verify_hresult(hr), ::wil::verify_bool(condition))
#define FAIL_FAST_HR_IF_MSG(hr, condition, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#condition)) \
        .hr_if(::wil::verify_hresult(hr), ::wil::verify_bool(condition), __VA_ARGS__)
#define FAIL_FAST_HR_IF_NULL(hr, pointer) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#pointer)).hr_if_null(::wil::verify_hresult(hr), (pointer))
#define FAIL_FAST_HR_IF_NULL_MSG(hr, pointer, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#pointer)) \
        .hr_if_null(::wil::verify_hresult(hr), (pointer), __VA_ARGS__)
#define FAIL_FAST_LAST_ERROR_IF(condition) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#condition)).last_error_if(::wil::verify_bool(condition))
#define FAIL_FAST_LAST_ERROR_IF_MSG(condition, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#condition)).last_error_if(::wil::verify_bool(condition), __VA_ARGS__)
#define FAIL_FAST_LAST_ERROR_IF_NULL(pointer) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#pointer)).last_error_if_null((pointer))
#define FAIL_FAST_LAST_ERROR_IF_NULL_MSG(pointer, ...) \
    ::wil::details::FailFast(DIRECTML_WIL_SITE(#pointer)).last_error_if_null((pointer), __VA_ARGS__)

#define THROW_WIN32_IF(error, condition) THROW_HR_IF(HRESULT_FROM_WIN32(error), condition)
#define THROW_EXCEPTION(exception) throw(exception)

#define FAIL_FAST() FAIL_FAST_HR(E_UNEXPECTED)
#define FAIL_FAST_MSG(...) FAIL_FAST_HR_MSG(E_UNEXPECTED, __VA_ARGS__)
#define FAIL_FAST_IF(condition) FAIL_FAST_HR_IF(E_UNEXPECTED, condition)
#define FAIL_FAST_IF_MSG(condition, ...) FAIL_FAST_HR_IF_MSG(E_UNEXPECTED, condition, __VA_ARGS__)
#define FAIL_FAST_IF_NULL(pointer) FAIL_FAST_HR_IF_NULL(E_UNEXPECTED, pointer)
#define FAIL_FAST_IF_NULL_MSG(pointer, ...) FAIL_FAST_HR_IF_NULL_MSG(E_UNEXPECTED, pointer, __VA_ARGS__)
#define FAIL_FAST_IMMEDIATE() FAIL_FAST()
#define FAIL_FAST_IMMEDIATE_IF(condition) FAIL_FAST_IF(condition)
#define FAIL_FAST_IMMEDIATE_IF_FAILED(hr) FAIL_FAST_IF_FAILED(hr)

#define SUCCEEDED_WIN32(error) ((error) == ERROR_SUCCESS)
#define FAILED_WIN32(error) ((error) != ERROR_SUCCESS)
#define SUCCEEDED_LOG(hr) SUCCEEDED(LOG_IF_FAILED(hr))
#define FAILED_LOG(hr) FAILED(LOG_IF_FAILED(hr))
#define SUCCEEDED_WIN32_LOG(error) SUCCEEDED_WIN32(LOG_IF_WIN32_ERROR(error))
#define FAILED_WIN32_LOG(error) FAILED_WIN32(LOG_IF_WIN32_ERROR(error))

// RETURN_ macros are statements. A success returned by RETURN_HR or RETURN_HR_IF is not logged.
#define DIRECTML_WIL_RETURN_IF(condition, result) \
    do                                            \
    {                                             \
        if (condition)                            \
            return result;                        \
    } while (0)
#define DIRECTML_WIL_RETURN(code) ::wil::details::Return(DIRECTML_WIL_SITE(code))

#define RETURN_HR(hr) \
    do { return DIRECTML_WIL_RETURN(#hr).if_failed(::wil::verify_hresult(hr)); } while (0)
#define RETURN_HR_MSG(hr, ...) \
    do { return DIRECTML_WIL_RETURN(#hr).if_failed(::wil::verify_hresult(hr), __VA_ARGS__); } while (0)
#define RETURN_WIN32(error) \
    do { return DIRECTML_WIL_RETURN(#error).if_failed(HRESULT_FROM_WIN32(error)); } while (0)
#define RETURN_WIN32_MSG(error, ...) \
    do { return DIRECTML_WIL_RETURN(#error).if_failed(HRESULT_FROM_WIN32(error), __VA_ARGS__); } while (0)
#define RETURN_LAST_ERROR() \
    do { return DIRECTML_WIL_RETURN("").always_last_error(); } while (0)
#define RETURN_LAST_ERROR_MSG(...) \
    do { return DIRECTML_WIL_RETURN("").always_last_error(__VA_ARGS__); } while (0)

#define RETURN_IF_FAILED(hr) \
    DIRECTML_WIL_RETURN_IF( \
        const auto directml_wil_result = ::wil::verify_hresult(hr); FAILED(directml_wil_result), \
        DIRECTML_WIL_RETURN(#hr).always(directml_wil_result))
#define RETURN_IF_FAILED_MSG(hr, ...) \
    DIRECTML_WIL_RETURN_IF( \
        const auto directml_wil_result = ::wil::verify_hresult(hr); FAILED(directml_wil_result), \
        DIRECTML_WIL_RETURN(#hr).always(directml_wil_result, __VA_ARGS__))
#define RETURN_IF_FAILED_EXPECTED(hr) \
    DIRECTML_WIL_RETURN_IF( \
        const auto directml_wil_result = ::wil::verify_hresult(hr); FAILED(directml_wil_result), \
        directml_wil_result)
#define RETURN_IF_WIN32_ERROR(error) \
    DIRECTML_WIL_RETURN_IF( \
        const DWORD directml_wil_result = (error); FAILED_WIN32(directml_wil_result), \
        DIRECTML_WIL_RETURN(#error).always_win32(directml_wil_result))
#define RETURN_IF_WIN32_ERROR_MSG(error, ...) \
    DIRECTML_WIL_RETURN_IF( \
        const DWORD directml_wil_result = (error); FAILED_WIN32(directml_wil_result), \
        DIRECTML_WIL_RETURN(#error).always_win32(directml_wil_result, __VA_ARGS__))
#define RETURN_IF_WIN32_ERROR_EXPECTED(error) \
    DIRECTML_WIL_RETURN_IF( \
        const DWORD directml_wil_result = (error); FAILED_WIN32(directml_wil_result), \
        HRESULT_FROM_WIN32(directml_wil_result))
#define RETURN_IF_WIN32_BOOL_FALSE(value) \
    DIRECTML_WIL_RETURN_IF(!(value), DIRECTML_WIL_RETURN(#value).always_last_error())
#define RETURN_IF_WIN32_BOOL_FALSE_MSG(value, ...) \
    DIRECTML_WIL_RETURN_IF(!(value), DIRECTML_WIL_RETURN(#value).always_last_error(__VA_ARGS__))
#define RETURN_IF_WIN32_BOOL_FALSE_EXPECTED(value) \
    DIRECTML_WIL_RETURN_IF(!(value), ::wil::details::last_error())
#define RETURN_IF_NULL_ALLOC(pointer) \
    DIRECTML_WIL_RETURN_IF(!::wil::verify_bool(pointer), DIRECTML_WIL_RETURN(#pointer).always(E_OUTOFMEMORY))
#define RETURN_IF_NULL_ALLOC_MSG(pointer, ...) \
    DIRECTML_WIL_RETURN_IF( \
        !::wil::verify_bool(pointer), \
        DIRECTML_WIL_RETURN(#pointer).always(E_OUTOFMEMORY, __VA_ARGS__))
#define RETURN_IF_NULL_ALLOC_EXPECTED(pointer) \
    DIRECTML_WIL_RETURN_IF(!::wil::verify_bool(pointer), E_OUTOFMEMORY)
#define RETURN_HR_IF(hr, condition) \
    DIRECTML_WIL_RETURN_IF( \
        ::wil::verify_bool(condition), \
        DIRECTML_WIL_RETURN(#condition).if_failed(::wil::verify_hresult(hr)))
#define RETURN_HR_IF_MSG(hr, condition, ...) \
    DIRECTML_WIL_RETURN_IF( \
        ::wil::verify_bool(condition), \
        DIRECTML_WIL_RETURN(#condition).if_failed(::wil::verify_hresult(hr), __VA_ARGS__))
#define RETURN_HR_IF_EXPECTED(hr, condition) \
    DIRECTML_WIL_RETURN_IF(::wil::verify_bool(condition), ::wil::verify_hresult(hr))
#define RETURN_HR_IF_NULL(hr, pointer) \
    DIRECTML_WIL_RETURN_IF( \
        !::wil::verify_bool(pointer), \
        DIRECTML_WIL_RETURN(#pointer).if_failed(::wil::verify_hresult(hr)))
#define RETURN_HR_IF_NULL_MSG(hr, pointer, ...) \
    DIRECTML_WIL_RETURN_IF( \
        !::wil::verify_bool(pointer), \
        DIRECTML_WIL_RETURN(#pointer).if_failed(::wil::verify_hresult(hr), __VA_ARGS__))
#define RETURN_HR_IF_NULL_EXPECTED(hr, pointer) \
    DIRECTML_WIL_RETURN_IF(!::wil::verify_bool(pointer), ::wil::verify_hresult(hr))
#define RETURN_LAST_ERROR_IF(condition) \
    DIRECTML_WIL_RETURN_IF(::wil::verify_bool(condition), DIRECTML_WIL_RETURN(#condition).always_last_error())
#define RETURN_LAST_ERROR_IF_MSG(condition, ...) \
    DIRECTML_WIL_RETURN_IF( \
        ::wil::verify_bool(condition), \
        DIRECTML_WIL_RETURN(#condition).always_last_error(__VA_ARGS__))
#define RETURN_LAST_ERROR_IF_EXPECTED(condition) \
    DIRECTML_WIL_RETURN_IF(::wil::verify_bool(condition), ::wil::details::last_error())
#define RETURN_LAST_ERROR_IF_NULL(pointer) \
    DIRECTML_WIL_RETURN_IF(!::wil::verify_bool(pointer), DIRECTML_WIL_RETURN(#pointer).always_last_error())
#define RETURN_LAST_ERROR_IF_NULL_MSG(pointer, ...) \
    DIRECTML_WIL_RETURN_IF( \
        !::wil::verify_bool(pointer), \
        DIRECTML_WIL_RETURN(#pointer).always_last_error(__VA_ARGS__))
#define RETURN_LAST_ERROR_IF_NULL_EXPECTED(pointer) \
    DIRECTML_WIL_RETURN_IF(!::wil::verify_bool(pointer), ::wil::details::last_error())

// For catch blocks, or instead of one.
#define RETURN_CAUGHT_EXCEPTION() \
    do { return DIRECTML_WIL_RETURN("").exception(); } while (0)
#define LOG_CAUGHT_EXCEPTION() ::wil::details::Log(DIRECTML_WIL_SITE("")).exception()
#define FAIL_FAST_CAUGHT_EXCEPTION() ::wil::details::FailFast(DIRECTML_WIL_SITE("")).exception()

#define CATCH_RETURN()             \
    catch (...)                    \
    {                              \
        RETURN_CAUGHT_EXCEPTION(); \
    }
#define CATCH_RETURN_EXPECTED()                     \
    catch (...)                                     \
    {                                               \
        return ::wil::ResultFromCaughtException();  \
    }
#define CATCH_LOG()             \
    catch (...)                 \
    {                           \
        LOG_CAUGHT_EXCEPTION(); \
    }
#define CATCH_LOG_RETURN()      \
    catch (...)                 \
    {                           \
        LOG_CAUGHT_EXCEPTION(); \
        return;                 \
    }
#define CATCH_LOG_RETURN_HR(hr) \
    catch (...)                 \
    {                           \
        LOG_CAUGHT_EXCEPTION(); \
        return hr;              \
    }
#define CATCH_FAIL_FAST()             \
    catch (...)                       \
    {                                 \
        FAIL_FAST_CAUGHT_EXCEPTION(); \
    }

#endif
