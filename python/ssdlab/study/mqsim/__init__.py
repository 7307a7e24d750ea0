"""What MQSim's users bring: configurations as profiles, workloads as jobs of fio, traces."""
