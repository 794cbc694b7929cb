# shellcheck shell=bash
# The JDK. A JRE is not enough: the shared region compiles its value classes at run time.

jdk_works() { [ -x "$1/bin/javac" ] && "$1/bin/javac" -version 2>&1 | grep -qE '^javac (17|21)\b'; }

# Prints the home of a JDK 17 (or 21), or fails.
find_jdk() {
  local javac home
  if [ -n "${JAVA_HOME:-}" ] && jdk_works "$JAVA_HOME"; then
    echo "$JAVA_HOME"
    return
  fi
  for home in /usr/lib/jvm/java-17-openjdk-* /usr/lib/jvm/java-21-openjdk-*; do
    if jdk_works "$home"; then
      echo "$home"
      return
    fi
  done
  javac=$(command -v javac) || return 1
  home=$(dirname "$(dirname "$(readlink -f "$javac")")")
  jdk_works "$home" && echo "$home"
}

use_jdk() {
  JAVA_HOME=$(find_jdk) || die "no JDK 17 was found" "scripts/setup installs openjdk-17-jdk-headless"
  export JAVA_HOME
  JAVA=$JAVA_HOME/bin/java
}
