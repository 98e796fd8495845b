"""Trainers of vision, speech, graphs, physics and boosting, and the general frameworks: what each logs, and its roles."""

CASES: list[tuple[str, list[str], list[str], dict[str, str]]] = [
    (
        "lightning", [], ["metrics.csv", "hparams.yaml"],
        {"train_loss_step": "train_loss", "train_loss_epoch": "train_loss", "val_loss": "val_loss", "lr-AdamW": "learning_rate", "lr-AdamW-1": "learning_rate",
         "lr-AdamW-momentum": "other", "hp_metric": "other", "epoch": "epoch", "grad_2.0_norm_total": "grad_norm", "grad_2.0_norm/layer.weight": "layer_grad_norm"},
    ),
    (
        "keras", [], [],
        {"train/epoch_loss": "train_loss", "validation/epoch_loss": "val_loss", "train/epoch_accuracy": "train_accuracy", "validation/epoch_accuracy": "val_accuracy",
         "validation/evaluation_loss_vs_iterations": "val_loss", "validation/evaluation_accuracy_vs_iterations": "val_accuracy", "train/epoch_learning_rate": "learning_rate"},
    ),
    (
        "keras", [], [],
        {"loss": "train_loss", "accuracy": "train_accuracy", "precision": "other", "recall_1": "other", "val_loss": "val_loss", "val_accuracy": "val_accuracy",
         "val_precision": "val_score", "val_recall_1": "val_score", "val_auc": "val_score", "lr": "learning_rate"},
    ),
    (
        "fastai", [], ["history.csv"],
        {"train_loss": "train_loss", "valid_loss": "val_loss", "accuracy": "val_accuracy", "error_rate": "val_error_rate", "dice": "val_score"},
    ),
    (
        "fastai", [], [],
        {"train_loss": "train_loss", "raw_loss": "train_loss", "lr_0": "learning_rate", "mom_0": "other", "sqr_mom_0": "other", "wd_0": "other", "valid_loss": "val_loss"},
    ),
    (
        "timm", [], ["summary.csv", "args.yaml"],
        {"epoch": "epoch", "train_loss": "train_loss", "eval_loss": "val_loss", "eval_top1": "val_accuracy", "eval_top5": "val_accuracy", "lr": "learning_rate"},
    ),
    (
        "timm", [], [],
        {"Loss": "train_loss", "LR": "learning_rate", "Time": "step_time", "Data": "data_time", "Test Loss": "val_loss", "Test Acc@1": "val_accuracy", "Test Acc@5": "val_accuracy"},
    ),
    (
        "torchvision", [], [],
        {"loss": "train_loss", "acc1": "train_accuracy", "acc5": "train_accuracy", "Test Acc@1": "val_accuracy", "Test Acc@5": "val_accuracy", "time": "step_time",
         "data": "data_time", "max mem": "gpu_memory", "lr": "learning_rate"},
    ),
    (
        "dino", ["local_crops_number"], ["log.txt"],
        {"train_loss": "train_loss", "train_lr": "learning_rate", "train_wd": "other", "epoch": "epoch", "max mem": "gpu_memory"},
    ),
    (
        "mae", ["args.norm_pix_loss", "args.mask_ratio"], ["log.txt"],
        {"train_loss": "train_loss", "train_lr": "learning_rate", "epoch": "epoch", "time": "step_time", "data": "data_time"},
    ),
    (
        "deit", [], ["log.txt"],
        {"train_loss": "train_loss", "train_lr": "learning_rate", "test_loss": "val_loss", "test_acc1": "val_accuracy", "test_acc5": "val_accuracy",
         "n_parameters": "parameter_count", "perf/test_acc1": "val_accuracy"},
    ),
    (
        "detr", [], ["log.txt"],
        {"train_loss": "train_loss", "train_loss_ce": "loss_component", "train_loss_bbox_0": "loss_component", "train_loss_giou": "loss_component", "train_class_error": "other",
         "train_cardinality_error_unscaled": "other", "test_loss": "val_loss", "test_loss_ce": "val_loss_component", "test_class_error": "val_error_rate"},
    ),
    (
        "detectron2", [], ["metrics.json"],
        {"total_loss": "train_loss", "loss_box_reg": "loss_component", "loss_cls": "loss_component", "fast_rcnn/cls_accuracy": "train_accuracy", "fast_rcnn/false_negative": "other",
         "roi_head/num_fg_samples": "instance_count", "rpn/num_pos_anchors": "instance_count", "bbox/AP": "val_score", "bbox/AP50": "val_score", "bbox/AP-person": "class_score",
         "time": "step_time", "data_time": "data_time", "eta_seconds": "wall_time"},
    ),
    (
        "mmengine", [], ["scalars.json"],
        {"loss": "train_loss", "base_lr": "learning_rate", "lr": "learning_rate", "data_time": "data_time", "time": "step_time", "memory": "gpu_memory", "accuracy/top1": "val_accuracy"},
    ),
    (
        "mmengine", [], ["scalars.json"],
        {"loss": "train_loss", "loss_kpt": "loss_component", "acc_pose": "train_accuracy", "coco/AP .5": "val_score", "val coco/AP": "val_score", "data_time": "data_time", "time": "step_time"},
    ),
    (
        "mmdetection", [], ["scalars.json"],
        {"loss": "train_loss", "loss_cls": "loss_component", "loss_bbox": "loss_component", "s0.loss_cls": "loss_component", "acc": "train_accuracy", "coco/bbox_mAP": "val_score",
         "coco/bbox_mAP_50": "val_score", "coco/car_precision": "class_score", "base_lr": "learning_rate", "memory": "gpu_memory"},
    ),
    (
        "mmsegmentation", [], [],
        {"loss": "train_loss", "decode.loss_ce": "loss_component", "decode.acc_seg": "train_accuracy", "aux.loss_ce": "loss_component", "val mIoU": "val_score", "val aAcc": "val_accuracy",
         "mIoU": "val_score", "IoU.road": "class_score", "val time": "other"},
    ),
    (
        "nnunet", [], [],
        {"train_loss": "train_loss", "val_loss": "val_loss", "Pseudo dice": "val_score", "ema_fg_dice": "val_score", "lrs": "learning_rate"},
    ),
    (
        "nnunet", [], [],
        {"train loss": "train_loss", "validation loss": "val_loss", "Average global foreground Dice": "val_score", "lr": "learning_rate", "epoch_end_timestamps": "wall_time"},
    ),
    (
        "monai", [], [],
        {"train_loss": "train_loss", "val_mean_dice": "val_score", "epoch_average_loss": "train_loss", "val_loss": "val_loss", "val_acc": "val_accuracy"},
    ),
    (
        "diffusers", ["snr_gamma", "max_train_steps", "validation_prompts"], [],
        {"train_loss": "train_loss", "step_loss": "train_loss", "lr": "learning_rate", "ema_decay": "other", "step": "step"},
    ),
    (
        "k-diffusion", ["config.model.sigma_data"], [],
        {"loss": "train_loss", "lr": "learning_rate", "ema_decay": "other", "gradient_noise_scale": "other", "FID": "sample_distance", "KID": "sample_distance"},
    ),
    (
        "guided-diffusion", [], ["progress.csv"],
        {"loss": "train_loss", "loss_q0": "loss_component", "loss_q3": "loss_component", "mse": "loss_component", "vb_q1": "loss_component", "grad_norm": "grad_norm",
         "param_norm": "param_norm", "samples": "step", "lg_loss_scale": "other", "eval_loss": "val_loss", "eval_mse_q2": "val_loss_component"},
    ),
    (
        "stylegan", ["loss_kwargs.r1_gamma", "ema_kimg"], ["stats.jsonl", "training_options.json"],
        {"Loss/G/loss/mean": "generator_loss", "Loss/D/loss/mean": "discriminator_loss", "Loss/G/loss/num": "instance_count", "Loss/G/loss/std": "other",
         "Loss/signs/real/mean": "discriminator_score", "Loss/r1_penalty/mean": "regularisation_loss", "Loss/G/reg/mean": "regularisation_loss", "Progress/kimg/mean": "step",
         "Progress/augment/mean": "other", "Timing/sec_per_kimg/mean": "step_time", "Timing/Gboth/mean": "other", "results/fid50k_full": "sample_distance"},
    ),
    (
        "stylegan", [], [],
        {"Loss/G/loss": "generator_loss", "Loss/D/loss": "discriminator_loss", "Loss/scores/fake": "discriminator_score", "Metrics/fid50k_full": "sample_distance",
         "Metrics/pr50k3_full_recall": "val_score", "Progress/augment": "other", "Resources/peak_gpu_mem_gb": "gpu_memory"},
    ),
    (
        "edm", ["lr_rampup_kimg", "ema_halflife_kimg"], ["stats.jsonl"],
        {"Loss/loss/mean": "train_loss", "Loss/loss/std": "other", "Loss/loss/num": "instance_count", "Timing/total_sec/mean": "wall_time",
         "Resources/peak_gpu_mem_reserved_gb/mean": "gpu_memory", "Resources/cpu_mem_gb/mean": "host_memory"},
    ),
    (
        "pix2pix-cyclegan", [], ["loss_log.txt"],
        {"G_GAN": "generator_loss", "G_L1": "recon_loss", "D_real": "discriminator_loss", "D_fake": "discriminator_loss", "time": "step_time", "data": "data_time"},
    ),
    (
        "pix2pix-cyclegan", [], ["loss_log.txt"],
        {"D_A": "discriminator_loss", "G_A": "generator_loss", "cycle_A": "loss_component", "idt_A": "loss_component", "D_B": "discriminator_loss", "idt_B": "loss_component"},
    ),
    (
        "espnet", [], [],
        {"loss": "train_loss", "loss_ctc": "loss_component", "acc": "train_accuracy", "train loss": "train_loss", "train loss_att": "loss_component", "valid loss": "val_loss",
         "valid loss_ctc": "val_loss_component", "valid acc": "val_accuracy", "valid cer_ctc": "val_error_rate", "valid wer": "val_error_rate", "optim0_lr0": "learning_rate",
         "train optim0_lr0": "learning_rate", "iter_time": "data_time", "train_time": "step_time", "clip": "other"},
    ),
    (
        "wenet", [], [],
        {"loss": "train_loss", "loss_att": "loss_component", "loss_ctc": "loss_component", "val loss": "val_loss", "val history loss": "val_loss", "val loss_ctc": "val_loss_component",
         "epoch/cv_loss": "val_loss", "epoch/lr": "learning_rate"},
    ),
    (
        "speechbrain", [], ["train_log.txt"],
        {"train loss": "train_loss", "valid loss": "val_loss", "valid ACC": "val_accuracy", "valid WER": "val_error_rate", "test CER": "val_error_rate", "lr": "learning_rate"},
    ),
    (
        "speechbrain", [], [],
        {"loss/train": "train_loss", "loss/valid": "val_loss", "WER/valid": "val_error_rate", "ACC/valid": "val_accuracy", "CER/test": "val_error_rate"},
    ),
    (
        "xgboost", ["colsample_bytree"], [],
        {"train-logloss": "train_loss", "eval-logloss": "val_loss", "train-auc": "other", "eval-auc": "val_score", "eval-error": "val_error_rate"},
    ),
    (
        "catboost", [], ["catboost_training.json", "learn_error.tsv", "time_left.tsv"],
        {"learn/Logloss": "train_loss", "test/Logloss": "val_loss", "test/AUC": "val_score", "learn/Accuracy": "train_accuracy", "Passed": "wall_time", "Remaining": "wall_time"},
    ),
    (
        "deepxde", [], ["loss.dat"],
        {"loss_train/1": "loss_component", "loss_train/2": "loss_component", "loss_test/1": "val_loss_component", "loss_test/2": "val_loss_component", "metrics_test": "other"},
    ),
    (
        "pyg", [], [],
        {"Loss": "train_loss", "Train": "train_accuracy", "Val": "val_accuracy", "Test": "val_accuracy", "Epoch": "epoch"},
    ),
    (
        "dgl", [], [],
        {"Loss": "train_loss", "Accuracy": "val_accuracy", "TrainAcc": "train_accuracy", "ValAcc": "val_accuracy", "Time(s)": "step_time", "ETputs(KTEPS)": "throughput"},
    ),
]  # fmt: skip
