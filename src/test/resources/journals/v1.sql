-- A journal as the first version of the service wrote it: tables of migration 1, events and a
-- snapshot (jackson-cbor) of an environment. Never changed: every later version has to read it.

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Account|alice', 1, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "environment-reserved", "id": "env_0123456789ab", "host": "host_0123456789ab", "profile": "personal", "at": 1700000000000}'), 9001, '');

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Account|alice', 2, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "environment-placed", "id": "env_0123456789ab"}'), 9001, '');

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Account|alice', 3, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "quotas-overridden", "overrides": {"max_cpu_seconds": 77, "shell_idle_ttl_seconds": 1500000000.0, "environment_idle_ttl_seconds": 1500000000.0}, "at": 1700000000000}'), 9001, '');

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Host|host_0123456789ab', 1, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "environment-placed", "id": "env_0123456789ab", "account": "alice", "profile": "personal", "uid": 200000, "at": 1700000000000}'), 9002, '');

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Environment|env_0123456789ab', 4, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "shell-opened", "shell": {"id": "sh_0123456789ab_2", "process": {"pid": 100, "startTicks": 4000, "bootId": "boot"}, "shell": {"pid": 101, "startTicks": 4001, "bootId": "boot"}, "pgid": 100, "cwd": ".", "pty": false, "createdAt": 1700000000000}}'), 9003, '');

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Shell|sh_0123456789ab_1', 1, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "command-started", "id": "cmd_0123456789ab_1_1", "command": "echo hi", "startedAt": 1700000000000, "outputStart": 0, "timeoutMs": null, "credentialsInjected": [], "credentialsMissing": []}'), 9004, '');

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Shell|sh_0123456789ab_1', 2, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "command-finished", "id": "cmd_0123456789ab_1_1", "state": "EXITED", "reason": "EXITED", "exitCode": 0, "signal": null, "finishedAt": 1700000000001, "outputEnd": 3, "logBytes": 3, "logTruncated": false}'), 9004, '');

INSERT INTO "event_journal" ("deleted", "persistence_id", "sequence_number", "writer",
  "write_timestamp", "adapter_manifest", "event_payload", "event_ser_id", "event_ser_manifest")
VALUES (FALSE, 'Shell|sh_0123456789ab_2', 1, '79f8a7b1-3a0e-4b43-9c55-5b2d8a3c1f01', 1700000000000, '',
  STRINGTOUTF8('{"type": "command-started", "id": "cmd_0123456789ab_2_1", "command": "sleep 9", "startedAt": 1700000000000, "outputStart": 0, "timeoutMs": 60000, "credentialsInjected": [], "credentialsMissing": []}'), 9004, '');

INSERT INTO "snapshot" ("persistence_id", "sequence_number", "created", "snapshot_ser_id",
  "snapshot_ser_manifest", "snapshot_payload", "meta_ser_id", "meta_ser_manifest", "meta_payload")
VALUES ('Environment|env_0123456789ab', 3, 1700000000001, 33, 'io.envapi.environment.EnvironmentState$Present',
  X'a964747970656770726573656e74676163636f756e7465616c6963656473706563a66770726f6669'
  '6c6568706572736f6e616c646e616d65636f6c64666c6162656c73a1647465616d637265646b6372'
  '6564656e7469616c7380676e6574776f726bf5666c696d697473a46e6d61784d656d6f7279427974'
  '6573f66d6d61784370755365636f6e6473f6706d617846696c6553697a654279746573f6746d6178'
  '50726f6365737365735065725368656c6cf6637569641a00030d40696372656174656441741b0000'
  '018bcfe56800697570646174656441741b0000018bcfe568016a61726368697665644174f6667368'
  '656c6c7381a2686964656e74697479a76269647173685f3031323334353637383961625f31677072'
  '6f63657373a36370696418646a73746172745469636b73190fa066626f6f74496464626f6f746573'
  '68656c6ca36370696418656a73746172745469636b73190fa166626f6f74496464626f6f74647067'
  '6964186463637764612e63707479f4696372656174656441741b0000018bcfe5680063656e64a565'
  '7374617465644445414466726561736f6e66657869743a336261741b0000018bcfe5680166637572'
  '736f72182a6b636f6d6d616e647352756e01696c6173745368656c6c01', NULL, NULL, NULL);
