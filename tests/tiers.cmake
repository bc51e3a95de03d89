# When a test runs; tests/README.md#tiers. On each change what is in neither list, and units once more
# under the sanitizers, but those that take long there; before a merge also what takes long, and scripts
# under the sanitizers; at night also what repeats one script on more data, or wants much memory.
set(tier_checked
  fuzz_database fuzz_split fuzz_summarize fuzz_zstd test_corpus_summary test_diff_number test_find test_fit
  test_gate_find test_gate_resample test_git test_kernels test_split test_verdict_rules)
set(tier_merge
  bench_again bench_commands bench_device_runs bench_enlarge bench_instructions cross_arm64
  differential e2e_ab e2e_account_all e2e_action e2e_action_hostile e2e_action_verdict e2e_agree
  e2e_attacks e2e_bisect e2e_calibrate e2e_cause e2e_cause_corpus e2e_ci e2e_cluster e2e_cold_device
  e2e_comment_openapi e2e_damaged_nights e2e_databases e2e_faults e2e_get e2e_hostile_names
  e2e_hta_failures e2e_https e2e_init e2e_issues_openapi e2e_matrix e2e_metrics e2e_nights e2e_nights_named
  e2e_overlap e2e_own_policy e2e_planted e2e_pytest_gate e2e_ranks e2e_recorded_kinds e2e_release
  e2e_score_history e2e_slurm e2e_store_size e2e_variants e2e_walk e2e_wheel e2e_workflows
  golden_analysis lint_circles reports_mermaid reports_mermaid_labels)
set(tier_night
  e2e_ablation e2e_calibrate_all e2e_cluster_4096 e2e_decision_all
  e2e_decision_examples e2e_faults_all
  e2e_golden_hta_all e2e_ops_exact_all e2e_outside_in_all e2e_properties_all e2e_ranks_all
  e2e_ranks_many e2e_one_number_recorded e2e_recorded_kinds_5
  e2e_stored_corpus e2e_threads_corpus e2e_variants_all e2e_walk_torch)
foreach(tier checked merge night)
  foreach(name ${tier_${tier}})
    if(TEST ${name})
      set_property(TEST ${name} APPEND PROPERTY LABELS ${tier})
    endif()
  endforeach()
endforeach()
