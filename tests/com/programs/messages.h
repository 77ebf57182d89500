// The messages that an ID3D12InfoQueue stores.

#ifndef TESTS_COM_MESSAGES_H
#define TESTS_COM_MESSAGES_H

#include "bench.h"

struct Message
{
    D3D12_MESSAGE_CATEGORY category;
    D3D12_MESSAGE_SEVERITY severity;
    UINT id;
    std::string text;
};

ComPtr<ID3D12InfoQueue> info_queue(const Bench& bench);

inline UINT64 stored(ID3D12InfoQueue* queue)
{
    return queue->GetNumStoredMessages();
}

Message message(ID3D12InfoQueue* queue, UINT64 index);

// Whether some stored message has this text in it.
bool told(ID3D12InfoQueue* queue, const std::string& text);

// For the reasons of failures.
std::string all_texts(ID3D12InfoQueue* queue);

#endif
