#!/usr/bin/env bash
# The flame graphs of the running gateway, native memory among them: scripts/setup has installed what that needs.
. "$(dirname "$0")/lib.sh"

pages=http://127.0.0.1:$(port gateway-metrics)/debug/profile
status() { curl --silent --output /dev/null --max-time 60 --write-out '%{http_code}' "$pages/$1"; }

equals "processor, heap and native memory have a page each" "$(status cpu) $(status heap) $(status native)" "200 200 200"
sql "SELECT count(ml._echo('\\x01'::bytea)) FROM generate_series(1, 20000)" >/dev/null
# Not by pipe: grep would end before the last line is written.
stacks=$(curl --silent --max-time 60 "$pages/cpu?format=collapsed")
if grep -q '^\[dispatcher\];.*io\.millrace\.gateway\.memory\.' <<<"$stacks"; then
  ok "who serves requests is seen in it"
else
  not_ok "who serves requests is seen in it" "$(tail -n 5 <<<"$stacks")"
fi
equals "seconds beyond the limit are told" "$(curl --silent "$pages/cpu?seconds=601")" \
  "seconds must be a whole number: seconds=601, min=1, max=600"
