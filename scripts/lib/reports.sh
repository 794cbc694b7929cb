# shellcheck shell=bash
# Counts what Maven's test plugins and pg_regress reported, into the variables passed and failed.

report_files() {
  find "$CHECKOUT" \( -path '*/target/surefire-reports/TEST-*.xml' -o -path '*/target/failsafe-reports/TEST-*.xml' \) -print
}

remove_reports() {
  report_files | xargs -r rm -f
  rm -f "$CHECKOUT/sql-udfs/regression.out" "$CHECKOUT/sql-udfs/target/regression.out"
}

# count_reports: JUnit from the XML reports, SQL from pg_regress's log; names every failure.
count_reports() {
  local file line tests broken skipped
  while read -r file; do
    line=$(grep -m 1 '<testsuite ' "$file")
    tests=$(attribute tests "$line")
    broken=$(($(attribute failures "$line") + $(attribute errors "$line")))
    skipped=$(attribute skipped "$line")
    passed=$((passed + tests - broken - skipped))
    failed=$((failed + broken))
    if [ "$broken" -gt 0 ]; then
      say "not ok: $broken of $tests in $(basename "$file" .xml), see $file"
      broken_cases "$file"
    fi
  done < <(report_files)
  for file in "$CHECKOUT"/sql-udfs/{,target/}regression.out "$CHECKOUT"/sql-udfs/{,target/}*/regression.out; do
    [ -f "$file" ] || continue
    passed=$((passed + $(grep -cE '^(test|ok) .*( ok|- )' "$file" || true)))
    failed=$((failed + $(grep -cE '^(test .*FAILED|not ok)' "$file" || true)))
  done
}

# broken_cases FILE: the name of each test that failed, with the beginning of its reason.
broken_cases() {
  awk '
    /<testcase / { name = $0; sub(/.*<testcase name="/, "", name); sub(/".*/, "", name) }
    /<(failure|error)[ >]/ {
      reason = $0
      if (!sub(/.*<(failure|error)[^>]* ?message="/, "", reason)) sub(/.*<(failure|error)[^>]*>/, "", reason)
      sub(/".*/, "", reason)
      gsub(/&#10;/, " ", reason); gsub(/&quot;/, "\"", reason); gsub(/&lt;/, "<", reason); gsub(/&gt;/, ">", reason)
      print "         " name ": " substr(reason, 1, 400)
    }' "$1"
}

# attribute NAME LINE: the number in NAME="..".
attribute() { sed -n "s/.* $1=\"\([0-9]*\)\".*/\1/p" <<<"$2"; }
