-- Who may decide when the hosts of a cluster no longer see each other.

CREATE TABLE cluster_lease (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires TIMESTAMPTZ NOT NULL
);
