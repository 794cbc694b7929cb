#!/usr/bin/env bash
# scripts/stop ends everything, twice if asked twice; scripts/start brings the data back.
. "$(dirname "$0")/lib.sh"

models=$(sql "SELECT count(*) FROM ml.models")
before=()
for name in "${PROCESSES[@]}"; do before+=("$(process_pid "$name")"); done
"$CHECKOUT/scripts/stop" | sed 's/^/# /'
alive=
for pid in "${before[@]}"; do if start_time "$pid" >/dev/null; then alive+="$pid "; fi; done
equals "no process of the platform is left" "$alive$(leftover_pids | tr '\n' ' ')" ""
equals "its shared memory is gone" "$(ls -d "$REGION" 2>/dev/null || true)" ""
if "$CHECKOUT/scripts/stop" >/dev/null; then ok "stopping twice is fine"; else not_ok "stopping twice is fine"; fi
if "$CHECKOUT/scripts/status" >/dev/null; then not_ok "status says that it is down"; else ok "status says that it is down"; fi
"$CHECKOUT/scripts/start" >/dev/null
if "$CHECKOUT/scripts/start" >/dev/null; then ok "starting twice is fine"; else not_ok "starting twice is fine"; fi
equals "the models are still there" "$(sql "SELECT count(*) FROM ml.models")" "$models"
