"""Asynchronous copies: `cp.async`, bulk and tensor copies, `st.async`, from issue to landing.

Pure rules first, which raise `Misuse`; then how they meet threads and memory:

    bulk_rules, reduction, tensor_boxes   sizes and alignments; reductions; which bytes of a tensor go where
    instructions     the families of `cp`
    thread_copies, cp_async               copies of single threads and their groups
    endpoints, transfer                   the endpoints of a bulk or tensor copy; the copy from issue to completion
    bulk_forms, bulk_operands             the words of bulk copies; operands that they have in common
    bulk_copies, bulk_groups              copies of plain ranges; groups of copies, and who waits for them
    map_places, map_instructions          tensor maps as operands; maps changed, and their fences
    tensor_copies    copies of boxes
    async_stores     `st.async`, `red.async`
"""
