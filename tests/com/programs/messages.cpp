#include "messages.h"

#include <cstring>

ComPtr<ID3D12InfoQueue> info_queue(const Bench& bench)
{
    ComPtr<ID3D12InfoQueue> queue;
    need(bench.d3d12->QueryInterface(IID_PPV_ARGS(&queue)), "QueryInterface(ID3D12InfoQueue)");
    return queue;
}

Message message(ID3D12InfoQueue* queue, UINT64 index)
{
    SIZE_T size = 0;
    need(queue->GetMessage(index, nullptr, &size), "GetMessage");
    // In whole messages, for their alignment.
    std::vector<D3D12_MESSAGE> memory(size / sizeof(D3D12_MESSAGE) + 1);
    need(queue->GetMessage(index, memory.data(), &size), "GetMessage");
    const D3D12_MESSAGE& found = memory[0];
    // Rules of DirectML have numbers that d3d12sdklayers.h has no enumerator for.
    UINT id;
    std::memcpy(&id, &found.ID, sizeof(id));
    return {found.Category, found.Severity, id, found.pDescription};
}

bool told(ID3D12InfoQueue* queue, const std::string& text)
{
    for (UINT64 i = 0; i < stored(queue); i++)
        if (message(queue, i).text.find(text) != std::string::npos)
            return true;
    return false;
}

std::string all_texts(ID3D12InfoQueue* queue)
{
    std::string all = std::to_string(stored(queue)) + " messages";
    for (UINT64 i = 0; i < stored(queue); i++)
        all += "; " + message(queue, i).text;
    return all;
}
