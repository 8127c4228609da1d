#!/bin/sh
# Trains with MindSpore on two processes; the options are train_mindspore.py's. PORT and LOGS may be set.
export GLOG_v="${GLOG_v:-3}"
exec msrun --worker_num=2 --local_worker_num=2 --join=True --master_port="${PORT:-8118}" \
    --log_dir="${LOGS:-msrun_logs}" "$(dirname "$0")/train_mindspore.py" "$@"
