"""What touches a machine: its block devices, what lies on them, what drives say of themselves."""
