"""The common words for what is wrong with a run, shared by rules, patterns, fixtures and scores."""

# Labels that a log line can state: those a pattern or a family of messages may have
LOG_LABELS = tuple(
    """
    nan_loss divergence loss_spikes exploding_gradients loss_scaling numeric_overflow log_of_zero bad_data
    throughput_drop straggler memory_growth hang dead_run code_exception shape_mismatch device_assert cuda_error
    cuda_oom host_oom gpu_hardware nccl_timeout nccl_error network node_failure slurm_timeout slurm_cancelled
    slurm_preempted user_interrupt disk_full filesystem port_in_use import_error config_error checkpoint_missing
    checkpoint_mismatch dataloader_worker shm segfault other
    """.split()  # noqa: SIM905 (words a line, not a word a line)
)
# All labels; the others are seen in metrics and settings only
LABELS = frozenset(LOG_LABELS) | frozenset(
    """
    healthy periodic_spikes plateau lr_too_low lr_too_high lr_schedule warmup_missing batch_lr_mismatch
    vanishing_gradients dead_units overfitting underfitting mode_collapse codebook_collapse posterior_collapse
    attention_collapse embedding_instability reward_stagnation entropy_collapse reward_hacking wrong_loss
    loss_imbalance frozen_parameters data_leakage data_exhaustion class_imbalance distribution_shift label_noise
    train_val_mismatch catastrophic_forgetting adapter_config
    """.split()  # noqa: SIM905
)
# labels of what Python raises as an exception, so that a program can catch it and print one line
CATCHABLE = (
    *("cuda_oom", "code_exception", "import_error", "network", "filesystem", "bad_data", "shape_mismatch"),
    *("config_error", "checkpoint_missing", "checkpoint_mismatch"),
)
