"""Programs that write and measure parts of the repository; none of them is in the wheel."""
