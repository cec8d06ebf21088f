-- Which hosts work on this journal: each says so every few seconds, under the address at which the
-- others reach it.

CREATE TABLE cluster_host (
  host_id TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  seen TIMESTAMPTZ NOT NULL
);

-- Who may go on when the hosts of a cluster no longer see each other.

CREATE TABLE cluster_lease (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires TIMESTAMPTZ NOT NULL
);
