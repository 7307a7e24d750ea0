"""What a drive says of itself, as smartctl and nvme-cli tell it, and what that means."""
