# shellcheck shell=bash
# Millrace's own processes: gateway, snapshot supervisor, run dispatcher.

install_service_jars() { :; }
start_services() { :; }
wait_for_services() { :; }
stop_services() { :; }
