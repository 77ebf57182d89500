/* The kernels of convolutions of floats, and their table. */

#include "../common/compiler.h"
#include "../half/convert.h"
#include "../softmax_norm/dispatch.h"
#include "../softmax_norm/norm.h"

#include "dispatch.h"
#include "tiles.h"
#include "im2col.h"

DML_INLINE void conv_store_as(const dml_conv_params *params, const dml_post_ops *post_ops,
                              const dml_conv_tile_store *tile_store, int activation, int type)
{
    int64_t width = tile_store->vectors * DML_FLOAT_LANES;
    for (int64_t row = 0; row < tile_store->m; row++) {
        const conv_floats *sums = (const conv_floats *)(tile_store->tile + row * width);
        int64_t offset = tile_store->offset + row * params->output_strides[1], channel = tile_store->channel + row,
                i = 0;
        float *target = (float *)params->output + offset, bias = 0.0f;
        const dml_batch_norm_channel *normal = dml_batch_norm_channel_of(&post_ops->normalization, channel);
        if (params->bias)
            bias = conv_element((const void *)params->bias, channel * params->bias_stride, params->type);
        for (int64_t j = 0; j < tile_store->vectors; j++, i += DML_FLOAT_LANES) {
            conv_floats values = activated(sums[j] + bias, post_ops, activation);
            int64_t left = dml_least(tile_store->n - i, DML_FLOAT_LANES);
            if (type == DML_CONV_HALVES) {
                halves_of_floats((uint16_t *)params->output + offset + i, (const float *)&values, left);
                continue;
            }
            if (normal)
                values = (conv_floats)batch_norm_lanes((softmax_norm_lanes)values, normal);
            if (post_ops->residual)
                values = activated(values + dml_load_some((const float *)post_ops->residual + offset + i, left),
                                   post_ops, post_ops->residual_activation);
            dml_store_some(target + i, values, left);
        }
    }
}

static DML_ONCE void conv_store(const dml_conv_params *params, const dml_post_ops *post_ops,
                                const dml_conv_tile_store *tile_store)
{
    if (params->output_type == DML_CONV_HALVES)
        conv_store_as(params, post_ops, tile_store, post_ops->activation, DML_CONV_HALVES);
    else if (post_ops->activation == DML_ACTIVATION_IDENTITY)
        conv_store_as(params, post_ops, tile_store, DML_ACTIVATION_IDENTITY, DML_CONV_FLOATS);
    else
        conv_store_as(params, post_ops, tile_store, post_ops->activation, DML_CONV_FLOATS);
}

#include "winograd_transform.h"

const dml_conv_table DML_TABLE(conv) = {
    DML_FLOAT_LANES,
#if defined(__AVX512F__)
    4,
    192,
    {DML_CONV_MR(8), DML_CONV_MR(6), DML_CONV_MR(8), DML_CONV_MR(6)},
#else
    /* SSE2 and NEON have no register left for three vectors of pixels. */
    DML_FLOAT_LANES == 8 ? 3 : 2,
    1024,
    {DML_CONV_MR(8), DML_CONV_MR(6), DML_CONV_MR(4)},
#endif
    DML_CONV_ALL_NAMES(floats),
    conv_dots,
    conv_pack,
    conv_store,
    conv_transform_filters,
    conv_transform,
    conv_transform_back,
};
