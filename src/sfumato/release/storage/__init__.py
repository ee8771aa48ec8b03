"""Files of bundles: written and read in bounds, also where anybody may have written them."""
