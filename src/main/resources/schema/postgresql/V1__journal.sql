-- The tables of pekko-persistence-jdbc, with its names. Ids are compared byte by byte, whatever the
-- locale of the database: ranges of them are deleted.

CREATE TABLE event_journal (
  ordering BIGSERIAL UNIQUE,
  deleted BOOLEAN DEFAULT FALSE NOT NULL,
  persistence_id TEXT COLLATE "C" NOT NULL,
  sequence_number BIGINT NOT NULL,
  writer TEXT NOT NULL,
  write_timestamp BIGINT NOT NULL,
  adapter_manifest TEXT NOT NULL,
  event_payload BYTEA NOT NULL,
  event_ser_id INTEGER NOT NULL,
  event_ser_manifest TEXT NOT NULL,
  meta_payload BYTEA,
  meta_ser_id INTEGER,
  meta_ser_manifest TEXT,
  PRIMARY KEY (persistence_id, sequence_number)
);

CREATE TABLE event_tag (
  event_id BIGINT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (event_id, tag),
  CONSTRAINT event_tag_event FOREIGN KEY (event_id)
    REFERENCES event_journal (ordering) ON DELETE CASCADE
);

CREATE TABLE snapshot (
  persistence_id TEXT COLLATE "C" NOT NULL,
  sequence_number BIGINT NOT NULL,
  created BIGINT NOT NULL,
  snapshot_ser_id INTEGER NOT NULL,
  snapshot_ser_manifest TEXT NOT NULL,
  snapshot_payload BYTEA NOT NULL,
  meta_ser_id INTEGER,
  meta_ser_manifest TEXT,
  meta_payload BYTEA,
  PRIMARY KEY (persistence_id, sequence_number)
);
