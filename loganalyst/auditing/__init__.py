"""Many runs at once. (The package is not called audit: that is the function `loganalyst.auditing`.)"""
