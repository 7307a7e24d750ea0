"""What MQSim's users bring: its configuration as a profile, its traces as fio's iolog."""
