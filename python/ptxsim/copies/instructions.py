"""Which family a `cp` instruction is of: `cp.async` of single threads, bulk copies, tensor copies, bulk groups."""

from ptxsim.copies import bulk_copies, bulk_groups, cp_async, tensor_copies
from ptxsim.copies.bulk_forms import bulk_form
from ptxsim.machine.cta import Step
from ptxsim.machine.site import Site


def compile_copy(site: Site) -> Step:
    """Compile a `cp` instruction."""
    words = site.instruction.modifiers
    if "bulk" not in words:
        return cp_async.compile_cp_async(site)
    if words[:3] == ("async", "bulk", "commit_group"):
        return bulk_groups.commit_group(site)
    if words[:3] == ("async", "bulk", "wait_group"):
        return bulk_groups.wait_group(site)
    form = bulk_form(site)
    return tensor_copies.tensor(site, form) if form.rank else bulk_copies.bulk(site, form)


HANDLERS = {"cp": compile_copy}
