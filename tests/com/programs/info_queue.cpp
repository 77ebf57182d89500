// ID3D12InfoQueue itself: sizes of messages, limits, filters, breaks.

#include "messages.h"

namespace
{
    void add(ID3D12InfoQueue* queue, D3D12_MESSAGE_SEVERITY severity, const char* text)
    {
        hresult("AddApplicationMessage", queue->AddApplicationMessage(severity, text), Fine);
    }

    void test_messages(ID3D12InfoQueue* queue)
    {
        equal("no messages at first", stored(queue), 0u);
        add(queue, D3D12_MESSAGE_SEVERITY_INFO, "hello");
        equal("a message", stored(queue), 1u);
        SIZE_T size = 0;
        // The page leaves open which success it is.
        hresult_among("GetMessage of the size", queue->GetMessage(0, nullptr, &size), {Fine, False});
        check("room for the struct and the text", size >= sizeof(D3D12_MESSAGE) + sizeof "hello");
        std::vector<D3D12_MESSAGE> memory(size / sizeof(D3D12_MESSAGE) + 1);
        SIZE_T small = size - 1;
        check("GetMessage into too little", FAILED(queue->GetMessage(0, memory.data(), &small)));
        hresult("GetMessage", queue->GetMessage(0, memory.data(), &size), Fine);
        const D3D12_MESSAGE& found = memory[0];
        equal("Category", int(found.Category), int(D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED));
        equal("Severity", int(found.Severity), int(D3D12_MESSAGE_SEVERITY_INFO));
        equal("ID", int(found.ID), int(D3D12_MESSAGE_ID_STRING_FROM_APPLICATION));
        equal("DescriptionByteLength", found.DescriptionByteLength, sizeof "hello");
        check("pDescription", std::string(found.pDescription) == "hello");
        const char* const first = reinterpret_cast<const char*>(memory.data());
        const bool inside = found.pDescription >= first && found.pDescription < first + size;
        check("the text lies in the message's memory", inside);
        check("GetMessage of none", FAILED(queue->GetMessage(1, nullptr, &size)));
        check("GetMessage without a size", FAILED(queue->GetMessage(0, nullptr, nullptr)));
        queue->ClearStoredMessages();
        equal("ClearStoredMessages", stored(queue), 0u);
    }

    void test_limits(ID3D12InfoQueue* queue)
    {
        equal("the limit", queue->GetMessageCountLimit(), 1024u);
        hresult("SetMessageCountLimit", queue->SetMessageCountLimit(2), Fine);
        for (const char* text : {"one", "two", "three"})
            add(queue, D3D12_MESSAGE_SEVERITY_INFO, text);
        equal("not more than the limit", stored(queue), 2u);
        equal("discarded", queue->GetNumMessagesDiscardedByMessageCountLimit(), 1u);
        check("the oldest goes", message(queue, 0).text == "two");
        hresult("no limit", queue->SetMessageCountLimit(UINT64_MAX), Fine);
        check("no limit is all ones", queue->GetMessageCountLimit() == UINT64_MAX);
        queue->ClearStoredMessages();
    }

    void test_storage_filters(ID3D12InfoQueue* queue)
    {
        D3D12_MESSAGE_SEVERITY severities[] = {D3D12_MESSAGE_SEVERITY_INFO, D3D12_MESSAGE_SEVERITY_MESSAGE};
        D3D12_INFO_QUEUE_FILTER filter = {};
        filter.DenyList.NumSeverities = 2;
        filter.DenyList.pSeverityList = severities;
        const UINT depth = queue->GetStorageFilterStackSize();
        hresult("PushStorageFilter", queue->PushStorageFilter(&filter), Fine);
        equal("the stack", queue->GetStorageFilterStackSize(), depth + 1);
        const UINT64 denied = queue->GetNumMessagesDeniedByStorageFilter();
        add(queue, D3D12_MESSAGE_SEVERITY_INFO, "denied");
        add(queue, D3D12_MESSAGE_SEVERITY_WARNING, "allowed");
        equal("what passes", stored(queue), 1u);
        equal("what does not", queue->GetNumMessagesDeniedByStorageFilter() - denied, 1u);
        hresult("PushEmptyStorageFilter", queue->PushEmptyStorageFilter(), Fine);
        add(queue, D3D12_MESSAGE_SEVERITY_INFO, "allowed again");
        equal("an empty filter lets all pass", stored(queue), 2u);
        queue->PopStorageFilter();
        add(queue, D3D12_MESSAGE_SEVERITY_INFO, "denied again");
        equal("the filter below", stored(queue), 2u);
        queue->ClearStorageFilter();
        add(queue, D3D12_MESSAGE_SEVERITY_INFO, "after clearing");
        equal("ClearStorageFilter", stored(queue), 3u);
        D3D12_MESSAGE_ID ids[] = {D3D12_MESSAGE_ID_STRING_FROM_APPLICATION};
        D3D12_INFO_QUEUE_FILTER by_id = {};
        by_id.DenyList.NumIDs = 1;
        by_id.DenyList.pIDList = ids;
        hresult("AddStorageFilterEntries", queue->AddStorageFilterEntries(&by_id), Fine);
        add(queue, D3D12_MESSAGE_SEVERITY_WARNING, "denied by ID");
        equal("a filter by ID", stored(queue), 3u);
        queue->PopStorageFilter();
        equal("the stack is as before", queue->GetStorageFilterStackSize(), depth);
        check("PushStorageFilter of null", FAILED(queue->PushStorageFilter(nullptr)));
        check("AddStorageFilterEntries of null", FAILED(queue->AddStorageFilterEntries(nullptr)));
        queue->ClearStoredMessages();
    }

    void test_breaks(ID3D12InfoQueue* queue)
    {
        hresult("SetBreakOnSeverity", queue->SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR, FALSE), Fine);
        check("GetBreakOnSeverity", !queue->GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR));
        hresult("and on", queue->SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_WARNING, TRUE), Fine);
        check("is on", queue->GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_WARNING));
        hresult("and off", queue->SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_WARNING, FALSE), Fine);
        queue->SetMuteDebugOutput(TRUE);
        check("GetMuteDebugOutput", queue->GetMuteDebugOutput());
        add(queue, D3D12_MESSAGE_SEVERITY_INFO, "muted");
        equal("muted messages are stored", stored(queue), 1u);
        queue->SetMuteDebugOutput(FALSE);
        check("GetMuteDebugOutput again", !queue->GetMuteDebugOutput());
        queue->ClearStoredMessages();
    }

    // Not part of what is emulated: an answer, or E_NOTIMPL, or 0.
    void test_the_rest(ID3D12InfoQueue* queue)
    {
        SIZE_T size = 0;
        D3D12_INFO_QUEUE_FILTER filter = {};
        hresult_among("GetStorageFilter", queue->GetStorageFilter(nullptr, &size), {Fine, E_NOTIMPL});
        hresult_among("GetRetrievalFilter", queue->GetRetrievalFilter(nullptr, &size), {Fine, E_NOTIMPL});
        if (hresult_among("PushCopyOfStorageFilter", queue->PushCopyOfStorageFilter(), {Fine, E_NOTIMPL}))
            queue->PopStorageFilter();
        hresult_among("AddRetrievalFilterEntries", queue->AddRetrievalFilterEntries(&filter), {Fine, E_NOTIMPL});
        hresult_among("PushEmptyRetrievalFilter", queue->PushEmptyRetrievalFilter(), {Fine, E_NOTIMPL});
        hresult_among("PushCopyOfRetrievalFilter", queue->PushCopyOfRetrievalFilter(), {Fine, E_NOTIMPL});
        hresult_among("PushRetrievalFilter", queue->PushRetrievalFilter(&filter), {Fine, E_NOTIMPL});
        queue->ClearRetrievalFilter();
        queue->PopRetrievalFilter();
        check("GetRetrievalFilterStackSize", queue->GetRetrievalFilterStackSize() < 8);
        check("GetNumMessagesAllowedByStorageFilter", queue->GetNumMessagesAllowedByStorageFilter() < 1000);
        const UINT64 retrieved = queue->GetNumStoredMessagesAllowedByRetrievalFilter();
        check("GetNumStoredMessagesAllowedByRetrievalFilter", retrieved < 1000);
        const auto category = D3D12_MESSAGE_CATEGORY_MISCELLANEOUS;
        const auto id = D3D12_MESSAGE_ID_STRING_FROM_APPLICATION;
        hresult_among(
            "AddMessage",
            queue->AddMessage(category, D3D12_MESSAGE_SEVERITY_INFO, id, "a message"),
            {Fine, E_NOTIMPL});
        hresult_among("SetBreakOnCategory", queue->SetBreakOnCategory(category, FALSE), {Fine, E_NOTIMPL});
        hresult_among("SetBreakOnID", queue->SetBreakOnID(id, FALSE), {Fine, E_NOTIMPL});
        check("GetBreakOnCategory", !queue->GetBreakOnCategory(category));
        check("GetBreakOnID", !queue->GetBreakOnID(id));
    }

    void info_queue_topic(const std::vector<std::string>&)
    {
        Bench bench(Bench::Debug::On);
        auto queue = info_queue(bench);
        test_messages(queue.Get());
        test_limits(queue.Get());
        test_storage_filters(queue.Get());
        test_breaks(queue.Get());
        test_the_rest(queue.Get());
        // The queue keeps its device.
        bench.d3d12.Reset();
        ComPtr<ID3D12Device> device;
        hresult("the device of a queue", queue->QueryInterface(IID_PPV_ARGS(&device)), Fine);
    }

    const Registration registration("info_queue", info_queue_topic);
}
