"""What knows no drive: files, locks, signals, numbers as text, pages, errors, other programs."""
