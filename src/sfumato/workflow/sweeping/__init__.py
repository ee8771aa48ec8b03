"""Parts of sweeps."""
