#!/bin/bash
#SBATCH --job-name=tracegate
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --time=02:00:00
#SBATCH --output=tracegate-%j.log
# The gate of a change on one node: the target branch and the change run in turn (A B A B …) on it. Nothing is stored.
#   sbatch --wait tracegate.sbatch     ends with the verdict's exit code: 0 pass, 1 fail, 4 inconclusive
# Fetch the target branch before: compute nodes may have no network.
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:-.}"
exec tracegate ab --base "${BASE:-origin/main}" --budget 30min --junit gate.xml --markdown gate.md -- python3 bench.py --trace '{trace}'
